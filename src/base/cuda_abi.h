// The types and constants of the CUDA driver API that Treadle uses, declared here so that no NVIDIA
// header is needed to build. Names and values are those of the public documentation ("CUDA Driver
// API"); only what is used is listed.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUmemoryPool = struct CUmemPoolHandle_st*;
using CUdevice_attribute = int;
using CUfunction_attribute = int;
using CUpointer_attribute = int;
using CUjit_option = int;
using CUlimit = int;
using CUhostFn = void (*)(void* user_data);
using CUoccupancyB2DSize = std::size_t (*)(int block_size);

struct CUuuid {
  char bytes[16];
};

}  // extern "C"

namespace td::cuda {

// CUresult. One row: value, name, meaning, cure ("" where none is known).
// clang-format off
#define TD_CUDA_RESULTS(X) \
  X(0,   CUDA_SUCCESS,                              "no error", "") \
  X(1,   CUDA_ERROR_INVALID_VALUE,                  "an argument is outside of its allowed range", "") \
  X(2,   CUDA_ERROR_OUT_OF_MEMORY,                  "the device has not enough free memory", "free arrays that are no longer needed, or work in smaller pieces") \
  X(3,   CUDA_ERROR_NOT_INITIALIZED,                "the driver has not been initialised", "call cuInit first") \
  X(4,   CUDA_ERROR_DEINITIALIZED,                  "the driver is shutting down", "") \
  X(34,  CUDA_ERROR_STUB_LIBRARY,                   "the loaded libcuda.so.1 is the toolkit's link-time stub, not a driver", "remove the toolkit's stubs folder from LD_LIBRARY_PATH") \
  X(46,  CUDA_ERROR_DEVICE_UNAVAILABLE,             "the device is held by another process, or its compute mode forbids this one", "wait for the other process, or ask for the default compute mode") \
  X(100, CUDA_ERROR_NO_DEVICE,                      "no CUDA-capable device was found", "check nvidia-smi and CUDA_VISIBLE_DEVICES") \
  X(101, CUDA_ERROR_INVALID_DEVICE,                 "there is no device with this ordinal", "") \
  X(200, CUDA_ERROR_INVALID_IMAGE,                  "the module image is not valid", "") \
  X(201, CUDA_ERROR_INVALID_CONTEXT,                "no context is current, or it was destroyed", "") \
  X(209, CUDA_ERROR_NO_BINARY_FOR_GPU,              "the image holds no code for this device", "compile for this device's architecture") \
  X(214, CUDA_ERROR_ECC_UNCORRECTABLE,              "the device's memory reported an error that it cannot correct", "reset the GPU or reboot; replace it if this repeats") \
  X(218, CUDA_ERROR_INVALID_PTX,                    "the PTX did not compile", "") \
  X(222, CUDA_ERROR_UNSUPPORTED_PTX_VERSION,        "the PTX is newer than the driver", "update the driver, or use an older toolkit") \
  X(300, CUDA_ERROR_INVALID_SOURCE,                 "the device kernel source is invalid", "") \
  X(301, CUDA_ERROR_FILE_NOT_FOUND,                 "the file was not found", "") \
  X(304, CUDA_ERROR_OPERATING_SYSTEM,               "an operating system call failed", "") \
  X(400, CUDA_ERROR_INVALID_HANDLE,                 "a handle is not valid, or belongs to a destroyed context", "") \
  X(500, CUDA_ERROR_NOT_FOUND,                      "the named symbol was not found", "") \
  X(600, CUDA_ERROR_NOT_READY,                      "the work has not finished yet", "synchronise first") \
  X(700, CUDA_ERROR_ILLEGAL_ADDRESS,                "a kernel accessed memory outside of any allocation", "check the kernel's index against the array's length; the context is unusable until it is reset") \
  X(701, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,        "the launch needs more registers or memory than the device has", "use a smaller block") \
  X(702, CUDA_ERROR_LAUNCH_TIMEOUT,                 "the kernel ran longer than the time limit", "") \
  X(709, CUDA_ERROR_CONTEXT_IS_DESTROYED,           "the context was destroyed", "") \
  X(710, CUDA_ERROR_ASSERT,                         "a device-side assert failed", "") \
  X(714, CUDA_ERROR_HARDWARE_STACK_ERROR,           "a kernel overran its stack", "") \
  X(715, CUDA_ERROR_ILLEGAL_INSTRUCTION,            "a kernel executed an illegal instruction", "") \
  X(716, CUDA_ERROR_MISALIGNED_ADDRESS,             "a kernel accessed memory at an address that is not aligned", "") \
  X(717, CUDA_ERROR_INVALID_ADDRESS_SPACE,          "an instruction accessed the wrong address space", "") \
  X(718, CUDA_ERROR_INVALID_PC,                     "a kernel jumped to an invalid address", "") \
  X(719, CUDA_ERROR_LAUNCH_FAILED,                  "a kernel failed while running", "the context is unusable until it is reset") \
  X(720, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,   "a cooperative launch has more blocks than can be resident", "use fewer blocks") \
  X(800, CUDA_ERROR_NOT_PERMITTED,                  "the operation is not permitted", "") \
  X(801, CUDA_ERROR_NOT_SUPPORTED,                  "the operation is not supported on this device or driver", "") \
  X(802, CUDA_ERROR_SYSTEM_NOT_READY,               "the system is not ready to run CUDA", "on a machine with NVSwitch, start the fabric manager of the driver's version") \
  X(803, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,         "the driver's kernel module and its libraries are of different versions", "reboot, or reload the kernel module") \
  X(804, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, "a forward-compatibility libcuda was loaded on a GPU that may not use it", "take the compat folder out of LD_LIBRARY_PATH, or update the driver") \
  X(805, CUDA_ERROR_MPS_CONNECTION_FAILED,          "the MPS server cannot be reached", "start the MPS daemon, or unset CUDA_MPS_PIPE_DIRECTORY") \
  X(900, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,     "the operation is not permitted while a stream is captured", "") \
  X(906, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,        "the operation would depend on the capturing legacy stream", "") \
  X(999, CUDA_ERROR_UNKNOWN,                        "an unknown internal error", "")
// clang-format on

enum Result : int {
#define TD_ROW(value, name, meaning, cure) name = value,
  TD_CUDA_RESULTS(TD_ROW)
#undef TD_ROW
};

// CUdevice_attribute.
enum DeviceAttribute : int {
  MAX_THREADS_PER_BLOCK = 1,
  MAX_BLOCK_DIM_X = 2,
  MAX_BLOCK_DIM_Y = 3,
  MAX_BLOCK_DIM_Z = 4,
  MAX_GRID_DIM_X = 5,
  MAX_GRID_DIM_Y = 6,
  MAX_GRID_DIM_Z = 7,
  MAX_SHARED_MEMORY_PER_BLOCK = 8,
  TOTAL_CONSTANT_MEMORY = 9,
  WARP_SIZE = 10,
  MAX_PITCH = 11,
  MAX_REGISTERS_PER_BLOCK = 12,
  CLOCK_RATE = 13,
  TEXTURE_ALIGNMENT = 14,
  GPU_OVERLAP = 15,
  MULTIPROCESSOR_COUNT = 16,
  KERNEL_EXEC_TIMEOUT = 17,
  INTEGRATED = 18,
  CAN_MAP_HOST_MEMORY = 19,
  COMPUTE_MODE = 20,
  CONCURRENT_KERNELS = 31,
  ECC_ENABLED = 32,
  PCI_BUS_ID = 33,
  PCI_DEVICE_ID = 34,
  MEMORY_CLOCK_RATE = 36,
  GLOBAL_MEMORY_BUS_WIDTH = 37,
  L2_CACHE_SIZE = 38,
  MAX_THREADS_PER_MULTIPROCESSOR = 39,
  ASYNC_ENGINE_COUNT = 40,
  UNIFIED_ADDRESSING = 41,
  PCI_DOMAIN_ID = 50,
  COMPUTE_CAPABILITY_MAJOR = 75,
  COMPUTE_CAPABILITY_MINOR = 76,
  STREAM_PRIORITIES_SUPPORTED = 78,
  MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81,
  MAX_REGISTERS_PER_MULTIPROCESSOR = 82,
  MANAGED_MEMORY = 83,
  COOPERATIVE_LAUNCH = 95,
  MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
  MAX_BLOCKS_PER_MULTIPROCESSOR = 106,
  RESERVED_SHARED_MEMORY_PER_BLOCK = 111,
  MEMORY_POOLS_SUPPORTED = 115,
};

// CUfunction_attribute.
enum FunctionAttribute : int {
  FUNC_MAX_THREADS_PER_BLOCK = 0,
  FUNC_SHARED_SIZE_BYTES = 1,
  FUNC_CONST_SIZE_BYTES = 2,
  FUNC_LOCAL_SIZE_BYTES = 3,
  FUNC_NUM_REGS = 4,
  FUNC_PTX_VERSION = 5,
  FUNC_BINARY_VERSION = 6,
  FUNC_CACHE_MODE_CA = 7,
  FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
  FUNC_PREFERRED_SHARED_MEMORY_CARVEOUT = 9,
};

// CUjit_option.
enum JitOption : int {
  JIT_INFO_LOG_BUFFER = 3,
  JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4,
  JIT_ERROR_LOG_BUFFER = 5,
  JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
};

// CUlimit.
enum Limit : int {
  LIMIT_STACK_SIZE = 0,
  LIMIT_PRINTF_FIFO_SIZE = 1,
  LIMIT_MALLOC_HEAP_SIZE = 2,
};

// CUpointer_attribute.
enum PointerAttribute : int {
  POINTER_CONTEXT = 1,
  POINTER_MEMORY_TYPE = 2,
  POINTER_DEVICE_POINTER = 3,
  POINTER_HOST_POINTER = 4,
  POINTER_IS_MANAGED = 8,
  POINTER_DEVICE_ORDINAL = 9,
};
enum MemoryType : int { MEMORYTYPE_HOST = 1, MEMORYTYPE_DEVICE = 2 };

// Flags.
enum StreamFlags : unsigned { STREAM_DEFAULT = 0, STREAM_NON_BLOCKING = 1 };
enum EventFlags : unsigned { EVENT_DEFAULT = 0, EVENT_BLOCKING_SYNC = 1, EVENT_DISABLE_TIMING = 2 };
enum HostAllocFlags : unsigned {
  HOSTALLOC_PORTABLE = 1,
  HOSTALLOC_DEVICEMAP = 2,
  HOSTALLOC_WRITECOMBINED = 4
};

// Markers of cuLaunchKernel's `extra` list.
inline void* const LAUNCH_PARAM_END = nullptr;
inline void* const LAUNCH_PARAM_BUFFER_POINTER = reinterpret_cast<void*>(1);
inline void* const LAUNCH_PARAM_BUFFER_SIZE = reinterpret_cast<void*>(2);

// Special stream handles.
inline CUstream const STREAM_LEGACY = reinterpret_cast<CUstream>(1);
inline CUstream const STREAM_PER_THREAD = reinterpret_cast<CUstream>(2);

}  // namespace td::cuda
