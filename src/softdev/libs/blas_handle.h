// What a cublasHandle_t stands for.
#pragma once

#include <atomic>

#include "base/blas_abi.h"
#include "softdev/run/context.h"

struct cublasContext {
  std::atomic<bool> alive{false};
  td::softdev::Context* context = nullptr;
  CUstream stream = nullptr;  // as set: null is the default stream
  void clear() {
    alive = false;
    context = nullptr;
    stream = nullptr;
  }
};

namespace td::softdev {

inline bool is_live(cublasHandle_t handle) {
  return handle && handle->alive.load(std::memory_order_acquire);
}

}  // namespace td::softdev
