// The devices of this provider: logical ones over the same cores. TREADLE_SOFT_DEVICES says how
// many (default 1).
#pragma once

#include <cstdint>
#include <string>

#include "base/cuda_abi.h"

namespace td::softdev {

int device_count();
// "software device (AMD EPYC, 2 cores)"
const std::string& device_name();
// False for an attribute that we do not know.
bool device_attribute(int attribute, int* value);
// Threads that run kernels: TREADLE_SOFT_WORKERS, else the cores that this process may use.
std::uint32_t worker_count();

inline constexpr int kDriverVersion = 13000;

}  // namespace td::softdev
