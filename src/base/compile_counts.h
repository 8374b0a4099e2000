// How often this process made code, and how often somebody had made it before. Tests and people
// ask.
#pragma once

#include <atomic>

namespace td::base {

// Sources (CUDA C++ to an image) and, on the software device, objects (an image to code).
struct CompileCounts {
  std::atomic<int> sources{0}, objects{0};                // made here
  std::atomic<int> cached_sources{0}, cached_objects{0};  // found in the disk cache
  std::atomic<int> ready_sources{0}, ready_objects{0};    // came with the package
};
inline CompileCounts& compile_counts() {
  static CompileCounts counts;
  return counts;
}

}  // namespace td::base
