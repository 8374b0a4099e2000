// The staging engine of a device: pinned buffers, and threads that copy between them and pageable
// host memory while the device's copy engine moves the previous piece. (One thread copies at about
// 8 GB/s into a pinned buffer where the bus takes 55; eight threads with 4 MiB pieces reach 49.)
#pragma once

#include <memory>

#include "driver/state.h"

namespace td::driver {

class Stager {
 public:
  explicit Stager(DeviceState& device);
  ~Stager();
  void upload(const StreamState& stream, CUdeviceptr to, const char* from, std::size_t bytes);
  void download(const StreamState& stream, char* to, CUdeviceptr from, std::size_t bytes);
  // The context is gone, and all buffers with it.
  void forget();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace td::driver
