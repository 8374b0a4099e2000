#include "fuse/map_kernel.h"

#include <optional>

#include "fuse/coming_kernels.h"
#include "fuse/describe.h"
#include "fuse/step_by_step.h"

namespace td::fuse {
namespace {

constexpr const char* kName = "td_map";

// Temporaries are of the current stream. A captured graph is to hold the fused kernel, whatever
// that takes.
bool may_take_steps(driver::DeviceState& device, CUstream stream) {
  if (!background_compiles()) return false;
  if (driver::current_stream(device.shared_from_this())->handle() != stream) return false;
  int capture = 0;
  return device.api().cuStreamIsCapturing(stream, &capture) == 0 && capture == 0;
}

void launch_steps(driver::DeviceState& device, CUstream stream, const std::vector<Program>& steps) {
  for (const Program& step : steps) {
    if (logging()) {
      PlannedKernel row = describe(step);
      row.cut = "the fused kernel is being compiled";
      log_kernel(std::move(row));
    }
    launch_map(device, stream, step);
  }
}

}  // namespace

const LoadedKernel* load_made_kernel(driver::DeviceState& device, const std::string& key,
                                     const compile::Source& source) {
  auto image = compile::find(source, image_target(device));
  if (!image) return nullptr;
  auto module = std::make_shared<driver::LoadedModule>(device.shared_from_this(), image->bytes);
  return &remember_kernel(device, key, std::move(module), kName);
}

const LoadedKernel* load_map_kernel(driver::DeviceState& device, CUstream stream,
                                    const Program& program, const std::string& key,
                                    const std::function<std::string()>& print) {
  if (program.steps.size() < 2 || is_listing()) return &load_kernel(device, key, print(), kName);
  const Arrival arrival = arrival_of(device, key);
  std::optional<compile::Source> source;
  if (arrival == Arrival::unknown) {
    source = generated_source(print());
    if (const LoadedKernel* made = load_made_kernel(device, key, *source)) return made;
  }
  const bool waits = arrival == Arrival::unknown || arrival == Arrival::coming;
  if (waits && may_take_steps(device, stream)) {
    auto steps = split_into_steps(device, program);
    if (steps && (!source || ask_for_kernel(device, key, *std::move(source)))) {
      launch_steps(device, stream, *steps);
      return nullptr;
    }
  }
  if (auto module = collect_kernel(device, key))
    return &remember_kernel(device, key, std::move(module), kName);
  return &load_kernel(device, key, print(), kName);
}

}  // namespace td::fuse
