// Types and constants of the CUDA runtime API, as its documentation names and numbers them. Plain
// C, so that C and C++ files that no CUDA compiler sees may include it.
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

#include <stddef.h>

#include "vector_types.h"

// Headers of programs ask by these names whether the runtime's types are known.
#define __DRIVER_TYPES_H__
#define __CUDA_RUNTIME_API_H__
#ifndef CUDART_VERSION
#define CUDART_VERSION 12040
#endif
#define CUDART_CB
// Callers may pass any number; the functions check it, and must be able to hold it.
#ifdef __cplusplus
#define TD_ANY_INT : int
#else
#define TD_ANY_INT
#endif

// ---- errors
// clang-format off
#define TD_RUNTIME_ERRORS(X) \
  X(0, cudaSuccess, "no error") \
  X(1, cudaErrorInvalidValue, "invalid argument") \
  X(2, cudaErrorMemoryAllocation, "out of memory") \
  X(3, cudaErrorInitializationError, "initialization error") \
  X(4, cudaErrorCudartUnloading, "driver shutting down") \
  X(5, cudaErrorProfilerDisabled, "profiler disabled")                                            \
  X(6, cudaErrorProfilerNotInitialized, "profiler not initialized")                               \
  X(7, cudaErrorProfilerAlreadyStarted, "profiler already started")                               \
  X(8, cudaErrorProfilerAlreadyStopped, "profiler already stopped")                               \
  X(9, cudaErrorInvalidConfiguration, "invalid configuration argument") \
  X(12, cudaErrorInvalidPitchValue, "invalid pitch argument") \
  X(13, cudaErrorInvalidSymbol, "invalid device symbol") \
  X(16, cudaErrorInvalidHostPointer, "invalid host pointer") \
  X(17, cudaErrorInvalidDevicePointer, "invalid device pointer") \
  X(18, cudaErrorInvalidTexture, "invalid texture reference") \
  X(20, cudaErrorInvalidChannelDescriptor, "invalid channel descriptor") \
  X(21, cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy") \
  X(26, cudaErrorInvalidFilterSetting, "invalid filter mode setting") \
  X(35, cudaErrorInsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version") \
  X(36, cudaErrorCallRequiresNewerDriver, "API call is not supported in the installed CUDA driver") \
  X(37, cudaErrorInvalidSurface, "invalid surface reference") \
  X(46, cudaErrorDevicesUnavailable, "all CUDA-capable devices are busy or unavailable") \
  X(52, cudaErrorMissingConfiguration, "missing configuration") \
  X(98, cudaErrorInvalidDeviceFunction, "invalid device function") \
  X(100, cudaErrorNoDevice, "no CUDA-capable device is detected") \
  X(101, cudaErrorInvalidDevice, "invalid device ordinal") \
  X(200, cudaErrorInvalidKernelImage, "device kernel image is invalid") \
  X(201, cudaErrorDeviceUninitialized, "invalid device context") \
  X(205, cudaErrorMapBufferObjectFailed, "mapping of buffer object failed") \
  X(209, cudaErrorNoKernelImageForDevice, "no kernel image is available for execution on the device") \
  X(214, cudaErrorECCUncorrectable, "uncorrectable ECC error encountered") \
  X(217, cudaErrorPeerAccessUnsupported, "peer access is not supported between these two devices") \
  X(218, cudaErrorInvalidPtx, "a PTX JIT compilation failed") \
  X(300, cudaErrorInvalidSource, "device kernel image is invalid") \
  X(301, cudaErrorFileNotFound, "file not found") \
  X(304, cudaErrorOperatingSystem, "OS call failed or operation not supported on this OS") \
  X(400, cudaErrorInvalidResourceHandle, "invalid resource handle") \
  X(401, cudaErrorIllegalState, "the operation cannot be performed in the present state") \
  X(500, cudaErrorSymbolNotFound, "named symbol not found") \
  X(600, cudaErrorNotReady, "device not ready") \
  X(700, cudaErrorIllegalAddress, "an illegal memory access was encountered") \
  X(701, cudaErrorLaunchOutOfResources, "too many resources requested for launch") \
  X(702, cudaErrorLaunchTimeout, "the launch timed out and was terminated") \
  X(704, cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled") \
  X(705, cudaErrorPeerAccessNotEnabled, "peer access has not been enabled") \
  X(708, cudaErrorSetOnActiveProcess, "cannot set while device is active in this process") \
  X(709, cudaErrorContextIsDestroyed, "context is destroyed") \
  X(710, cudaErrorAssert, "device-side assert triggered") \
  X(712, cudaErrorHostMemoryAlreadyRegistered, "part or all of the requested memory range is already mapped") \
  X(713, cudaErrorHostMemoryNotRegistered, "pointer does not correspond to a registered memory region") \
  X(714, cudaErrorHardwareStackError, "hardware stack error") \
  X(715, cudaErrorIllegalInstruction, "an illegal instruction was encountered") \
  X(716, cudaErrorMisalignedAddress, "misaligned address") \
  X(717, cudaErrorInvalidAddressSpace, "operation not supported on global/shared address space") \
  X(718, cudaErrorInvalidPc, "invalid program counter") \
  X(719, cudaErrorLaunchFailure, "unspecified launch failure") \
  X(720, cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch") \
  X(800, cudaErrorNotPermitted, "operation not permitted") \
  X(801, cudaErrorNotSupported, "operation not supported") \
  X(802, cudaErrorSystemNotReady, "system not yet initialized") \
  X(803, cudaErrorSystemDriverMismatch, "system has unsupported display driver / cuda driver combination") \
  X(900, cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing") \
  X(901, cudaErrorStreamCaptureInvalidated, "operation failed due to a previous error during capture") \
  X(902, cudaErrorStreamCaptureMerge, "operation would result in a merge of separate capture sequences") \
  X(903, cudaErrorStreamCaptureUnmatched, "capture was not ended in the same stream as it began") \
  X(904, cudaErrorStreamCaptureUnjoined, "capturing stream has unjoined work") \
  X(905, cudaErrorStreamCaptureIsolation, "dependency created on uncaptured work in another stream") \
  X(906, cudaErrorStreamCaptureImplicit, "operation would make the legacy stream depend on a capturing blocking stream") \
  X(907, cudaErrorCapturedEvent, "operation not permitted on an event last recorded in a capturing stream") \
  X(908, cudaErrorStreamCaptureWrongThread, "attempt to terminate a thread-local capture sequence from another thread") \
  X(910, cudaErrorGraphExecUpdateFailure, "the graph update was not performed because it included changes which violated constraints") \
  X(999, cudaErrorUnknown, "unknown error") \
  X(19, cudaErrorInvalidTextureBinding, "texture is not bound to a pointer") \
  X(22, cudaErrorAddressOfConstant, "invalid use of address of constant") \
  X(23, cudaErrorTextureFetchFailed, "fetch from texture failed") \
  X(24, cudaErrorTextureNotBound, "cannot fetch from a texture that is not bound") \
  X(25, cudaErrorSynchronizationError, "incorrect use of synchronization") \
  X(27, cudaErrorInvalidNormSetting, "linear filtering not supported for non-float type") \
  X(28, cudaErrorMixedDeviceExecution, "device emulation mode and device execution mode cannot be mixed") \
  X(31, cudaErrorNotYetImplemented, "feature not yet implemented") \
  X(32, cudaErrorMemoryValueTooLarge, "memory size or pointer value too large") \
  X(43, cudaErrorDuplicateVariableName, "duplicate global variable looked up by string name") \
  X(44, cudaErrorDuplicateTextureName, "duplicate texture looked up by string name") \
  X(45, cudaErrorDuplicateSurfaceName, "duplicate surface looked up by string name") \
  X(49, cudaErrorIncompatibleDriverContext, "incompatible driver context") \
  X(53, cudaErrorPriorLaunchFailure, "unspecified launch failure in prior launch") \
  X(65, cudaErrorLaunchMaxDepthExceeded, "launch would exceed maximum depth of nested launches") \
  X(66, cudaErrorLaunchFileScopedTex, "launch failed because kernel uses unsupported, file-scoped textures") \
  X(67, cudaErrorLaunchFileScopedSurf, "launch failed because kernel uses unsupported, file-scoped surfaces") \
  X(68, cudaErrorSyncDepthExceeded, "synchronization depth exceeded") \
  X(69, cudaErrorLaunchPendingCountExceeded, "launch would exceed the limit of pending launches") \
  X(102, cudaErrorDeviceNotLicensed, "the device has no valid licence") \
  X(127, cudaErrorStartupFailure, "startup failure") \
  X(206, cudaErrorUnmapBufferObjectFailed, "unmapping of buffer object failed") \
  X(207, cudaErrorArrayIsMapped, "array is mapped") \
  X(208, cudaErrorAlreadyMapped, "resource already mapped") \
  X(210, cudaErrorAlreadyAcquired, "resource already acquired") \
  X(211, cudaErrorNotMapped, "resource not mapped") \
  X(212, cudaErrorNotMappedAsArray, "resource not mapped as array") \
  X(213, cudaErrorNotMappedAsPointer, "resource not mapped as pointer") \
  X(215, cudaErrorUnsupportedLimit, "limit is not supported on this architecture") \
  X(216, cudaErrorDeviceAlreadyInUse, "exclusive-thread device already in use by a different thread") \
  X(219, cudaErrorInvalidGraphicsContext, "invalid graphics context") \
  X(220, cudaErrorNvlinkUncorrectable, "uncorrectable NVLink error detected") \
  X(221, cudaErrorJitCompilerNotFound, "PTX JIT compiler library not found") \
  X(222, cudaErrorUnsupportedPtxVersion, "the PTX was compiled with an unsupported toolchain") \
  X(302, cudaErrorSharedObjectSymbolNotFound, "shared object symbol not found") \
  X(303, cudaErrorSharedObjectInitFailed, "shared object initialization failed") \
  X(703, cudaErrorLaunchIncompatibleTexturing, "launch uses an incompatible texturing mode") \
  X(711, cudaErrorTooManyPeers, "peer mapping resources exhausted") \
  X(10000, cudaErrorApiFailureBase, "api failure base")
// clang-format on
enum cudaError TD_ANY_INT {
#define TD_ROW(value, name, text) name = value,
  TD_RUNTIME_ERRORS(TD_ROW)
#undef TD_ROW
};
typedef enum cudaError cudaError_t;

// ---- handles
typedef struct CUstream_st* cudaStream_t;
typedef struct CUevent_st* cudaEvent_t;
typedef struct CUfunc_st* cudaFunction_t;
typedef struct CUkern_st* cudaKernel_t;
typedef struct CUgraph_st* cudaGraph_t;
typedef struct CUgraphExec_st* cudaGraphExec_t;
typedef struct CUgraphNode_st* cudaGraphNode_t;
typedef struct CUmemPoolHandle_st* cudaMemPool_t;
typedef struct cudaArray* cudaArray_t;
typedef const struct cudaArray* cudaArray_const_t;
typedef struct cudaMipmappedArray* cudaMipmappedArray_t;
typedef const struct cudaMipmappedArray* cudaMipmappedArray_const_t;
typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
typedef void (*cudaHostFn_t)(void* userData);
typedef void (*cudaStreamCallback_t)(cudaStream_t stream, cudaError_t status, void* userData);
#define cudaStreamLegacy ((cudaStream_t)0x1)
#define cudaStreamPerThread ((cudaStream_t)0x2)

// ---- flags
#define cudaHostAllocDefault 0x00
#define cudaHostAllocPortable 0x01
#define cudaHostAllocMapped 0x02
#define cudaHostAllocWriteCombined 0x04
#define cudaHostRegisterDefault 0x00
#define cudaHostRegisterPortable 0x01
#define cudaHostRegisterMapped 0x02
#define cudaHostRegisterIoMemory 0x04
#define cudaHostRegisterReadOnly 0x08
#define cudaPeerAccessDefault 0x00
#define cudaStreamDefault 0x00
#define cudaStreamNonBlocking 0x01
#define cudaEventDefault 0x00
#define cudaEventBlockingSync 0x01
#define cudaEventDisableTiming 0x02
#define cudaEventInterprocess 0x04
#define cudaEventRecordDefault 0x00
#define cudaEventRecordExternal 0x01
#define cudaEventWaitDefault 0x00
#define cudaDeviceScheduleAuto 0x00
#define cudaDeviceScheduleSpin 0x01
#define cudaDeviceScheduleYield 0x02
#define cudaDeviceScheduleBlockingSync 0x04
#define cudaDeviceBlockingSync 0x04
#define cudaDeviceMapHost 0x08
#define cudaDeviceLmemResizeToMax 0x10
#define cudaArrayDefault 0x00
#define cudaArrayLayered 0x01
#define cudaArraySurfaceLoadStore 0x02
#define cudaArrayCubemap 0x04
#define cudaArrayTextureGather 0x08
#define cudaMemAttachGlobal 0x01
#define cudaMemAttachHost 0x02
#define cudaMemAttachSingle 0x04
#define cudaOccupancyDefault 0x00
#define cudaOccupancyDisableCachingOverride 0x01
#define cudaCpuDeviceId ((int)-1)
#define cudaInvalidDeviceId ((int)-2)

enum cudaMemcpyKind TD_ANY_INT {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4
};
enum cudaMemoryType TD_ANY_INT {
  cudaMemoryTypeUnregistered = 0,
  cudaMemoryTypeHost = 1,
  cudaMemoryTypeDevice = 2,
  cudaMemoryTypeManaged = 3
};
enum cudaMemoryAdvise TD_ANY_INT {
  cudaMemAdviseSetReadMostly = 1,
  cudaMemAdviseUnsetReadMostly = 2,
  cudaMemAdviseSetPreferredLocation = 3,
  cudaMemAdviseUnsetPreferredLocation = 4,
  cudaMemAdviseSetAccessedBy = 5,
  cudaMemAdviseUnsetAccessedBy = 6
};
enum cudaFuncCache TD_ANY_INT {
  cudaFuncCachePreferNone = 0,
  cudaFuncCachePreferShared = 1,
  cudaFuncCachePreferL1 = 2,
  cudaFuncCachePreferEqual = 3
};
enum cudaSharedMemConfig TD_ANY_INT {
  cudaSharedMemBankSizeDefault = 0,
  cudaSharedMemBankSizeFourByte = 1,
  cudaSharedMemBankSizeEightByte = 2
};
enum cudaSharedCarveout TD_ANY_INT {
  cudaSharedmemCarveoutDefault = -1,
  cudaSharedmemCarveoutMaxShared = 100,
  cudaSharedmemCarveoutMaxL1 = 0
};
enum cudaComputeMode TD_ANY_INT {
  cudaComputeModeDefault = 0,
  cudaComputeModeExclusive = 1,
  cudaComputeModeProhibited = 2,
  cudaComputeModeExclusiveProcess = 3
};
enum cudaLimit TD_ANY_INT {
  cudaLimitStackSize = 0,
  cudaLimitPrintfFifoSize = 1,
  cudaLimitMallocHeapSize = 2,
  cudaLimitDevRuntimeSyncDepth = 3,
  cudaLimitDevRuntimePendingLaunchCount = 4,
  cudaLimitMaxL2FetchGranularity = 5,
  cudaLimitPersistingL2CacheSize = 6
};
enum cudaFuncAttribute TD_ANY_INT {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,
  cudaFuncAttributeClusterDimMustBeSet = 10,
  cudaFuncAttributeRequiredClusterWidth = 11,
  cudaFuncAttributeRequiredClusterHeight = 12,
  cudaFuncAttributeRequiredClusterDepth = 13,
  cudaFuncAttributeNonPortableClusterSizeAllowed = 14
};

// ---- structures
enum cudaChannelFormatKind TD_ANY_INT {
  cudaChannelFormatKindSigned = 0,
  cudaChannelFormatKindUnsigned = 1,
  cudaChannelFormatKindFloat = 2,
  cudaChannelFormatKindNone = 3
};
struct cudaChannelFormatDesc {
  int x, y, z, w;
  enum cudaChannelFormatKind f;
};

// ---- textures
enum cudaTextureAddressMode TD_ANY_INT {
  cudaAddressModeWrap = 0,
  cudaAddressModeClamp = 1,
  cudaAddressModeMirror = 2,
  cudaAddressModeBorder = 3
};
enum cudaTextureFilterMode TD_ANY_INT { cudaFilterModePoint = 0, cudaFilterModeLinear = 1 };
enum cudaTextureReadMode TD_ANY_INT {
  cudaReadModeElementType = 0,
  cudaReadModeNormalizedFloat = 1
};
enum cudaSurfaceFormatMode TD_ANY_INT { cudaFormatModeForced = 0, cudaFormatModeAuto = 1 };
enum cudaResourceType TD_ANY_INT {
  cudaResourceTypeArray = 0,
  cudaResourceTypeMipmappedArray = 1,
  cudaResourceTypeLinear = 2,
  cudaResourceTypePitch2D = 3
};
struct cudaResourceDesc {
  enum cudaResourceType resType;
  union {
    struct {
      cudaArray_t array;
    } array;
    struct {
      cudaMipmappedArray_t mipmap;
    } mipmap;
    struct {
      void* devPtr;
      struct cudaChannelFormatDesc desc;
      size_t sizeInBytes;
    } linear;
    struct {
      void* devPtr;
      struct cudaChannelFormatDesc desc;
      size_t width, height, pitchInBytes;
    } pitch2D;
  } res;
};
struct cudaTextureDesc {
  enum cudaTextureAddressMode addressMode[3];
  enum cudaTextureFilterMode filterMode;
  enum cudaTextureReadMode readMode;
  int sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned maxAnisotropy;
  enum cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  int disableTrilinearOptimization, seamlessCubemap;
};
// One, two and four channels of each type, from 1 on.
enum cudaResourceViewFormat TD_ANY_INT {
  cudaResViewFormatNone = 0,
  cudaResViewFormatUnsignedChar1,
  cudaResViewFormatUnsignedChar2,
  cudaResViewFormatUnsignedChar4,
  cudaResViewFormatSignedChar1,
  cudaResViewFormatSignedChar2,
  cudaResViewFormatSignedChar4,
  cudaResViewFormatUnsignedShort1,
  cudaResViewFormatUnsignedShort2,
  cudaResViewFormatUnsignedShort4,
  cudaResViewFormatSignedShort1,
  cudaResViewFormatSignedShort2,
  cudaResViewFormatSignedShort4,
  cudaResViewFormatUnsignedInt1,
  cudaResViewFormatUnsignedInt2,
  cudaResViewFormatUnsignedInt4,
  cudaResViewFormatSignedInt1,
  cudaResViewFormatSignedInt2,
  cudaResViewFormatSignedInt4,
  cudaResViewFormatHalf1,
  cudaResViewFormatHalf2,
  cudaResViewFormatHalf4,
  cudaResViewFormatFloat1,
  cudaResViewFormatFloat2,
  cudaResViewFormatFloat4
};
struct cudaResourceViewDesc {
  enum cudaResourceViewFormat format;
  size_t width, height, depth;
  unsigned firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer;
};

struct cudaFuncAttributes {
  size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA;
  int maxDynamicSharedSizeBytes, preferredShmemCarveout;
};
struct cudaPointerAttributes {
  enum cudaMemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
};
struct cudaPitchedPtr {
  void* ptr;
  size_t pitch, xsize, ysize;
};
struct cudaExtent {
  size_t width, height, depth;
};
struct cudaPos {
  size_t x, y, z;
};
struct cudaMemcpy3DParms {
  cudaArray_t srcArray;
  struct cudaPos srcPos;
  struct cudaPitchedPtr srcPtr;
  cudaArray_t dstArray;
  struct cudaPos dstPos;
  struct cudaPitchedPtr dstPtr;
  struct cudaExtent extent;
  enum cudaMemcpyKind kind;
};
typedef struct cudaUUID_t {
  char bytes[16];
} cudaUUID_t;

struct cudaDeviceProp {
  char name[256];
  cudaUUID_t uuid;
  char luid[8];
  unsigned luidDeviceNodeMask;
  size_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize;
  size_t memPitch;
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
  size_t totalConstMem;
  int major, minor;
  size_t textureAlignment, texturePitchAlignment;
  int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory;
  int computeMode;
  int maxTexture1D, maxTexture1DMipmap, maxTexture1DLinear, maxTexture2D[2], maxTexture2DMipmap[2];
  int maxTexture2DLinear[3], maxTexture2DGather[2], maxTexture3D[3], maxTexture3DAlt[3];
  int maxTextureCubemap, maxTexture1DLayered[2], maxTexture2DLayered[3];
  int maxTextureCubemapLayered[2], maxSurface1D, maxSurface2D[2], maxSurface3D[3];
  int maxSurface1DLayered[2], maxSurface2DLayered[3], maxSurfaceCubemap;
  int maxSurfaceCubemapLayered[2];
  size_t surfaceAlignment;
  int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver;
  int asyncEngineCount, unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize;
  int persistingL2CacheMaxSize, maxThreadsPerMultiProcessor, streamPrioritiesSupported;
  int globalL1CacheSupported, localL1CacheSupported;
  size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID;
  int hostNativeAtomicSupported, singleToDoublePrecisionPerfRatio, pageableMemoryAccess;
  int concurrentManagedAccess, computePreemptionSupported, canUseHostPointerForRegisteredMem;
  int cooperativeLaunch, cooperativeMultiDeviceLaunch;
  size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost;
  int maxBlocksPerMultiProcessor, accessPolicyMaxWindowSize;
  size_t reservedSharedMemPerBlock;
  int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported;
  int timelineSemaphoreInteropSupported, memoryPoolsSupported, gpuDirectRDMASupported;
  unsigned gpuDirectRDMAFlushWritesOptions;
  int gpuDirectRDMAWritesOrdering;
  unsigned memoryPoolSupportedHandleTypes;
  int deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch, unifiedFunctionPointers;
};

// Numbers are the driver's.
enum cudaDeviceAttr TD_ANY_INT {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxBlockDimX = 2,
  cudaDevAttrMaxBlockDimY = 3,
  cudaDevAttrMaxBlockDimZ = 4,
  cudaDevAttrMaxGridDimX = 5,
  cudaDevAttrMaxGridDimY = 6,
  cudaDevAttrMaxGridDimZ = 7,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrTotalConstantMemory = 9,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrMaxPitch = 11,
  cudaDevAttrMaxRegistersPerBlock = 12,
  cudaDevAttrClockRate = 13,
  cudaDevAttrTextureAlignment = 14,
  cudaDevAttrGpuOverlap = 15,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrKernelExecTimeout = 17,
  cudaDevAttrIntegrated = 18,
  cudaDevAttrCanMapHostMemory = 19,
  cudaDevAttrComputeMode = 20,
  cudaDevAttrMaxTexture1DWidth = 21,
  cudaDevAttrMaxTexture2DWidth = 22,
  cudaDevAttrMaxTexture2DHeight = 23,
  cudaDevAttrMaxTexture3DWidth = 24,
  cudaDevAttrMaxTexture3DHeight = 25,
  cudaDevAttrMaxTexture3DDepth = 26,
  cudaDevAttrSurfaceAlignment = 30,
  cudaDevAttrConcurrentKernels = 31,
  cudaDevAttrEccEnabled = 32,
  cudaDevAttrPciBusId = 33,
  cudaDevAttrPciDeviceId = 34,
  cudaDevAttrTccDriver = 35,
  cudaDevAttrMemoryClockRate = 36,
  cudaDevAttrGlobalMemoryBusWidth = 37,
  cudaDevAttrL2CacheSize = 38,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrAsyncEngineCount = 40,
  cudaDevAttrUnifiedAddressing = 41,
  cudaDevAttrPciDomainId = 50,
  cudaDevAttrTexturePitchAlignment = 51,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrStreamPrioritiesSupported = 78,
  cudaDevAttrGlobalL1CacheSupported = 79,
  cudaDevAttrLocalL1CacheSupported = 80,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrMaxRegistersPerMultiprocessor = 82,
  cudaDevAttrManagedMemory = 83,
  cudaDevAttrIsMultiGpuBoard = 84,
  cudaDevAttrMultiGpuBoardGroupID = 85,
  cudaDevAttrHostNativeAtomicSupported = 86,
  cudaDevAttrSingleToDoublePrecisionPerfRatio = 87,
  cudaDevAttrPageableMemoryAccess = 88,
  cudaDevAttrConcurrentManagedAccess = 89,
  cudaDevAttrComputePreemptionSupported = 90,
  cudaDevAttrCanUseHostPointerForRegisteredMem = 91,
  cudaDevAttrCooperativeLaunch = 95,
  cudaDevAttrCooperativeMultiDeviceLaunch = 96,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
  cudaDevAttrCanFlushRemoteWrites = 98,
  cudaDevAttrHostRegisterSupported = 99,
  cudaDevAttrPageableMemoryAccessUsesHostPageTables = 100,
  cudaDevAttrDirectManagedMemAccessFromHost = 101,
  cudaDevAttrMaxBlocksPerMultiprocessor = 106,
  cudaDevAttrMaxPersistingL2CacheSize = 108,
  cudaDevAttrMaxAccessPolicyWindowSize = 109,
  cudaDevAttrReservedSharedMemoryPerBlock = 111,
  cudaDevAttrSparseCudaArraySupported = 112,
  cudaDevAttrHostRegisterReadOnlySupported = 113,
  cudaDevAttrMemoryPoolsSupported = 115,
  cudaDevAttrGPUDirectRDMASupported = 116,
  cudaDevAttrClusterLaunch = 120
};
enum cudaDeviceP2PAttr TD_ANY_INT {
  cudaDevP2PAttrPerformanceRank = 1,
  cudaDevP2PAttrAccessSupported = 2,
  cudaDevP2PAttrNativeAtomicSupported = 3,
  cudaDevP2PAttrCudaArrayAccessSupported = 4
};

// ---- memory pools
enum cudaMemPoolAttr TD_ANY_INT {
  cudaMemPoolReuseFollowEventDependencies = 1,
  cudaMemPoolReuseAllowOpportunistic = 2,
  cudaMemPoolReuseAllowInternalDependencies = 3,
  cudaMemPoolAttrReleaseThreshold = 4,
  cudaMemPoolAttrReservedMemCurrent = 5,
  cudaMemPoolAttrReservedMemHigh = 6,
  cudaMemPoolAttrUsedMemCurrent = 7,
  cudaMemPoolAttrUsedMemHigh = 8
};
enum cudaMemLocationType TD_ANY_INT {
  cudaMemLocationTypeInvalid = 0,
  cudaMemLocationTypeDevice = 1,
  cudaMemLocationTypeHost = 2,
  cudaMemLocationTypeHostNuma = 3,
  cudaMemLocationTypeHostNumaCurrent = 4
};
struct cudaMemLocation {
  enum cudaMemLocationType type;
  int id;
};
enum cudaMemAccessFlags TD_ANY_INT {
  cudaMemAccessFlagsProtNone = 0,
  cudaMemAccessFlagsProtRead = 1,
  cudaMemAccessFlagsProtReadWrite = 3
};
struct cudaMemAccessDesc {
  struct cudaMemLocation location;
  enum cudaMemAccessFlags flags;
};
enum cudaMemAllocationType TD_ANY_INT {
  cudaMemAllocationTypeInvalid = 0,
  cudaMemAllocationTypePinned = 1
};
enum cudaMemAllocationHandleType TD_ANY_INT {
  cudaMemHandleTypeNone = 0,
  cudaMemHandleTypePosixFileDescriptor = 1,
  cudaMemHandleTypeWin32 = 2,
  cudaMemHandleTypeWin32Kmt = 4,
  cudaMemHandleTypeFabric = 8
};
struct cudaMemPoolProps {
  enum cudaMemAllocationType allocType;
  enum cudaMemAllocationHandleType handleTypes;
  struct cudaMemLocation location;
  void* win32SecurityAttributes;
  size_t maxSize;
  unsigned short usage;
  unsigned char reserved[54];
};

// ---- streams, graphs
enum cudaStreamCaptureMode TD_ANY_INT {
  cudaStreamCaptureModeGlobal = 0,
  cudaStreamCaptureModeThreadLocal = 1,
  cudaStreamCaptureModeRelaxed = 2
};
enum cudaStreamCaptureStatus TD_ANY_INT {
  cudaStreamCaptureStatusNone = 0,
  cudaStreamCaptureStatusActive = 1,
  cudaStreamCaptureStatusInvalidated = 2
};
enum cudaGraphInstantiateFlags TD_ANY_INT { cudaGraphInstantiateFlagAutoFreeOnLaunch = 1 };
enum cudaGraphExecUpdateResult TD_ANY_INT {
  cudaGraphExecUpdateSuccess = 0,
  cudaGraphExecUpdateError = 1,
  cudaGraphExecUpdateErrorTopologyChanged = 2
};

typedef struct cudaGraphExecUpdateResultInfo_st {
  enum cudaGraphExecUpdateResult result;
  cudaGraphNode_t errorNode, errorFromNode;
} cudaGraphExecUpdateResultInfo;
struct cudaKernelNodeParams {
  void* func;
  dim3 gridDim, blockDim;
  unsigned sharedMemBytes;
  void** kernelParams;
  void** extra;
};
struct cudaMemsetParams {
  void* dst;
  size_t pitch;
  unsigned value, elementSize;
  size_t width, height;
};
struct cudaHostNodeParams {
  cudaHostFn_t fn;
  void* userData;
};

// ---- launches with a configuration
enum cudaLaunchAttributeID TD_ANY_INT {
  cudaLaunchAttributeIgnore = 0,
  cudaLaunchAttributeAccessPolicyWindow = 1,
  cudaLaunchAttributeCooperative = 2,
  cudaLaunchAttributeSynchronizationPolicy = 3,
  cudaLaunchAttributeClusterDimension = 4,
  cudaLaunchAttributeClusterSchedulingPolicyPreference = 5,
  cudaLaunchAttributeProgrammaticStreamSerialization = 6,
  cudaLaunchAttributeProgrammaticEvent = 7,
  cudaLaunchAttributePriority = 8
};
enum cudaAccessProperty TD_ANY_INT {
  cudaAccessPropertyNormal = 0,
  cudaAccessPropertyStreaming = 1,
  cudaAccessPropertyPersisting = 2
};
struct cudaAccessPolicyWindow {
  void* base_ptr;
  size_t num_bytes;
  float hitRatio;
  enum cudaAccessProperty hitProp, missProp;
};
enum cudaSynchronizationPolicy TD_ANY_INT {
  cudaSyncPolicyAuto = 1,
  cudaSyncPolicySpin = 2,
  cudaSyncPolicyYield = 3,
  cudaSyncPolicyBlockingSync = 4
};
typedef union cudaLaunchAttributeValue {
  char pad[64];
  struct cudaAccessPolicyWindow accessPolicyWindow;
  enum cudaSynchronizationPolicy syncPolicy;
  int cooperative;
  struct {
    unsigned x, y, z;
  } clusterDim;
  int programmaticStreamSerializationAllowed;
  int priority;
} cudaLaunchAttributeValue;
#define cudaStreamAttrID cudaLaunchAttributeID
#define cudaStreamAttrValue cudaLaunchAttributeValue
#define cudaStreamAttributeAccessPolicyWindow cudaLaunchAttributeAccessPolicyWindow
#define cudaStreamAttributeSynchronizationPolicy cudaLaunchAttributeSynchronizationPolicy
#define cudaStreamAttributePriority cudaLaunchAttributePriority
typedef struct cudaLaunchAttribute {
  enum cudaLaunchAttributeID id;
  char pad[4];
  cudaLaunchAttributeValue val;
} cudaLaunchAttribute;
typedef struct cudaLaunchConfig_st {
  dim3 gridDim;
  dim3 blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
} cudaLaunchConfig_t;
