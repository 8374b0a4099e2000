// The counting table: one function for each row of tables/driver_api.def, made by a template from
// the row's type. What a copy or a fill moves is read from the row's name and its arguments: the
// last std::size_t is a count of bytes or elements, and a descriptor has its extent.
#include "driver/call_counts.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <string_view>
#include <type_traits>
#include <vector>

#include "driver/state.h"
#include "treadle/call_counts.h"

namespace td::driver {
namespace {

enum Row : int {
#define TD_DRIVER_API(name, symbol, since, params) row_##name,
#include "driver_api.def"
  kRows
};

constexpr std::string_view kNames[] = {
#define TD_DRIVER_API(name, symbol, since, params) #name,
#include "driver_api.def"
};

struct Counter {
  std::atomic<std::uint64_t> calls{0}, failures{0}, bytes{0};
};
std::array<Counter, kRows> counters;
std::atomic<std::uint64_t> library_calls{0};
std::atomic<bool> counting{false};
std::atomic<const Api*> counted{nullptr};

constexpr std::uint64_t element_bytes(std::string_view name) {
  if (name.starts_with("cuMemcpy")) return 1;
  if (name.starts_with("cuMemsetD2D")) name.remove_prefix(std::string_view("cuMemsetD2D").size());
  if (name.starts_with("cuMemsetD")) name.remove_prefix(std::string_view("cuMemsetD").size());
  return name.starts_with("8") ? 1 : name.starts_with("16") ? 2 : name.starts_with("32") ? 4 : 0;
}

// Rows that give a stream work.
constexpr bool gives_work(std::string_view name) {
  return name.starts_with("cuLaunch") || name.starts_with("cuMemcpy") ||
         name.starts_with("cuMemset") || name == "cuGraphLaunch";
}

std::mutex streams_mutex;
std::vector<void*> streams;

void note_stream(void* stream) {
  std::lock_guard lock(streams_mutex);
  if (std::find(streams.begin(), streams.end(), stream) == streams.end()) streams.push_back(stream);
}

template <class T>
void note_stream_of(const T& argument) {
  if constexpr (std::is_same_v<T, CUstream>)
    note_stream(argument);
  else if constexpr (std::is_same_v<T, const CUlaunchConfig*>)
    if (argument) note_stream(argument->hStream);
}

template <class T>
concept Descriptor = requires(T copy) {
  copy->WidthInBytes;
  copy->Height;
};

// Bytes that a call of the row moves; 0 for rows that move none.
template <int row, class... Args>
std::uint64_t moved(const Args&... args) {
  constexpr std::string_view name = kNames[row];
  constexpr std::uint64_t element = element_bytes(name);
  constexpr bool plane = name.starts_with("cuMemsetD2D");
  std::uint64_t last = 0, before = 1, box = 0;
  [[maybe_unused]] auto read = [&]<class T>(const T& value) {
    if constexpr (std::is_same_v<T, std::size_t>) {
      before = last;
      last = value;
    } else if constexpr (Descriptor<T>) {
      box = value ? value->WidthInBytes * value->Height : 0;
      if constexpr (requires { value->Depth; }) box *= value ? value->Depth : 0;
    }
  };
  if constexpr (element > 0) (read(args), ...);
  return element * (box ? box : plane ? before * last : last);
}

template <int row, auto member, class Function>
struct Counted;
template <int row, auto member, class... Args>
struct Counted<row, member, CUresult (*)(Args...)> {
  static CUresult call(Args... args) {
    const CUresult result = (counted.load(std::memory_order_acquire)->*member)(args...);
    Counter& counter = counters[row];
    counter.calls.fetch_add(1, std::memory_order_relaxed);
    if constexpr (gives_work(kNames[row])) (note_stream_of(args), ...);
    if (result == cuda::CUDA_SUCCESS)
      counter.bytes.fetch_add(moved<row>(args...), std::memory_order_relaxed);
    else if (result != cuda::CUDA_ERROR_NOT_READY)
      counter.failures.fetch_add(1, std::memory_order_relaxed);
    return result;
  }
};

Api counting_table() {
  Api api;
#define TD_DRIVER_API(name, symbol, since, params) \
  api.name = Counted<row_##name, &Api::name, decltype(Api::name)>::call;
#include "driver_api.def"
  return api;
}

}  // namespace

const Api& counting_api(const Api& table) {
  static const Api& counting_functions = *new Api(counting_table());
  counted.store(&table, std::memory_order_release);
  return counting_functions;
}

void note_library_call() {
  if (counting.load(std::memory_order_relaxed))
    library_calls.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace td::driver

namespace td {

using namespace driver;

void count_calls(const Device& device, bool on) {
  if (on) {
    for (Counter& counter : counters) counter.calls = counter.failures = counter.bytes = 0;
    library_calls = 0;
    std::lock_guard lock(streams_mutex);
    streams.clear();
  }
  counting = on;
  device.state()->count_calls(on);
}

std::vector<void*> counted_streams() {
  std::lock_guard lock(streams_mutex);
  return streams;
}

std::vector<CallCount> call_counts() {
  std::vector<CallCount> found;
  for (int row = 0; row < kRows; ++row) {
    const Counter& counter = counters[row];
    if (counter.calls)
      found.push_back({std::string(kNames[row]), counter.calls, counter.failures, counter.bytes});
  }
  if (library_calls) found.push_back({"math library", library_calls, 0, 0});
  return found;
}

}  // namespace td
