// Access between software devices. They share one memory, so that access always works; the
// bookkeeping is CUDA's.
#include <algorithm>

#include "softdev/api/guard.h"
#include "softdev/api/soft_api.h"

using namespace td::softdev;
using namespace td::cuda;

namespace {

enum PeerAttribute : int {
  PEER_PERFORMANCE_RANK = 1,
  PEER_ACCESS_SUPPORTED = 2,
  PEER_NATIVE_ATOMIC_SUPPORTED = 3,
  PEER_ARRAY_ACCESS_SUPPORTED = 4,
};

}  // namespace

extern "C" {

CUresult td_soft_cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return guarded_call([&]() -> CUresult {
    if (!can) return CUDA_ERROR_INVALID_VALUE;
    if (!valid_device(device) || !valid_device(peer)) return CUDA_ERROR_INVALID_DEVICE;
    *can = device != peer;
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuDeviceGetP2PAttribute(int* value, int attribute, CUdevice device,
                                         CUdevice peer) {
  return guarded_call([&]() -> CUresult {
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    if (!valid_device(device) || !valid_device(peer) || device == peer)
      return CUDA_ERROR_INVALID_DEVICE;
    switch (attribute) {
      case PEER_PERFORMANCE_RANK:
        *value = 0;
        return CUDA_SUCCESS;
      case PEER_ACCESS_SUPPORTED:
      case PEER_NATIVE_ATOMIC_SUPPORTED:
      case PEER_ARRAY_ACCESS_SUPPORTED:
        *value = 1;
        return CUDA_SUCCESS;
      default:
        return CUDA_ERROR_INVALID_VALUE;
    }
  });
}

CUresult td_soft_cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  return in_context([&](Context& context) -> CUresult {
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (!is_context(peer) || !peer->active) return CUDA_ERROR_INVALID_CONTEXT;
    if (peer->device == context.device) return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    std::lock_guard lock(context.mutex);
    if (std::count(context.peers.begin(), context.peers.end(), peer))
      return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    context.peers.push_back(peer);
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuCtxDisablePeerAccess(CUcontext peer) {
  return in_context([&](Context& context) -> CUresult {
    if (!is_context(peer)) return CUDA_ERROR_INVALID_CONTEXT;
    std::lock_guard lock(context.mutex);
    return std::erase(context.peers, peer) ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
  });
}

}  // extern "C"
