// The doors of the software device: how the driver layer finds its functions without including it
// (boundary B1). Implemented by src/softdev/api, or by src/softdev/absent in a build without the
// software device.
#pragma once

namespace td::base {

// Address of the software device's implementation of a driver API function ("cuLaunchKernel",
// "cuMemAlloc_v2": the `symbol` column of tables/driver_api.def), or null: always null where the
// software device is not built in. One more name is known: "td_soft_last_fault", a `const char*
// (*)()` that describes the latest kernel fault for people (address, nearest allocation, kernel,
// block), "" when there was none. The text stays valid for the calling thread until its next call.
void* soft_driver_symbol(const char* symbol);

// The same for the math libraries (boundary B2): the `symbol` column of tables/blas_api.def,
// "cublasSgemm_v2".
void* soft_library_symbol(const char* symbol);

}  // namespace td::base
