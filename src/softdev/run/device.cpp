#include "softdev/run/device.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "base/text.h"
#include "softdev/run/executor.h"
#include "softdev/run/occupancy.h"

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
int threads_of_multiprocessor() { return modelled_multiprocessor().threads; }
int blocks_of_multiprocessor() { return modelled_multiprocessor().blocks; }
int shared_of_multiprocessor() { return static_cast<int>(modelled_multiprocessor().shared); }
int reserved_of_block() { return static_cast<int>(modelled_multiprocessor().reserved_shared); }
int execution_timeout() { return std::getenv("TREADLE_LAUNCH_TIMEOUT") ? 1 : 0; }

// Attributes first..last answer `value`, or what `compute` says. Launch and texture limits are
// those of compute capability 9.0; what the software device does not have (clusters, virtual memory
// management, exchange with other processes) answers 0. A worker stands for a multiprocessor.
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
  {INTEGRATED,                           19,  1},      // and CAN_MAP_HOST_MEMORY
  {COMPUTE_MODE,                         20,  0},
  {21,                                   22,  131072}, // texture 1D width, 2D width
  {23,                                   23,  65536},  // 2D height
  {24,                                   26,  16384},  // 3D
  {27,                                   28,  32768},  // 2D layered
  {29,                                   29,  2048},   // layers
  {30,                                   30,  512},    // surface alignment
  {CONCURRENT_KERNELS,                   31,  1},
  {ECC_ENABLED,                          33,  0},      // and PCI_BUS_ID
  {PCI_DEVICE_ID,                        37,  0},      // TCC, memory clock and bus: not known
  {L2_CACHE_SIZE,                        38,  0, last_level_cache},
  {MAX_THREADS_PER_MULTIPROCESSOR,       39,  0, threads_of_multiprocessor},
  {ASYNC_ENGINE_COUNT,                   41,  1},      // and UNIFIED_ADDRESSING
  {42,                                   42,  32768},  // texture 1D layered width
  {43,                                   43,  2048},   // layers
  {44,                                   44,  1},      // gathers
  {45,                                   46,  32768},  // 2D with gather
  {47,                                   48,  8192},   // 3D, alternate shape
  {49,                                   49,  32768},
  {PCI_DOMAIN_ID,                        50,  65535},
  {51,                                   51,  32},     // texture pitch alignment
  {52,                                   53,  32768},  // cube map width, layered
  {54,                                   54,  2046},   // layers
  {55,                                   55,  32768},  // surface 1D
  {56,                                   56,  131072}, // 2D width
  {57,                                   57,  65536},  // 2D height
  {58,                                   60,  16384},  // 3D
  {61,                                   61,  32768},  // 1D layered
  {62,                                   62,  2048},
  {63,                                   64,  32768},  // 2D layered
  {65,                                   65,  2048},
  {66,                                   67,  32768},  // cube map, layered
  {68,                                   68,  2046},
  {69,                                   69,  268435456}, // texture over linear memory, 1D
  {70,                                   70,  131072}, // 2D width
  {71,                                   71,  65000},  // 2D height
  {72,                                   72,  2097120},// 2D pitch
  {73,                                   74,  32768},  // mipmapped 2D
  {COMPUTE_CAPABILITY_MAJOR,             75,  9},
  {COMPUTE_CAPABILITY_MINOR,             76,  0},
  {77,                                   77,  32768},  // mipmapped 1D
  {STREAM_PRIORITIES_SUPPORTED,          80,  1},      // and global and local accesses are cached
  {MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 81,  0, shared_of_multiprocessor},
  {MAX_REGISTERS_PER_MULTIPROCESSOR,     82,  65536},
  {MANAGED_MEMORY,                       83,  1},
  {84,                                   85,  0},      // boards of several GPUs
  {86,                                   86,  1},      // host native atomics
  {87,                                   87,  2},      // single to double precision ratio
  {88,                                   88,  0},      // pageable memory belongs to the host
  {89,                                   91,  1},      // concurrent managed access, pre-emption, a host pointer is usable as it is
  {92,                                   94,  0},      // stream memory operations, first version
  {COOPERATIVE_LAUNCH,                   95,  1},
  {96,                                   96,  0},      // cooperative launches of several devices
  {MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,    97,  static_cast<int>(kMaxSharedOptIn)},
  {98,                                   98,  0},
  {99,                                   99,  1},      // host registration
  {100,                                  100, 0},
  {101,                                  101, 1},      // direct access of the host to managed memory
  {102,                                  105, 0},      // virtual memory management, shareable handles
  {MAX_BLOCKS_PER_MULTIPROCESSOR,        106, 0, blocks_of_multiprocessor},
  {107,                                  110, 0},      // compression, persisting L2, access windows, RDMA
  {RESERVED_SHARED_MEMORY_PER_BLOCK,     111, 0, reserved_of_block},
  {112,                                  112, 0},      // sparse arrays
  {113,                                  113, 1},      // read-only host registration
  {114,                                  114, 0},
  {MEMORY_POOLS_SUPPORTED,               115, 1},
  {116,                                  121, 0},      // RDMA, shareable pools, clusters, deferred arrays
  {122,                                  123, 1},      // stream memory operations: 64 bit, NOR
  {124,                                  125, 0},      // DMA buffers, events between processes
  {126,                                  126, 1},      // memory synchronisation domains
  {127,                                  130, 0},
  {131,                                  131, -1},     // no NUMA node of its own
  {132,                                  149, 0},
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
