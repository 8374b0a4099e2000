// Modules and kernels: an image turned into loaded code, and a launch of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/cuda_abi.h"
#include "softdev/jit/elf_object.h"
#include "softdev/run/context.h"
#include "softdev/run/special.h"
#include "softdev/simt/kernel_abi.h"
#include "softdev/simt/lower.h"

namespace td::softdev {
// First in every object whose handle may stand for a kernel (cuLaunchKernel takes both).
enum class HandleTag : std::uint32_t { function = 0x66756e63, kernel = 0x6b65726e };
}  // namespace td::softdev

struct CUfunc_st {
  td::softdev::HandleTag tag{td::softdev::HandleTag::function};
  std::atomic<bool> alive{false};
  CUmodule module = nullptr;
  td::softdev::LoweredKernel info;
  td::softdev::WarpFunction warp = nullptr;
  td::softdev::ThreadFunction thread = nullptr;
  td::softdev::BlockFunction block =
      nullptr;  // null for a kernel whose barriers want warps as coroutines
  std::shared_ptr<td::softdev::SpecialCodes> special;  // null where there are none
  std::atomic<std::uint32_t> max_dynamic_shared{0};
  std::atomic<int> carveout{-1};  // counts in occupancy figures
  void clear() {
    alive = false;
    module = nullptr;
    special.reset();
    info = {};
  }
};

struct CUmod_st {
  std::atomic<bool> alive{false};
  CUcontext context = nullptr;
  std::unique_ptr<td::softdev::ElfObject> code;
  std::uintptr_t data = 0;  // device address of the module's variables, 0 = none
  std::vector<CUfunction> functions;
  std::vector<td::softdev::RefusedKernel> refused;
  std::vector<td::softdev::LoweredGlobal> globals;
  void clear() {
    alive = false;
    context = nullptr;
    code.reset();
    data = 0;
    functions.clear();
    refused.clear();
    globals.clear();
  }
};

namespace td::softdev {

// An image with the code that was made of it. Belongs to no context.
struct LoweredImage {
  std::shared_ptr<const std::string> bytes;
  LowerReply reply;
};
// Makes the code of an image (LLVM bitcode, raw or with LLVM's wrapper header), or finds it in the
// caches. On failure `log` says why, for people; so it does below.
CUresult prepare_image(const void* image, LoweredImage* lowered, std::string* log);
// Loads it into a context.
CUresult load_module(Context& context, const LoweredImage& lowered, CUmodule* module,
                     std::string* log);
// Both.
CUresult load_module(Context& context, const void* image, CUmodule* module, std::string* log);
// The image as bytes; empty when it is not LLVM bitcode. An image comes without its size: bitcode
// tells it.
std::string_view image_bytes(const void* image);
// The context must be idle and must have forgotten the module.
void destroy_module(CUmodule module);
// CUDA_ERROR_NOT_FOUND; CUDA_ERROR_NOT_SUPPORTED for a kernel that the software device refuses, and
// the log says why.
CUresult find_function(CUmodule module, std::string_view name, CUfunction* function);
// False when the module has no such variable. Either result may be null.
bool find_global(CUmodule module, std::string_view name, CUdeviceptr* address, std::size_t* bytes);
bool is_live(CUfunction function, const Context& context);
bool is_live(CUmodule module, const Context& context);

struct LaunchShape {
  unsigned grid[3];
  unsigned block[3];
  unsigned dynamic_shared;
  bool cooperative = false;  // all blocks resident at once
};
// CUDA's own checks of a launch: CUDA_ERROR_INVALID_VALUE when a limit is exceeded.
CUresult check_launch(const CUfunc_st& function, const LaunchShape& shape);
// The operation that runs a grid; `params` as in launch.
Ref<Op> make_launch_op(CUfunction function, const LaunchShape& shape, const unsigned char* params);
// Enqueues a launch. `params`: the packed parameters; copied.
void launch(CUfunction function, const LaunchShape& shape, CUstream stream,
            const unsigned char* params);

}  // namespace td::softdev
