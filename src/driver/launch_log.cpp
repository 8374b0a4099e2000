#include "driver/launch_log.h"

#include <algorithm>
#include <cstring>

#include "base/author_name.h"

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
  bool python = false;
  for (unsigned back = 1; back <= std::min(count_, kEntries); ++back) {
    const Entry& entry = entries_[(count_ - back) % kEntries];
    out += back == 1 ? "launched last: kernel '" : ", before it '";
    std::string_view shown = base::author_name(entry.kernel);
    python |= shown != entry.kernel;
    out += std::string(shown) + "'";
    if (entry.where[0]) out += std::string(" at ") + entry.where;
  }
  if (python) out += "; with TREADLE_BOUNDSCHECK=1 a bad index in Python is reported with its line";
  return out;
}

void LaunchLog::clear() {
  Lock lock(busy_);
  count_ = 0;
}

}  // namespace td::driver
