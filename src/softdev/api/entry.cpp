// The software device's functions by name: by symbol for those who link or look up symbols, by base
// name and version for cuGetProcAddress.
#include "base/soft_entry.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "base/log.h"
#include "base/text.h"
#include "softdev/api/guard.h"
#include "softdev/api/soft_api.h"

namespace td::base {

namespace {

using softdev::PerThreadDefaultStream;

// A function of NVIDIA's driver that the software device does not have. Says so once.
template <const char* const* name>
CUresult unsupported() {
  log_once(LogLevel::warn, cat(*name, " is not supported by the software device"));
  return cuda::CUDA_ERROR_NOT_SUPPORTED;
}
#define TD_DRIVER_UNSUPPORTED(symbol, since) constexpr const char* name_of_##symbol = #symbol;
#include "driver_unsupported.def"

// The same function with the calling thread's own default stream in place of the legacy one.
template <auto function>
struct PerThread;
template <class... Args, CUresult (*function)(Args...)>
struct PerThread<function> {
  static CUresult call(Args... args) {
    PerThreadDefaultStream scope;
    return function(args...);
  }
};

struct Row {
  const char* symbol;
  int since;
  void* address;
};

constexpr auto address_of = [](auto* function) { return reinterpret_cast<void*>(function); };

const Row kDriverRows[] = {
#define TD_DRIVER_API(name, symbol, since, params) {#symbol, since, address_of(&td_soft_##symbol)},
#include "driver_api.def"
#define TD_DRIVER_UNSUPPORTED(symbol, since) \
  {#symbol, since, address_of(&unsupported<&name_of_##symbol>)},
#include "driver_unsupported.def"
    {"td_soft_last_fault", 0, address_of(&td_soft_last_fault)},
};

const Row kPerThreadRows[] = {
#define TD_DRIVER_PER_THREAD(symbol, suffix) \
  {#symbol #suffix, 0, address_of(&PerThread<&td_soft_##symbol>::call)},
#include "driver_per_thread.def"
};

const Row kLibraryRows[] = {
#define TD_BLAS_API(name, symbol, since, params) {#symbol, since, address_of(&td_soft_##symbol)},
#include "blas_api.def"
#define TD_SOLVER_API(symbol, since, params) {#symbol, since, address_of(&td_soft_##symbol)},
#include "solver_api.def"
#define TD_FFT_API(symbol, since, params) {#symbol, since, address_of(&td_soft_##symbol)},
#include "fft_api.def"
};

template <class Rows>
void* find(const Rows& rows, std::string_view symbol) {
  for (const Row& row : rows)
    if (symbol == row.symbol) return row.address;
  return nullptr;
}

// "cuMemAlloc" of "cuMemAlloc_v2".
std::string_view base_name(std::string_view symbol) {
  std::size_t at = symbol.rfind("_v");
  bool version =
      at != symbol.npos && at + 3 == symbol.size() && symbol.back() >= '0' && symbol.back() <= '9';
  return version ? symbol.substr(0, at) : symbol;
}

// Since CUDA 12 the manual's cuGraphInstantiate is another function.
bool answers_to(const Row& row, std::string_view name) {
  using namespace std::literals;
  return base_name(row.symbol) == name ||
         (name == "cuGraphInstantiate"sv && row.symbol == "cuGraphInstantiateWithFlags"sv);
}
int since_for(const Row& row, std::string_view name) {
  return base_name(row.symbol) == name ? row.since : 12000;
}

enum LookupStatus : int { FOUND = 0, NO_SUCH_SYMBOL = 1, VERSION_TOO_OLD = 2 };

struct Found {
  void* address = nullptr;
  LookupStatus status = NO_SUCH_SYMBOL;
};

// The newest form of a function that a program written for `version` knows.
Found look_up(std::string_view name, int version, bool per_thread) {
  Found found;
  const Row* best = nullptr;
  for (const Row& row : kDriverRows) {
    if (!answers_to(row, name)) continue;
    if (since_for(row, name) > version) {
      if (!best) found.status = VERSION_TOO_OLD;
      continue;
    }
    if (!best || since_for(row, name) >= since_for(*best, name)) best = &row;
  }
  if (!best) return found;
  found = {best->address, FOUND};
  if (!per_thread) return found;
  for (const char* suffix : {"_ptsz", "_ptds"})
    if (void* own = find(kPerThreadRows, std::string(best->symbol) + suffix)) found.address = own;
  return found;
}

}  // namespace

// Filling the driver's table asks for hundreds of symbols when a process starts.
void* soft_driver_symbol(const char* symbol) {
  using Index = std::unordered_map<std::string_view, void*>;
  static const Index& index = *[] {
    auto* made = new Index;
    for (const Row& row : kDriverRows) made->emplace(row.symbol, row.address);
    for (const Row& row : kPerThreadRows) made->emplace(row.symbol, row.address);
    return made;
  }();
  auto found = index.find(symbol);
  return found == index.end() ? nullptr : found->second;
}
void* soft_library_symbol(const char* symbol) { return find(kLibraryRows, symbol); }

}  // namespace td::base

extern "C" {

// Flags: 1 asks for the legacy default stream, 2 for that of each thread.
CUresult td_soft_cuGetProcAddress_v2(const char* symbol, void** function, int version,
                                     std::uint64_t flags, int* status) {
  if (!symbol || !function || flags > 2) return td::cuda::CUDA_ERROR_INVALID_VALUE;
  auto found = td::base::look_up(symbol, version, flags == 2);
  *function = found.address;
  if (status) *status = found.status;
  return found.address ? td::cuda::CUDA_SUCCESS : td::cuda::CUDA_ERROR_NOT_FOUND;
}

CUresult td_soft_cuGetProcAddress(const char* symbol, void** function, int version,
                                  std::uint64_t flags) {
  return td_soft_cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
}

}  // extern "C"
