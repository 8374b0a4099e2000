// A kernel meets its device: limits, and what the driver says about its parameters. Where the
// driver and the declaration disagree about a parameter, neither is believed: its kind becomes
// unknown and only the driver's size is checked.
#include <algorithm>

#include "launch/state.h"

namespace td::launch {

namespace {

std::uint32_t limit(driver::DeviceState& device, int attribute) {
  return static_cast<std::uint32_t>(std::max(device.attribute(attribute), 0));
}

int function_attribute(const DeviceKernel& kernel, int attribute) {
  int value = 0;
  TD_CALL(*kernel.device, cuFuncGetAttribute, &value, attribute, kernel.function);
  return value;
}

void read_limits(DeviceKernel& kernel) {
  driver::DeviceState& device = *kernel.device;
  Limits& limits = kernel.limits;
  for (int axis = 0; axis < 3; ++axis) {
    limits.grid[axis] = limit(device, cuda::MAX_GRID_DIM_X + axis);
    limits.block[axis] = limit(device, cuda::MAX_BLOCK_DIM_X + axis);
  }
  limits.threads = limit(device, cuda::MAX_THREADS_PER_BLOCK);
  limits.kernel_threads = static_cast<std::uint32_t>(
      std::max(function_attribute(kernel, cuda::FUNC_MAX_THREADS_PER_BLOCK), 1));
  limits.shared_static = static_cast<std::size_t>(
      std::max(function_attribute(kernel, cuda::FUNC_SHARED_SIZE_BYTES), 0));
  std::size_t usual = limit(device, cuda::MAX_SHARED_MEMORY_PER_BLOCK);
  std::size_t most =
      std::max<std::size_t>(usual, limit(device, cuda::MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  limits.shared = usual - std::min(usual, limits.shared_static);
  limits.shared_most = most - std::min(most, limits.shared_static);
  kernel.shared_granted = limits.shared;
}

// The driver's offsets and sizes; false where it cannot tell (before CUDA 12.4).
bool driver_params(const DeviceKernel& kernel, std::vector<ParamInfo>& out) {
  for (std::size_t index = 0;; ++index) {
    ParamInfo info;
    CUresult result =
        kernel.device->api().cuFuncGetParamInfo(kernel.function, index, &info.offset, &info.size);
    if (result == cuda::CUDA_ERROR_INVALID_VALUE) return true;  // one behind the last
    if (result != 0) return false;
    out.push_back(info);
  }
}

void believe_driver(DeviceKernel& kernel) {
  std::vector<ParamInfo> sizes;
  if (!driver_params(kernel, sizes)) return;
  if (!kernel.params_known || sizes.size() != kernel.infos.size()) {
    kernel.infos = std::move(sizes);
    kernel.params_known = true;
    return;
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    ParamInfo& info = kernel.infos[i];
    if (info.size != 0 && info.size != sizes[i].size) {
      info.kind = ParamInfo::Kind::unknown;
      info.dtype.reset();
    }
    info.size = sizes[i].size;
    info.offset = sizes[i].offset;
  }
}

void digest(DeviceKernel& kernel) {
  std::size_t next = 0;
  for (const ParamInfo& info : kernel.infos) {
    Param param;
    param.kind = info.kind;
    if (info.dtype) param.dtype = static_cast<std::uint8_t>(*info.dtype);
    param.pointee_const = info.pointee_const;
    param.size = static_cast<std::uint32_t>(info.size);
    param.slot = static_cast<std::uint32_t>(next);
    kernel.params.push_back(param);
    next += (std::max<std::size_t>(info.size, 16) + 15) / 16 * 16;
  }
  kernel.buffer_bytes = next;
}

}  // namespace

std::unique_ptr<DeviceKernel> load_kernel(const std::shared_ptr<driver::DeviceState>& device,
                                          std::shared_ptr<driver::LoadedModule> module,
                                          const compile::KernelSignature& signature) {
  auto kernel = std::make_unique<DeviceKernel>();
  kernel->device = device.get();
  kernel->generation = device->generation();
  kernel->function = module->function(signature.symbol.c_str());
  kernel->module = std::move(module);
  kernel->params_known = signature.params_known;
  kernel->infos = signature.params;
  read_limits(*kernel);
  believe_driver(*kernel);
  digest(*kernel);
  return kernel;
}

DeviceKernel& KernelState::find_or_load(const std::shared_ptr<driver::DeviceState>& device) {
  std::lock_guard lock(mutex_);
  for (auto& kernel : all_) {
    if (kernel->device == device.get() && kernel->generation == device->generation()) {
      last_.store(kernel.get(), std::memory_order_release);
      return *kernel;
    }
  }
  const auto& signature = module_->signature(device, name_);
  all_.push_back(load_kernel(device, module_->loaded(device), signature));
  last_.store(all_.back().get(), std::memory_order_release);
  return *all_.back();
}

}  // namespace td::launch
