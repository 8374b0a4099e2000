#include <algorithm>

#include "base/text.h"
#include "launch/arguments.h"
#include "launch/shape.h"
#include "treadle/error.h"

namespace td {

namespace {

using launch::DeviceKernel;
using launch::LaunchContext;

constexpr std::size_t kStackBytes = 1024;
constexpr std::size_t kStackArguments = kStackBytes / 16;

[[noreturn]] void throw_unknown_signature(const LaunchContext& context) {
  throw NotSupported(
      launch::message_head(context) +
      ": its parameters are not known: the source does not declare it in plain text and this "
      "driver "
      "does not tell; write the declaration without macros, or use a driver of CUDA 12.4 or newer");
}

// Runs with the parameters' values in `buffer` (kernel.buffer_bytes, 16-byte aligned) and room for
// their addresses.
void launch_with(const LaunchContext& context, const driver::StreamState& stream,
                 const LaunchConfig& config, std::span<const KernelArg> args, unsigned char* buffer,
                 void** addresses) {
  const DeviceKernel& kernel = context.target;
  for (std::size_t i = 0; i < args.size(); ++i) {
    unsigned char* slot = buffer + kernel.params[i].slot;
    if (!launch::fits_at_once(context, kernel.params[i], args[i], slot)) [[unlikely]]
      launch::convert_argument(context, i, args[i], slot);
    addresses[i] = slot;
  }
  driver::DeviceState& device = *kernel.device;
  device.make_current();
  device.launches().note(context.kernel, config.where ? config.where : "");
  auto shared = static_cast<unsigned>(config.shared);
  if (config.cooperative || context.cooperative) {
    CUresult result = device.api().cuLaunchCooperativeKernel(
        kernel.function, config.grid.x, config.grid.y, config.grid.z, config.block.x,
        config.block.y, config.block.z, shared, stream.handle(), addresses);
    if (result != 0)
      driver::fail(device, result, "cuLaunchCooperativeKernel", launch::message_head(context));
    return;
  }
  CUresult result = device.api().cuLaunchKernel(
      kernel.function, config.grid.x, config.grid.y, config.grid.z, config.block.x, config.block.y,
      config.block.z, shared, stream.handle(), addresses, nullptr);
  if (result != 0) [[unlikely]]
    driver::fail(device, result, "cuLaunchKernel", launch::message_head(context));
}

}  // namespace

Kernel::Kernel(std::string source, std::string name, ModuleOptions options) {
  // An instance of a template exists only when the compiler is asked for it.
  auto& wanted = options.name_expressions;
  if (name.find('<') != std::string::npos &&
      std::find(wanted.begin(), wanted.end(), name) == wanted.end())
    wanted.push_back(name);
  auto module =
      std::make_shared<launch::ModuleState>(compile::Source{std::move(source), std::move(options)});
  state_ = std::make_shared<launch::KernelState>(std::move(module), std::move(name));
}

const std::string& Kernel::name() const { return state_->name(); }

const std::vector<ParamInfo>& Kernel::params() const {
  return state_->on(driver::current_device()).infos;
}

int Kernel::attribute(int cuda_function_attribute) const {
  DeviceKernel& kernel = state_->on(driver::current_device());
  kernel.device->make_current();
  int value = 0;
  TD_CALL(*kernel.device, cuFuncGetAttribute, &value, cuda_function_attribute, kernel.function);
  return value;
}

void Kernel::set_attribute(int cuda_function_attribute, int value) const {
  DeviceKernel& kernel = state_->on(driver::current_device());
  kernel.device->make_current();
  TD_CALL(*kernel.device, cuFuncSetAttribute, kernel.function, cuda_function_attribute, value);
}

const std::string& Kernel::code() const { return state_->module().source().text; }
const ModuleOptions& Kernel::options() const { return state_->module().source().options; }
void* Kernel::handle() const { return state_->on(driver::current_device()).function; }

void Kernel::set_max_dynamic_shared(std::size_t bytes) const {
  launch::grant_shared(state_->on(driver::current_device()),
                       "kernel '" + state_->name() + "': ", bytes);
}

void Kernel::launch(const LaunchConfig& config, std::span<const KernelArg> args,
                    bool strided) const {
  const auto& device = driver::current_device();
  DeviceKernel& kernel = state_->on(device);
  LaunchContext context{state_->name(), kernel, config.where, strided,
                        state_->module().source().options.cooperative};
  if (!launch::shape_fits(kernel.limits, config, kernel.shared_granted)) [[unlikely]]
    launch::check_shape(kernel, launch::message_head(context) + ": ", config);
  if (!kernel.params_known) [[unlikely]]
    throw_unknown_signature(context);
  if (args.size() != kernel.params.size()) [[unlikely]]
    launch::throw_count(context, args.size());
  // Array operations recorded before this launch stand before it in the stream: what they read must
  // not be overwritten.
  driver::flush_pending(*device);
  const driver::StreamState& stream = *driver::current_stream(device);
  if (kernel.buffer_bytes <= kStackBytes) [[likely]] {
    alignas(16) unsigned char buffer[kStackBytes];
    void* addresses[kStackArguments];
    launch_with(context, stream, config, args, buffer, addresses);
  } else {
    struct alignas(16) Unit {
      unsigned char bytes[16];
    };
    std::vector<Unit> buffer(kernel.buffer_bytes / 16);
    std::vector<void*> addresses(args.size());
    launch_with(context, stream, config, args, buffer.front().bytes, addresses.data());
  }
}

}  // namespace td
