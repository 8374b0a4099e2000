#include "driver/launch_log.h"

#include <algorithm>
#include <cstring>

namespace td::driver {

namespace {

template <std::size_t Size>
void copy_cut(char (&out)[Size], std::string_view text) {
  std::size_t length = std::min(text.size(), Size - 1);
  std::memcpy(out, text.data(), length);
  out[length] = '\0';
}

}  // namespace

void LaunchLog::note(std::string_view kernel, std::string_view where) {
  Lock lock(busy_);
  Entry& entry = entries_[count_++ % kEntries];
  copy_cut(entry.kernel, kernel);
  copy_cut(entry.where, where);
}

std::string LaunchLog::text() const {
  Lock lock(busy_);
  std::string out;
  for (unsigned back = 1; back <= std::min(count_, kEntries); ++back) {
    const Entry& entry = entries_[(count_ - back) % kEntries];
    out += back == 1 ? "launched last: kernel '" : ", before it '";
    out += std::string(entry.kernel) + "'";
    if (entry.where[0]) out += std::string(" at ") + entry.where;
  }
  return out;
}

void LaunchLog::clear() {
  Lock lock(busy_);
  count_ = 0;
}

}  // namespace td::driver
