// What every function of the border does first and last.
#pragma once

#include <atomic>
#include <new>
#include <system_error>

#include "base/cuda_abi.h"
#include "softdev/run/context.h"
#include "softdev/run/device.h"

namespace td::softdev {

extern std::atomic<bool> initialized;  // cuInit was called

// Runs body() after cuInit; no exception crosses the border.
template <class Body>
CUresult guarded_call(const Body& body) {
  if (!initialized.load(std::memory_order_relaxed)) return cuda::CUDA_ERROR_NOT_INITIALIZED;
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return cuda::CUDA_ERROR_OUT_OF_MEMORY;
  } catch (const std::system_error&) {
    return cuda::CUDA_ERROR_OPERATING_SYSTEM;
  } catch (...) {
    return cuda::CUDA_ERROR_UNKNOWN;
  }
}

// Runs body(context) in the current context, unless that has failed: then its error is the answer.
template <class Body>
CUresult in_context(const Body& body) {
  return guarded_call([&]() -> CUresult {
    Context* context = current_context();
    if (!context) return cuda::CUDA_ERROR_INVALID_CONTEXT;
    if (!context->active.load(std::memory_order_acquire))
      return cuda::CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (CUresult error = context->error.load(std::memory_order_acquire)) return error;
    return body(*context);
  });
}

// Runs body(context, stream) for the handle of a stream, with the stream's own context, which may
// be another one than the current one.
template <class Body>
CUresult in_stream(CUstream handle, const Body& body) {
  return in_context([&](Context& context) -> CUresult {
    CUstream stream = context.resolve(handle);
    if (!stream) return cuda::CUDA_ERROR_INVALID_HANDLE;
    Context& owner = *stream->context;
    if (CUresult error = owner.error.load(std::memory_order_acquire)) return error;
    return body(owner, *stream);
  });
}

inline bool valid_context_flags(unsigned flags) {
  unsigned policy = flags & cuda::CTX_SCHED_MASK;
  return !(flags & ~cuda::CTX_FLAGS_MASK) && (policy & (policy - 1)) == 0;
}

inline bool valid_device(CUdevice device) { return device >= 0 && device < device_count(); }

}  // namespace td::softdev
