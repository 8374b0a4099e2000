// A device on paper: a provider of the driver API whose memory is addresses and nothing behind
// them, so that a million allocations of any size take a second. It counts the calls that cost
// something on a GPU, and refuses what a driver refuses.
#pragma once

#include <cstddef>
#include <memory>
#include <set>

#include "driver/state.h"

namespace td::test {

struct PaperCalls {
  std::size_t allocate = 0;     // cuMemAlloc, refused ones too
  std::size_t free = 0;         // cuMemFree
  std::size_t synchronize = 0;  // cuCtxSynchronize
  std::size_t all() const { return allocate + free + synchronize; }
};

// One for the process, as the tables of a provider are plain functions; a test starts with
// start_over().
class PaperDevice {
 public:
  static PaperDevice& get();
  std::shared_ptr<driver::DeviceState> state();
  // Forgets the counts and the state of streams. Memory that is still out stays out.
  void start_over();

  // The stream's work is done.
  void finish(CUstream stream);
  // Is the range within one allocation?
  static bool holds(CUdeviceptr address, std::size_t bytes);

  PaperCalls calls;
  std::size_t held = 0;  // bytes between cuMemAlloc and cuMemFree
  std::size_t capacity = std::size_t{1} << 50;
  std::set<CUstream> busy;       // streams with work left
  std::set<CUstream> capturing;  // streams that are captured
  // Calls that a driver would refuse or that would do harm: a free of what is not allocated or
  // while work is left that may use it, a question or a wait that spoils a capture.
  std::size_t faults = 0;
};

}  // namespace td::test
