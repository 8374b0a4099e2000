#include "softdev/run/device.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "base/text.h"
#include "softdev/run/executor.h"

namespace td::softdev {

namespace {

using namespace td::cuda;

// A positive number from the environment, else `otherwise`.
long environment_number(const char* name, long otherwise, long limit) {
  const char* text = std::getenv(name);
  if (!text || !*text) return otherwise;
  char* end = nullptr;
  long value = std::strtol(text, &end, 10);
  return *end == 0 && value >= 1 ? std::min(value, limit) : otherwise;
}

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (line.rfind("model name", 0) != 0) continue;
    std::size_t colon = line.find(':');
    if (colon != std::string::npos && colon + 2 < line.size()) return line.substr(colon + 2);
  }
  return "x86-64";
}

int clock_kilohertz() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (line.rfind("cpu MHz", 0) != 0) continue;
    return static_cast<int>(std::strtod(line.c_str() + line.find(':') + 1, nullptr) * 1000);
  }
  return 0;
}

int last_level_cache() { return static_cast<int>(std::max(0l, sysconf(_SC_LEVEL3_CACHE_SIZE))); }
int multiprocessors() { return static_cast<int>(worker_count()); }
int execution_timeout() { return std::getenv("TREADLE_LAUNCH_TIMEOUT") ? 1 : 0; }

// Attributes first..last answer `value`, or what `compute` says. Launch limits are those of compute
// capability 9.0; what the software device does not have (textures, clusters, memory pools, managed
// memory) answers 0. One block at a time runs on a worker, so that is what occupancy figures say.
struct AttributeRow {
  int first, last, value;
  int (*compute)() = nullptr;
};
// clang-format off
constexpr AttributeRow kAttributes[] = {
  {MAX_THREADS_PER_BLOCK,                1,   static_cast<int>(kMaxThreads)},
  {MAX_BLOCK_DIM_X,                      3,   1024},
  {MAX_BLOCK_DIM_Z,                      4,   64},
  {MAX_GRID_DIM_X,                       5,   2147483647},
  {MAX_GRID_DIM_Y,                       7,   65535},
  {MAX_SHARED_MEMORY_PER_BLOCK,          8,   static_cast<int>(kMaxShared)},
  {TOTAL_CONSTANT_MEMORY,                9,   65536},
  {WARP_SIZE,                            10,  static_cast<int>(kWarpSize)},
  {MAX_PITCH,                            11,  2147483647},
  {MAX_REGISTERS_PER_BLOCK,              12,  65536},
  {CLOCK_RATE,                           13,  0, clock_kilohertz},
  {TEXTURE_ALIGNMENT,                    14,  512},
  {GPU_OVERLAP,                          15,  1},
  {MULTIPROCESSOR_COUNT,                 16,  0, multiprocessors},
  {KERNEL_EXEC_TIMEOUT,                  17,  0, execution_timeout},
  {INTEGRATED,                           19,  1},   // and CAN_MAP_HOST_MEMORY
  {COMPUTE_MODE,                         20,  0},
  {21,                                   29,  0},   // textures
  {30,                                   30,  512}, // surface alignment
  {CONCURRENT_KERNELS,                   31,  1},
  {ECC_ENABLED,                          33,  0},   // and PCI_BUS_ID
  {PCI_DEVICE_ID,                        37,  0},   // TCC, memory clock and bus: not known
  {L2_CACHE_SIZE,                        38,  0, last_level_cache},
  {MAX_THREADS_PER_MULTIPROCESSOR,       39,  static_cast<int>(kMaxThreads)},
  {ASYNC_ENGINE_COUNT,                   41,  1},   // and UNIFIED_ADDRESSING
  {42,                                   49,  0},   // textures
  {PCI_DOMAIN_ID,                        50,  0},
  {51,                                   51,  32},  // texture pitch alignment
  {52,                                   74,  0},   // textures and surfaces
  {COMPUTE_CAPABILITY_MAJOR,             75,  9},
  {COMPUTE_CAPABILITY_MINOR,             78,  0},   // mipmapped textures, stream priorities
  {79,                                   80,  1},   // global and local accesses are cached
  {MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 81,  static_cast<int>(kMaxSharedOptIn)},
  {MAX_REGISTERS_PER_MULTIPROCESSOR,     82,  65536},
  {MANAGED_MEMORY,                       85,  0},
  {86,                                   86,  1},   // host native atomics
  {87,                                   87,  2},   // single to double precision ratio
  {88,                                   90,  0},
  {91,                                   91,  1},   // a host pointer is usable as it is
  {92,                                   96,  0},   // stream memory operations, cooperative launch
  {MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,    97,  static_cast<int>(kMaxSharedOptIn)},
  {98,                                   105, 0},
  {MAX_BLOCKS_PER_MULTIPROCESSOR,        106, 1},
  {107,                                  125, 0},
  {126,                                  126, 1},   // memory synchronisation domains
  {127,                                  130, 0},
  {131,                                  131, -1},  // no NUMA node of its own
  {132,                                  145, 0},
};
// clang-format on

}  // namespace

int device_count() {
  static const int count = static_cast<int>(environment_number("TREADLE_SOFT_DEVICES", 1, 64));
  return count;
}

std::uint32_t worker_count() {
  static const auto count = [] {
    cpu_set_t set;
    long cores = sched_getaffinity(0, sizeof set, &set) == 0
                     ? CPU_COUNT(&set)
                     : static_cast<long>(std::thread::hardware_concurrency());
    return static_cast<std::uint32_t>(
        environment_number("TREADLE_SOFT_WORKERS", std::max(1l, cores), 1024));
  }();
  return count;
}

const std::string& device_name() {
  static const std::string& name =
      *new std::string(base::cat("software device (", cpu_model(), ", ", worker_count(),
                                 worker_count() == 1 ? " core)" : " cores)"));
  return name;
}

bool device_attribute(int attribute, int* value) {
  for (const AttributeRow& row : kAttributes) {
    if (attribute < row.first || attribute > row.last) continue;
    *value = row.compute ? row.compute() : row.value;
    return true;
  }
  return false;
}

}  // namespace td::softdev
