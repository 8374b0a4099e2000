// How often a piece of work calls the driver, and how many bytes it moves: evidence for benchmarks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "treadle/device.h"

namespace [[gnu::visibility("default")]] td {

struct CallCount {
  std::string function;        // as the manual prints it: "cuLaunchKernel"; "math library" for a
                               // call of cuBLAS, cuSOLVER or cuFFT, whose launches are not seen
  std::uint64_t calls = 0;     // those that failed included
  std::uint64_t failures = 0;  // answered neither CUDA_SUCCESS nor CUDA_ERROR_NOT_READY
  std::uint64_t bytes = 0;     // of copies and fills that succeeded
};

// Begins (from zero) or ends counting of calls that Treadle makes for a device, by all threads of
// the process. One kind of device counts at a time. A captured call counts when it is captured, its
// graph as one cuGraphLaunch.
void count_calls(const Device& device, bool on);

// The streams that were given launches, copies, fills and graphs since counting began, each once; 0
// is the default stream. A stream may have been destroyed since.
std::vector<void*> counted_streams();

// The functions that were called since counting began, in the order of tables/driver_api.def.
std::vector<CallCount> call_counts();

}  // namespace td
