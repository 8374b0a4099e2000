// Loaded kernels by key, and launching them with little host work: the common case is one look-up
// and one driver call.
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "compile/compile.h"
#include "driver/state.h"
#include "treadle/array.h"

namespace td::fuse {

struct LoadedKernel {
  std::shared_ptr<driver::LoadedModule> module;
  CUfunction function;
  std::string name;
};

// The kernel that was loaded under `key` on this device, or null.
const LoadedKernel* find_kernel(driver::DeviceState& device, const std::string& key);
// Compiles `text`, loads its extern "C" kernel `name` and remembers it under `key`.
const LoadedKernel& load_kernel(driver::DeviceState& device, const std::string& key,
                                const std::string& text, const char* name);

// The steps of load_kernel, for those who go another way between them.
compile::Source generated_source(std::string text);
compile::Target image_target(driver::DeviceState& device);
const LoadedKernel& remember_kernel(driver::DeviceState& device, const std::string& key,
                                    std::shared_ptr<driver::LoadedModule> module, const char* name);

template <class Print>
const LoadedKernel& kernel(driver::DeviceState& device, const std::string& key, Print print,
                           const char* name) {
  const LoadedKernel* found = find_kernel(device, key);
  return found ? *found : load_kernel(device, key, print(), name);
}

// For the build of the package: while `list` is set (null ends it), kernels are only listed. Each
// that would be compiled is handed over with its name, and nothing is compiled or launched; what
// arrays hold is then undefined. One thread only.
using KernelList =
    std::function<void(const compile::Source&, const compile::Target&, const char* name)>;
void list_kernels(const KernelList* list);
bool is_listing();

// Kernel arguments in the order of the parameters.
class Arguments {
 public:
  template <class T>
  void add(T value) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
    if (count_ == kMost)
      throw InternalError("a generated kernel has too many parameters; please report this");
    std::memcpy(&slots_[count_], &value, sizeof value);
    pointers_[count_] = &slots_[count_];
    ++count_;
  }
  // An index, as the kernel's td_index.
  void index(std::int64_t value, bool wide) {
    if (wide)
      add(value);
    else
      add(static_cast<std::int32_t>(value));
  }
  // A scalar operand in `dtype`, as parameter_list() spells it.
  void scalar(const Scalar& value, DType dtype);
  void** data() { return pointers_; }

 private:
  static constexpr std::size_t kMost = 512;
  std::uint64_t slots_[kMost];
  void* pointers_[kMost];
  std::size_t count_ = 0;
};

// Threads of every block of a generated kernel.
inline constexpr unsigned kBlock = 256;

// Launches `blocks` blocks (at least 1), each with `shared` bytes of dynamic shared memory.
void launch(driver::DeviceState& device, CUstream stream, const LoadedKernel& kernel,
            std::int64_t blocks, Arguments& arguments, unsigned threads = kBlock,
            unsigned shared = 0);
// Generated kernels launched by this process so far; tests count with it.
int launch_count();
// Blocks of kBlock threads that the device holds at once.
std::int64_t resident_blocks(driver::DeviceState& device);
// A device that holds few threads works best when each walks a long run of memory of its own.
bool holds_few_threads(driver::DeviceState& device);

}  // namespace td::fuse
