// Initialisation, error texts, devices.
#include <cstdio>
#include <cstring>
#include <string>

#include "base/hash.h"
#include "softdev/api/guard.h"
#include "softdev/api/soft_api.h"
#include "softdev/run/memory.h"

namespace td::softdev {

std::atomic<bool> initialized{false};

namespace {

using namespace td::cuda;

struct ErrorRow {
  CUresult value;
  const char* name;
  const char* meaning;
};
constexpr ErrorRow kErrors[] = {
#define TD_ROW(value, name, meaning, cure) {value, #name, meaning},
    TD_CUDA_RESULTS(TD_ROW)
#undef TD_ROW
};

CUresult error_text(CUresult error, const char** text, const char* ErrorRow::* column) {
  if (!text) return CUDA_ERROR_INVALID_VALUE;
  *text = nullptr;
  for (const ErrorRow& row : kErrors)
    if (row.value == error) *text = row.*column;
  return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// Cuts to the buffer, as CUDA does, with a NUL at its end.
CUresult copy_text(const std::string& text, char* to, int length) {
  if (!to || length <= 0) return CUDA_ERROR_INVALID_VALUE;
  std::snprintf(to, static_cast<std::size_t>(length), "%s", text.c_str());
  return CUDA_SUCCESS;
}

}  // namespace

}  // namespace td::softdev

using namespace td::softdev;
using namespace td::cuda;

extern "C" {

CUresult td_soft_cuInit(unsigned flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  initialized = true;
  return CUDA_SUCCESS;
}

CUresult td_soft_cuDriverGetVersion(int* version) {
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  *version = kDriverVersion;
  return CUDA_SUCCESS;
}

CUresult td_soft_cuGetErrorName(CUresult error, const char** text) {
  return error_text(error, text, &ErrorRow::name);
}
CUresult td_soft_cuGetErrorString(CUresult error, const char** text) {
  return error_text(error, text, &ErrorRow::meaning);
}

CUresult td_soft_cuDeviceGet(CUdevice* device, int ordinal) {
  return guarded_call([&]() -> CUresult {
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    if (!valid_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuDeviceGetCount(int* count) {
  return guarded_call([&]() -> CUresult {
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    *count = device_count();
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuDeviceGetName(char* name, int length, CUdevice device) {
  return guarded_call([&]() -> CUresult {
    if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    return copy_text(device_name(), name, length);
  });
}

CUresult td_soft_cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  return guarded_call([&]() -> CUresult {
    if (!uuid) return CUDA_ERROR_INVALID_VALUE;
    if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    td::base::Hash128 hash =
        td::base::Hasher().add(device_name()).add(static_cast<std::uint64_t>(device)).finish();
    static_assert(sizeof hash == sizeof uuid->bytes);
    std::memcpy(uuid->bytes, &hash, sizeof hash);
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice device) {
  return guarded_call([&]() -> CUresult {
    if (!bytes) return CUDA_ERROR_INVALID_VALUE;
    if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    *bytes = Arena::get().total(device);
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return guarded_call([&]() -> CUresult {
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    if (attribute == PCI_BUS_ID) return *value = device, CUDA_SUCCESS;
    return device_attribute(attribute, value) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

// No PCI device stands behind it: domain ffff keeps it apart from those that exist.
CUresult td_soft_cuDeviceGetPCIBusId(char* id, int length, CUdevice device) {
  return guarded_call([&]() -> CUresult {
    if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    char text[16];
    std::snprintf(text, sizeof text, "ffff:%02x:00.0", static_cast<unsigned>(device) & 0xff);
    return copy_text(text, id, length);
  });
}

CUresult td_soft_cuDeviceGetByPCIBusId(CUdevice* device, const char* id) {
  return guarded_call([&]() -> CUresult {
    if (!device || !id) return CUDA_ERROR_INVALID_VALUE;
    unsigned domain = 0, bus = 0, slot = 0, function = 0;
    if (std::sscanf(id, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3)
      return CUDA_ERROR_INVALID_VALUE;
    if (domain != 0xffff || slot != 0 || function != 0 || !valid_device(static_cast<int>(bus)))
      return CUDA_ERROR_INVALID_DEVICE;
    *device = static_cast<int>(bus);
    return CUDA_SUCCESS;
  });
}

// Windows's name for an adapter.
CUresult td_soft_cuDeviceGetLuid(char* luid, unsigned* node_mask, CUdevice device) {
  return guarded_call([&]() -> CUresult {
    if (!luid || !node_mask) return CUDA_ERROR_INVALID_VALUE;
    return valid_device(device) ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_DEVICE;
  });
}

CUresult td_soft_cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  return guarded_call([&]() -> CUresult {
    if (!major || !minor) return CUDA_ERROR_INVALID_VALUE;
    if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    device_attribute(COMPUTE_CAPABILITY_MAJOR, major);
    device_attribute(COMPUTE_CAPABILITY_MINOR, minor);
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuDeviceGetProperties(CUdevprop* out, CUdevice device) {
  return guarded_call([&]() -> CUresult {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    auto get = [](int attribute) {
      int value = 0;
      device_attribute(attribute, &value);
      return value;
    };
    *out = {get(MAX_THREADS_PER_BLOCK),
            {get(MAX_BLOCK_DIM_X), get(MAX_BLOCK_DIM_Y), get(MAX_BLOCK_DIM_Z)},
            {get(MAX_GRID_DIM_X), get(MAX_GRID_DIM_Y), get(MAX_GRID_DIM_Z)},
            get(MAX_SHARED_MEMORY_PER_BLOCK),
            get(TOTAL_CONSTANT_MEMORY),
            get(WARP_SIZE),
            get(MAX_PITCH),
            get(MAX_REGISTERS_PER_BLOCK),
            get(CLOCK_RATE),
            get(TEXTURE_ALIGNMENT)};
    return CUDA_SUCCESS;
  });
}

// No part of a device can be set aside.
CUresult td_soft_cuDeviceGetExecAffinitySupport(int* supported, int type, CUdevice device) {
  return guarded_call([&]() -> CUresult {
    if (!supported || type != 0) return CUDA_ERROR_INVALID_VALUE;
    if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    *supported = 0;
    return CUDA_SUCCESS;
  });
}

const char* td_soft_last_fault() {
  static thread_local std::string text;
  text = last_fault();
  return text.c_str();
}

}  // extern "C"
