// Writing and reading small records to and from byte strings (cache entries). Reading checks every
// bound: a short or damaged record makes `ok()` false and yields zeros, never a crash.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace td::base {

class ByteWriter {
 public:
  void number(std::uint64_t value) {
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(std::string_view value) {
    number(value.size());
    out_.append(value);
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view in) : in_(in) {}
  std::uint64_t number() {
    std::uint64_t value = 0;
    if (in_.size() < sizeof value) return fail();
    std::memcpy(&value, in_.data(), sizeof value);
    in_.remove_prefix(sizeof value);
    return value;
  }
  std::string_view text() {
    std::uint64_t size = number();
    if (size > in_.size()) {
      fail();
      return {};
    }
    std::string_view value = in_.substr(0, size);
    in_.remove_prefix(size);
    return value;
  }
  bool ok() const { return ok_; }
  bool at_end() const { return ok_ && in_.empty(); }

 private:
  std::uint64_t fail() {
    ok_ = false;
    in_ = {};
    return 0;
  }
  std::string_view in_;
  bool ok_ = true;
};

}  // namespace td::base
