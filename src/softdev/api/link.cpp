// The linker. An image of the software device is whole, so that linking one input gives it back;
// joining several is not supported.
#include <cstring>
#include <vector>

#include "base/log.h"
#include "softdev/api/guard.h"
#include "softdev/api/jit_options.h"
#include "softdev/api/soft_api.h"
#include "softdev/run/module.h"

struct CUlinkState_st {
  std::atomic<bool> alive{false};
  td::softdev::JitOptions options{0, nullptr, nullptr};
  std::string image;
  void clear() {
    alive = false;
    image.clear();
  }
};

using namespace td::softdev;
using namespace td::cuda;

namespace {

CUresult with_state(CUlinkState state, const auto& body) {
  return in_context([&](Context&) -> CUresult {
    bool living = state && state->alive.load(std::memory_order_acquire);
    return living ? body() : static_cast<CUresult>(CUDA_ERROR_INVALID_HANDLE);
  });
}

CUresult add(CUlinkState state, std::string data) {
  if (!state->image.empty()) {
    state->options.report("the software device links one input only; compile the parts as one");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  data.append(64, '\0');  // reading the header stays inside
  std::string_view image = image_bytes(data.data());
  if (image.empty() || image.size() > data.size()) {
    state->options.report("the input is not LLVM bitcode, which is what the software device loads");
    return CUDA_ERROR_INVALID_IMAGE;
  }
  state->image = image;
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult td_soft_cuLinkCreate_v2(unsigned count, CUjit_option* options, void** values,
                                 CUlinkState* state) {
  return in_context([&](Context&) -> CUresult {
    if (!state) return CUDA_ERROR_INVALID_VALUE;
    *state = handle_pool<CUlinkState_st>().make();
    (*state)->options = JitOptions(count, options, values);
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuLinkAddData_v2(CUlinkState state, int type, void* data, std::size_t bytes,
                                  const char*, unsigned, CUjit_option*, void**) {
  return with_state(state, [&]() -> CUresult {
    if (!data || bytes == 0 || type < 0 || type > 5) return CUDA_ERROR_INVALID_VALUE;
    return add(state, {static_cast<const char*>(data), bytes});
  });
}

CUresult td_soft_cuLinkAddFile_v2(CUlinkState state, int type, const char* path, unsigned,
                                  CUjit_option*, void**) {
  return with_state(state, [&]() -> CUresult {
    if (!path || type < 0 || type > 5) return CUDA_ERROR_INVALID_VALUE;
    std::string data;
    if (!read_image(path, &data)) return CUDA_ERROR_FILE_NOT_FOUND;
    return add(state, std::move(data));
  });
}

CUresult td_soft_cuLinkComplete(CUlinkState state, void** image, std::size_t* bytes) {
  return with_state(state, [&]() -> CUresult {
    if (!image || state->image.empty()) return CUDA_ERROR_INVALID_VALUE;
    *image = state->image.data();
    if (bytes) *bytes = state->image.size();
    state->options.report("");
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuLinkDestroy(CUlinkState state) {
  return with_state(state, [&]() -> CUresult {
    handle_pool<CUlinkState_st>().recycle(state);
    return CUDA_SUCCESS;
  });
}

// Nothing here is profiled by others.
CUresult td_soft_cuProfilerStart() {
  return in_context([](Context&) -> CUresult { return CUDA_SUCCESS; });
}
CUresult td_soft_cuProfilerStop() {
  return in_context([](Context&) -> CUresult { return CUDA_SUCCESS; });
}

}  // extern "C"
