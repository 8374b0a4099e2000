// Loads ELF relocatable objects for x86-64 (what LLVM writes for position-independent code) into
// the code space.
//
// The bytes may come from a damaged cache entry: every offset, size, index and alignment is
// checked, and a bad object is an error text, never a crash. Sections are grouped by access rights
// on pages of their own (code, constants, data); code is written first and made executable
// afterwards. Calls to functions outside of the object go through stubs, since they may be farther
// away than 32 bits reach.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace td::softdev {

class ElfObject {
 public:
  // Null when the object cannot be loaded; `error` says why.
  static std::unique_ptr<ElfObject> load(std::string_view file, std::string* error);
  ~ElfObject();
  ElfObject(const ElfObject&) = delete;
  ElfObject& operator=(const ElfObject&) = delete;

  // Address of a global symbol that the object defines, or null. code_only: only if it lies in
  // executable memory.
  void* find(const std::string& symbol, bool code_only) const;

 private:
  friend class ElfLoader;
  ElfObject() = default;
  unsigned char* memory_ = nullptr;
  std::size_t code_bytes_ = 0;
  std::unordered_map<std::string, unsigned char*> symbols_;
};

}  // namespace td::softdev
