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
using CUlibrary = struct CUlib_st*;
using CUkernel = struct CUkern_st*;
using CUlinkState = struct CUlinkState_st*;
using CUarray = struct CUarray_st*;
using CUmipmappedArray = struct CUmipmappedArray_st*;
using CUtexObject = unsigned long long;
using CUsurfObject = unsigned long long;
using CUgraph = struct CUgraph_st*;
using CUgraphNode = struct CUgraphNode_st*;
using CUgraphExec = struct CUgraphExec_st*;
using CUuserObject = struct CUuserObject_st*;
using CUstreamCallback = void (*)(CUstream stream, CUresult status, void* user_data);
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

#include "base/cuda_structs.h"

namespace td::cuda {

// CUresult. One row: value, name, meaning, cure ("" where none is known).
// clang-format off
#define TD_CUDA_RESULTS(X) \
  X(0,   CUDA_SUCCESS,                              "no error", "") \
  X(1,   CUDA_ERROR_INVALID_VALUE,                  "an argument is outside of its allowed range", "") \
  X(2,   CUDA_ERROR_OUT_OF_MEMORY,                  "the device has not enough free memory", "free arrays that are no longer needed, or work in smaller pieces") \
  X(3,   CUDA_ERROR_NOT_INITIALIZED,                "the driver has not been initialised", "call cuInit first") \
  X(4,   CUDA_ERROR_DEINITIALIZED,                  "the driver is shutting down", "") \
  X(5,   CUDA_ERROR_PROFILER_DISABLED,              "the profiler is not in use", "") \
  X(6,   CUDA_ERROR_PROFILER_NOT_INITIALIZED,       "the profiler was not initialised (no longer returned)", "") \
  X(7,   CUDA_ERROR_PROFILER_ALREADY_STARTED,       "the profiler runs already (no longer returned)", "") \
  X(8,   CUDA_ERROR_PROFILER_ALREADY_STOPPED,       "the profiler does not run (no longer returned)", "") \
  X(34,  CUDA_ERROR_STUB_LIBRARY,                   "the loaded libcuda.so.1 is the toolkit's link-time stub, not a driver", "remove the toolkit's stubs folder from LD_LIBRARY_PATH") \
  X(36,  CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER,     "the call needs a newer driver", "update the driver") \
  X(46,  CUDA_ERROR_DEVICE_UNAVAILABLE,             "the device is held by another process, or its compute mode forbids this one", "wait for the other process, or ask for the default compute mode") \
  X(100, CUDA_ERROR_NO_DEVICE,                      "no CUDA-capable device was found", "check nvidia-smi and CUDA_VISIBLE_DEVICES") \
  X(101, CUDA_ERROR_INVALID_DEVICE,                 "there is no device with this ordinal", "") \
  X(102, CUDA_ERROR_DEVICE_NOT_LICENSED,            "the device has no licence", "") \
  X(200, CUDA_ERROR_INVALID_IMAGE,                  "the module image is not valid", "") \
  X(201, CUDA_ERROR_INVALID_CONTEXT,                "no context is current, or it was destroyed", "") \
  X(202, CUDA_ERROR_CONTEXT_ALREADY_CURRENT,        "the context is current already (no longer returned)", "") \
  X(205, CUDA_ERROR_MAP_FAILED,                     "memory could not be mapped", "") \
  X(206, CUDA_ERROR_UNMAP_FAILED,                   "memory could not be unmapped", "") \
  X(207, CUDA_ERROR_ARRAY_IS_MAPPED,                "the array is mapped and cannot be destroyed", "") \
  X(208, CUDA_ERROR_ALREADY_MAPPED,                 "the resource is mapped already", "") \
  X(209, CUDA_ERROR_NO_BINARY_FOR_GPU,              "the image holds no code for this device", "compile for this device's architecture") \
  X(210, CUDA_ERROR_ALREADY_ACQUIRED,               "the resource was acquired already", "") \
  X(211, CUDA_ERROR_NOT_MAPPED,                     "the resource is not mapped", "") \
  X(212, CUDA_ERROR_NOT_MAPPED_AS_ARRAY,            "the resource is not mapped as an array", "") \
  X(213, CUDA_ERROR_NOT_MAPPED_AS_POINTER,          "the resource is not mapped as a pointer", "") \
  X(214, CUDA_ERROR_ECC_UNCORRECTABLE,              "the device's memory reported an error that it cannot correct", "reset the GPU or reboot; replace it if this repeats") \
  X(215, CUDA_ERROR_UNSUPPORTED_LIMIT,              "the device does not have this limit", "") \
  X(216, CUDA_ERROR_CONTEXT_ALREADY_IN_USE,         "the context is used by another thread", "") \
  X(217, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,        "the devices cannot access each other", "copy through the host instead") \
  X(218, CUDA_ERROR_INVALID_PTX,                    "the PTX did not compile", "") \
  X(219, CUDA_ERROR_INVALID_GRAPHICS_CONTEXT,       "the graphics context is not valid", "") \
  X(220, CUDA_ERROR_NVLINK_UNCORRECTABLE,           "an NVLink error that cannot be corrected", "") \
  X(221, CUDA_ERROR_JIT_COMPILER_NOT_FOUND,         "the PTX compiler was not found", "") \
  X(222, CUDA_ERROR_UNSUPPORTED_PTX_VERSION,        "the PTX is newer than the driver", "update the driver, or use an older toolkit") \
  X(223, CUDA_ERROR_JIT_COMPILATION_DISABLED,       "PTX compilation is switched off", "unset CUDA_DISABLE_PTX_JIT") \
  X(224, CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY,      "the device does not support this execution affinity", "") \
  X(225, CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC,       "the code synchronises from the device, which is not supported", "") \
  X(226, CUDA_ERROR_CONTAINED,                      "an error of the GPU was contained", "start a new process") \
  X(300, CUDA_ERROR_INVALID_SOURCE,                 "the device kernel source is invalid", "") \
  X(301, CUDA_ERROR_FILE_NOT_FOUND,                 "the file was not found", "") \
  X(302, CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, "a shared object lacks a symbol", "") \
  X(303, CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,      "a shared object could not be initialised", "") \
  X(304, CUDA_ERROR_OPERATING_SYSTEM,               "an operating system call failed", "") \
  X(400, CUDA_ERROR_INVALID_HANDLE,                 "a handle is not valid, or belongs to a destroyed context", "") \
  X(401, CUDA_ERROR_ILLEGAL_STATE,                  "an object is not in the state that the operation needs", "") \
  X(402, CUDA_ERROR_LOSSY_QUERY,                    "the query would lose information", "") \
  X(500, CUDA_ERROR_NOT_FOUND,                      "the named symbol was not found", "") \
  X(600, CUDA_ERROR_NOT_READY,                      "the work has not finished yet", "synchronise first") \
  X(700, CUDA_ERROR_ILLEGAL_ADDRESS,                "a kernel accessed memory outside of any allocation", "check the kernel's index against the array's length; the context is unusable until it is reset") \
  X(701, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,        "the launch needs more registers or memory than the device has", "use a smaller block") \
  X(702, CUDA_ERROR_LAUNCH_TIMEOUT,                 "the kernel ran longer than the time limit", "") \
  X(703, CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING,  "the launch uses an incompatible texturing mode", "") \
  X(704, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED,    "peer access is enabled already", "") \
  X(705, CUDA_ERROR_PEER_ACCESS_NOT_ENABLED,        "peer access was not enabled", "") \
  X(708, CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE,         "the primary context is active already", "set its flags before it is retained") \
  X(709, CUDA_ERROR_CONTEXT_IS_DESTROYED,           "the context was destroyed", "") \
  X(710, CUDA_ERROR_ASSERT,                         "a device-side assert failed", "") \
  X(711, CUDA_ERROR_TOO_MANY_PEERS,                 "no room for another peer", "") \
  X(712, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "the host memory is registered already", "") \
  X(713, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,     "the host memory was not registered", "") \
  X(714, CUDA_ERROR_HARDWARE_STACK_ERROR,           "a kernel overran its stack", "") \
  X(715, CUDA_ERROR_ILLEGAL_INSTRUCTION,            "a kernel executed an illegal instruction", "") \
  X(716, CUDA_ERROR_MISALIGNED_ADDRESS,             "a kernel accessed memory at an address that is not aligned", "") \
  X(717, CUDA_ERROR_INVALID_ADDRESS_SPACE,          "an instruction accessed the wrong address space", "") \
  X(718, CUDA_ERROR_INVALID_PC,                     "a kernel jumped to an invalid address", "") \
  X(719, CUDA_ERROR_LAUNCH_FAILED,                  "a kernel failed while running", "the context is unusable until it is reset") \
  X(720, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,   "a cooperative launch has more blocks than can be resident", "use fewer blocks") \
  X(721, CUDA_ERROR_TENSOR_MEMORY_LEAK,             "a kernel ended without giving back tensor memory", "") \
  X(800, CUDA_ERROR_NOT_PERMITTED,                  "the operation is not permitted", "") \
  X(801, CUDA_ERROR_NOT_SUPPORTED,                  "the operation is not supported on this device or driver", "") \
  X(802, CUDA_ERROR_SYSTEM_NOT_READY,               "the system is not ready to run CUDA", "on a machine with NVSwitch, start the fabric manager of the driver's version") \
  X(803, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,         "the driver's kernel module and its libraries are of different versions", "reboot, or reload the kernel module") \
  X(804, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, "a forward-compatibility libcuda was loaded on a GPU that may not use it", "take the compat folder out of LD_LIBRARY_PATH, or update the driver") \
  X(805, CUDA_ERROR_MPS_CONNECTION_FAILED,          "the MPS server cannot be reached", "start the MPS daemon, or unset CUDA_MPS_PIPE_DIRECTORY") \
  X(806, CUDA_ERROR_MPS_RPC_FAILURE,                "the MPS server cannot be talked to", "") \
  X(807, CUDA_ERROR_MPS_SERVER_NOT_READY,           "the MPS server is not ready", "") \
  X(808, CUDA_ERROR_MPS_MAX_CLIENTS_REACHED,        "the MPS server has too many clients", "") \
  X(809, CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED,    "the device has too many MPS connections", "") \
  X(810, CUDA_ERROR_MPS_CLIENT_TERMINATED,          "the MPS server ended this client", "") \
  X(811, CUDA_ERROR_CDP_NOT_SUPPORTED,              "launches from kernels are not supported", "") \
  X(812, CUDA_ERROR_CDP_VERSION_MISMATCH,           "the device runtime has another version", "") \
  X(900, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,     "the operation is not permitted while a stream is captured", "") \
  X(901, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,     "an earlier error has spoilt the capture", "end the capture and begin again") \
  X(902, CUDA_ERROR_STREAM_CAPTURE_MERGE,           "the operation would join two captures", "") \
  X(903, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,       "the stream did not begin this capture", "end the capture in the stream that began it") \
  X(904, CUDA_ERROR_STREAM_CAPTURE_UNJOINED,        "a stream that was captured along was not joined", "let the first stream wait for an event of it") \
  X(905, CUDA_ERROR_STREAM_CAPTURE_ISOLATION,       "a dependency would reach out of the captured work", "") \
  X(906, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,        "the operation would depend on the capturing legacy stream", "") \
  X(907, CUDA_ERROR_CAPTURED_EVENT,                 "the event was recorded in a captured stream", "") \
  X(908, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,    "the capture was begun by another thread", "end it there, or capture in relaxed mode") \
  X(909, CUDA_ERROR_TIMEOUT,                        "a time limit has passed", "") \
  X(910, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,      "the executable graph cannot be changed in this way", "instantiate the graph anew") \
  X(911, CUDA_ERROR_EXTERNAL_DEVICE,                "a device outside of CUDA failed", "") \
  X(912, CUDA_ERROR_INVALID_CLUSTER_SIZE,           "the cluster has an invalid size", "") \
  X(913, CUDA_ERROR_FUNCTION_NOT_LOADED,            "the function is not loaded", "") \
  X(914, CUDA_ERROR_INVALID_RESOURCE_TYPE,          "the resource has the wrong type", "") \
  X(915, CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, "the resource is not configured for this", "") \
  X(916, CUDA_ERROR_KEY_ROTATION,                   "the key rotation of a protected GPU failed", "") \
  X(999, CUDA_ERROR_UNKNOWN,                        "an unknown internal error", "")
// clang-format on

enum Result : int {
#define TD_ROW(value, name, meaning, cure) name = value,
  TD_CUDA_RESULTS(TD_ROW)
#undef TD_ROW
};

}  // namespace td::cuda

#include "base/cuda_enums.h"
