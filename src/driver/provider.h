// A provider is something that implements the table of driver functions: NVIDIA's libcuda.so.1,
// opened at run time, or the software device, linked in under prefixed names. This is the only
// place where the two differ for the runtime.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/cuda_abi.h"
#include "base/image_format.h"

namespace td::driver {

// One pointer per row of tables/driver_api.def. In a Provider no slot is null: where an optional
// function (since > 0) is absent, and in a provider that cannot be used, the slot holds a function
// that answers CUDA_ERROR_NOT_SUPPORTED.
struct Api {
#define TD_DRIVER_API(name, symbol, since, params) CUresult(*name) params = nullptr;
#include "driver_api.def"
};

// One rung of the discovery ladder of a provider: "driver library", "cuInit", "device count".
struct Rung {
  std::string name;
  bool passed = false;
  std::string detail;  // which file, which version; or what failed and the cure
};

struct Provider {
  std::string prefix;    // "cuda", "soft": first part of device names
  std::string evidence;  // "NVIDIA GPU", "software device"
  std::string file;      // the library file really loaded; "(built in)" for the software device
  std::string problem;   // why it cannot be used, "" when it can: not found, stub library, cuInit
                         // failed, no device
  base::ImageFormat image_format = base::ImageFormat::cubin;
  bool software = false;   // for labels only
  int driver_version = 0;  // 13000 = 13.0
  int device_count = 0;
  Api api;
  // Describes the latest kernel fault for people, "" when there was none; null where the provider
  // cannot.
  const char* (*last_fault)() = nullptr;
  // Functions of the math libraries that come with the provider, by symbol; null where NVIDIA's are
  // opened instead.
  void* (*library_symbol)(const char* symbol) = nullptr;
  std::vector<Rung> rungs;
  bool usable() const { return problem.empty(); }
};

// Opened once per process, on first call. Never throws: `problem` says what failed, with a cure.
// TREADLE_LIBCUDA names the file of the NVIDIA driver instead of libcuda.so.1; "none" or an empty
// value hides it.
const Provider& nvidia_provider();
const Provider& software_provider();

// All rungs, in order; a rung that was not reached has not passed and says so.
std::vector<Rung> discovery(const Provider& provider);

}  // namespace td::driver
