// What td::Module and td::Kernel point to: text, its images, and what was loaded of it on each
// device.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "compile/compile.h"
#include "driver/state.h"
#include "treadle/kernel.h"

namespace td::launch {

// Thread-safe. Compiles at most once per kind of device and loads once per device; after
// Device::reset it loads again.
class ModuleState {
 public:
  explicit ModuleState(compile::Source source) : source_(std::move(source)) {}
  // An image that was compiled elsewhere; it says nothing about its kernels.
  ModuleState(std::shared_ptr<const compile::Image> image, ModuleOptions options)
      : source_{"", std::move(options)}, given_(std::move(image)) {}

  const compile::Source& source() const { return source_; }
  std::shared_ptr<const compile::Image> image(driver::DeviceState& device);
  std::shared_ptr<driver::LoadedModule> loaded(const std::shared_ptr<driver::DeviceState>& device);
  // The signature of the kernel that `name` means, which lives as long as the module. ValueError
  // when there is none.
  const compile::KernelSignature& signature(const std::shared_ptr<driver::DeviceState>& device,
                                            const std::string& name);

 private:
  const compile::Source source_;
  const std::shared_ptr<const compile::Image> given_;
  std::map<std::string, compile::KernelSignature> asked_;  // of the given image
  std::mutex mutex_;
  std::map<std::pair<compile::ImageFormat, int>, std::shared_ptr<const compile::Image>> images_;
  std::map<driver::DeviceState*, std::shared_ptr<driver::LoadedModule>> modules_;
};

// The signature of the kernel that `name` means: a name as written, a name expression, or a symbol.
// ValueError lists the kernels that exist.
const compile::KernelSignature& find_kernel(const compile::Image& image, const std::string& file,
                                            const std::string& name);

// A parameter, digested for the hot path.
struct Param {
  static constexpr std::uint8_t kNoDType = 255;
  ParamInfo::Kind kind = ParamInfo::Kind::unknown;
  std::uint8_t dtype = kNoDType;
  bool pointee_const = false;
  std::uint32_t size = 0;  // 0: nobody knows
  std::uint32_t slot = 0;  // where its value stands in the launch buffer
};

// Limits of a launch, of the device and of the kernel.
struct Limits {
  std::uint32_t grid[3] = {}, block[3] = {};
  std::uint32_t threads = 0;         // of the device
  std::uint32_t kernel_threads = 0;  // of this kernel: its registers or __launch_bounds__
  std::size_t shared = 0;            // dynamic, without asking for more
  std::size_t shared_most = 0;       // dynamic, after asking
  std::size_t shared_static = 0;
};

// A kernel on one device, of one generation. Immutable but for the dynamic shared memory that it
// was granted.
struct DeviceKernel {
  driver::DeviceState* device = nullptr;
  std::uint64_t generation = 0;
  std::shared_ptr<driver::LoadedModule> module;
  CUfunction function = nullptr;
  bool params_known = false;  // false: their number is not known either
  std::vector<ParamInfo> infos;
  std::vector<Param> params;
  std::size_t buffer_bytes = 0;
  Limits limits;
  std::atomic<std::size_t> shared_granted{0};
};

class KernelState {
 public:
  KernelState(std::shared_ptr<ModuleState> module, std::string name)
      : module_(std::move(module)), name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  ModuleState& module() const { return *module_; }
  // Of the calling thread's device. Loads on first use; afterwards one comparison. The result lives
  // as long as this.
  DeviceKernel& on(const std::shared_ptr<driver::DeviceState>& device) {
    DeviceKernel* kernel = last_.load(std::memory_order_acquire);
    if (kernel && kernel->device == device.get() && kernel->generation == device->generation())
        [[likely]]
      return *kernel;
    return find_or_load(device);
  }

 private:
  DeviceKernel& find_or_load(const std::shared_ptr<driver::DeviceState>& device);

  std::shared_ptr<ModuleState> module_;
  std::string name_;
  std::atomic<DeviceKernel*> last_{nullptr};
  std::mutex mutex_;
  std::vector<std::unique_ptr<DeviceKernel>>
      all_;  // dead generations stay until the end: launches may be reading them
};

// Fills in what the driver knows of the kernel and digests its parameters.
std::unique_ptr<DeviceKernel> load_kernel(const std::shared_ptr<driver::DeviceState>& device,
                                          std::shared_ptr<driver::LoadedModule> module,
                                          const compile::KernelSignature& signature);

}  // namespace td::launch
