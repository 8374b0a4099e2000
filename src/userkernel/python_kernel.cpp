#include "base/author_name.h"
#include "base/disk_cache.h"
#include "base/hash.h"
#include "base/text.h"
#include "fuse/kernels_text.h"
#include "array/impl.h"
#include "launch/arguments.h"
#include "launch/shape.h"
#include "treadle/error.h"
#include "treadle/python_kernel.h"

namespace td {

std::string_view python_prelude() { return fuse::kText_python; }
std::string python_part(std::string_view name) {
  if (name == "folds") return fuse::kText_python_folds;
  if (name == "bfloat16") return fuse::kText_python_bfloat16;
  if (name == "declared") return fuse::kText_python_declared;
  std::string text = "#define TD_COMPLEX 1\n";
  text += fuse::kText_types;
  text += fuse::kText_math;
  text += fuse::kText_python_complex;
  return text;
}

namespace {

const base::DiskCache& printed() {
  static const base::DiskCache cache("python");
  return cache;
}

}  // namespace

std::optional<std::string> load_python_kernel(std::string_view key) {
  return printed().load(base::Hasher().add(key).finish());
}

void store_python_kernel(std::string_view key, std::string_view value) {
  printed().store(base::Hasher().add(key).finish(), value);
}

ArrayParameter array_parameter(const Array& array) {
  const array::View& view = array::view_of(array);
  const array::ArrayImpl& impl = *array.impl();
  if (view.storage->device() != driver::current_device()) [[unlikely]]
    throw ValueError(base::cat("an array of device ", array.device().name(),
                               " was given to a kernel on device ", Device::current().name(),
                               "; copy it with to_device, or make its device the current one"));
  if (impl.writeable) view.storage->expose();
  return {view.storage->address() + static_cast<std::uint64_t>(view.offset),
          view.shape,
          view.strides,
          view.dtype,
          impl.c_contiguous,
          impl.f_contiguous,
          impl.writeable};
}

void launch_packed(const Kernel& kernel, const LaunchConfig& config, std::span<void*> parameters) {
  const auto& device = driver::current_device();
  launch::KernelState& state = *kernel.state();
  launch::DeviceKernel& target = state.on(device);
  launch::LaunchContext context{state.name(), target, config.where, false, config.cooperative};
  if (!launch::shape_fits(target.limits, config, target.shared_granted)) [[unlikely]]
    launch::check_shape(target, launch::message_head(context) + ": ", config);
  if (target.params_known && parameters.size() != target.params.size()) [[unlikely]]
    throw InternalError(base::cat("kernel '", base::author_name(state.name()), "' was given ",
                                  parameters.size(), " parameters and has ", target.params.size()));
  driver::flush_pending(*device);
  const driver::StreamState& stream = *driver::current_stream(device);
  device->make_current();
  device->launches().note(state.name(), config.where ? config.where : "");
  auto shared = static_cast<unsigned>(config.shared);
  const driver::Api& api = device->api();
  auto launch = [&](auto function, auto... rest) {
    return function(target.function, config.grid.x, config.grid.y, config.grid.z, config.block.x,
                    config.block.y, config.block.z, shared, stream.handle(), parameters.data(),
                    rest...);
  };
  CUresult result = config.cooperative ? launch(api.cuLaunchCooperativeKernel)
                                       : launch(api.cuLaunchKernel, nullptr);
  if (result != 0) [[unlikely]]
    driver::fail(*device, result,
                 config.cooperative ? "cuLaunchCooperativeKernel" : "cuLaunchKernel",
                 launch::message_head(context));
}

}  // namespace td
