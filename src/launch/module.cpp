#include <algorithm>

#include "base/text.h"
#include "launch/state.h"
#include "treadle/error.h"

namespace td::launch {

std::shared_ptr<const compile::Image> ModuleState::image(driver::DeviceState& device) {
  if (given_) return given_;
  compile::Target target{device.provider().image_format,
                         10 * device.attribute(cuda::COMPUTE_CAPABILITY_MAJOR) +
                             device.attribute(cuda::COMPUTE_CAPABILITY_MINOR)};
  std::lock_guard lock(mutex_);
  auto& image = images_[{target.format, target.compute_capability}];
  if (!image) image = std::make_shared<compile::Image>(compile::compile(source_, target));
  return image;
}

std::shared_ptr<driver::LoadedModule> ModuleState::loaded(
    const std::shared_ptr<driver::DeviceState>& device) {
  std::shared_ptr<const compile::Image> code = image(*device);
  std::lock_guard lock(mutex_);
  auto& module = modules_[device.get()];
  if (!module || !module->alive())
    module = std::make_shared<driver::LoadedModule>(device, code->bytes);
  return module;
}

namespace {

std::string kernel_list(const compile::Image& image) {
  std::vector<std::string> names;
  for (const auto& kernel : image.kernels) names.push_back(kernel.name);
  if (names.empty()) return "it has no kernels; declare one with extern \"C\" __global__ void";
  return "it has " + base::join(names, ", ");
}

}  // namespace

const compile::KernelSignature& find_kernel(const compile::Image& image, const std::string& file,
                                            const std::string& name) {
  auto lowered = image.lowered_names.find(name);
  std::vector<const compile::KernelSignature*> found;
  for (const auto& kernel : image.kernels) {
    bool hit = lowered != image.lowered_names.end() ? kernel.symbol == lowered->second
                                                    : kernel.symbol == name || kernel.name == name;
    if (hit) found.push_back(&kernel);
  }
  if (found.size() == 1) return *found.front();
  if (found.empty()) {
    std::string cure = name.find('<') != std::string::npos
                           ? "; an instance of a template must be named in name_expressions"
                           : "";
    throw ValueError(base::cat(file, " has no kernel '", name, "'; ", kernel_list(image), cure));
  }
  std::vector<std::string> symbols;
  for (const auto* kernel : found) symbols.push_back(kernel->symbol);
  throw ValueError(base::cat(file, " has ", found.size(), " kernels called '", name,
                             "'; ask for one by its symbol: ", base::join(symbols, ", ")));
}

const compile::KernelSignature& ModuleState::signature(
    const std::shared_ptr<driver::DeviceState>& device, const std::string& name) {
  if (!given_) return find_kernel(*image(*device), source_.options.file_name, name);
  std::shared_ptr<driver::LoadedModule> module = loaded(device);
  try {
    module->function(name.c_str());
  } catch (const DriverError&) {
    throw ValueError(base::cat(source_.options.file_name, " has no kernel '", name,
                               "'; an image knows kernels by their symbols, and those of C++ "
                               "without extern \"C\" are mangled"));
  }
  std::lock_guard lock(mutex_);
  compile::KernelSignature& found = asked_[name];
  found.name = found.symbol = name;
  found.params_known = false;
  return found;
}

}  // namespace td::launch

namespace td {

Module::Module(std::string source, ModuleOptions options)
    : state_(std::make_shared<launch::ModuleState>(
          compile::Source{std::move(source), std::move(options)})) {}

Module Module::from_image(std::string image, ModuleOptions options) {
  auto given = std::make_shared<compile::Image>();
  given->bytes = std::move(image);
  return Module(std::make_shared<launch::ModuleState>(std::move(given), std::move(options)));
}

std::string Module::image() const { return state_->image(*driver::current_device())->bytes; }

Kernel Module::get(const std::string& name) const {
  state_->signature(driver::current_device(), name);
  return Kernel(std::make_shared<launch::KernelState>(state_, name));
}

std::pair<DevicePointer, std::size_t> Module::global(const std::string& name) const {
  const auto& device = driver::current_device();
  auto lowered = state_->image(*device)->lowered_names.find(name);
  const std::string& symbol =
      lowered == state_->image(*device)->lowered_names.end() ? name : lowered->second;
  auto [address, bytes] = state_->loaded(device)->global(symbol.c_str());
  return {DevicePointer{address}, bytes};
}

void Module::compile() const { state_->loaded(driver::current_device()); }
const std::string& Module::code() const { return state_->source().text; }
const ModuleOptions& Module::options() const { return state_->source().options; }

std::vector<std::string> Module::kernel_names() const {
  std::vector<std::string> names;
  for (const auto& kernel : state_->image(*driver::current_device())->kernels)
    names.push_back(kernel.name);
  return names;
}

}  // namespace td
