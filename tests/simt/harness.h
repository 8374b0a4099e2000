// Compiles CUDA text with our front end, lowers it, loads the object into this process, and
// runs launches of it.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "softdev/simt/kernel_abi.h"
#include "softdev/simt/lower.h"

namespace simt_test {

// The reply's error is the front end's log when the source does not compile.
td::softdev::LowerReply lower(const std::string& source, int width, bool stackful = false);

struct Dim {
  unsigned x = 1, y = 1, z = 1;
};

// What td_rt_* reported during the last launch.
struct Outcome {
  std::uint32_t trap = 0, trap_lanes = 0;
  std::string trap_place;
  std::string assertion;
  std::vector<std::string> printed;  // format and first 32-bit argument of each printf
};

class Program {
 public:
  Program(const std::string& source, int width, bool stackful = false);
  ~Program();
  const td::softdev::LoweredKernel& kernel(const std::string& name = "") const;
  const td::softdev::LowerReply& reply() const { return reply_; }
  void* global(const std::string& name);
  void* address(const std::string& symbol) const;

  template <typename... Args>
  Outcome launch(const std::string& name, Dim grid, Dim block, unsigned shared, Args... args) {
    std::vector<unsigned char> params(4096);
    const auto& kernel_info = kernel(name);
    unsigned i = 0;
    ((std::memcpy(params.data() + kernel_info.params.at(i).offset, &args, sizeof args), ++i), ...);
    return run(kernel_info, grid, block, shared, params.data());
  }

 private:
  Outcome run(const td::softdev::LoweredKernel& kernel, Dim grid, Dim block, unsigned shared,
              const unsigned char* params);
  explicit Program(td::softdev::LowerReply reply);
  void* special_block(const std::string& kernel, Dim block);

  td::softdev::LowerReply reply_;
  struct Loaded;
  std::unique_ptr<Loaded> loaded_;
  std::string source_;  // "" where there is no special code
  int width_ = 0;
  std::map<std::string, std::unique_ptr<Program>> special_;
};

// Memory that ends right before a page that may not be touched.
class Guarded {
 public:
  explicit Guarded(std::size_t bytes);
  ~Guarded();
  template <typename T>
  T* as() {
    return reinterpret_cast<T*>(begin_);
  }

 private:
  unsigned char *map_, *begin_;
  std::size_t mapped_;
};

inline const int widths[] = {1, 8, 16, 32};
// Of kernels with barriers: a width in phases, or -1 for stacks.
inline const int barrier_modes[] = {8, 16, 32, -1};

}  // namespace simt_test
