// Failed driver calls as exceptions: "cuLaunchKernel failed: CUDA_ERROR_INVALID_VALUE (1): meaning;
// detail; cure".
#include <unistd.h>

#include <string_view>

#include "base/text.h"
#include "driver/result_row.h"
#include "driver/state.h"

namespace td::driver {

namespace {

constexpr ResultRow kResults[] = {
#define TD_ROW(value, name, meaning, cure) {value, #name, meaning, cure},
    TD_CUDA_RESULTS(TD_ROW)
#undef TD_ROW
};

const pid_t start_pid = getpid();

// A row of ours, else the provider's own words.
ResultRow describe(const DeviceState& device, CUresult result) {
  if (const ResultRow* row = find(kResults, result)) return *row;
  ResultRow row{result, "CUDA_ERROR_UNKNOWN_CODE", "", ""};
  const char* text = nullptr;
  if (device.api().cuGetErrorName(result, &text) == 0 && text) row.name = text;
  text = nullptr;
  if (device.api().cuGetErrorString(result, &text) == 0 && text) row.meaning = text;
  return row;
}

bool is_kernel_fault(CUresult result) { return result >= 700 && result < 720; }

std::string memory_sizes(const DeviceState& device) {
  std::size_t free = 0, total = 0;
  if (device.api().cuMemGetInfo(&free, &total) != 0) return "";
  return base::cat(base::bytes_text(free), " of ", base::bytes_text(total), " are free on ",
                   device.name());
}

void append(std::string& message, std::string_view part) {
  if (part.empty()) return;
  message += "; ";
  message += part;
}

}  // namespace

std::string result_name(CUresult result) {
  const ResultRow* row = find(kResults, result);
  return row ? row->name : base::cat("CUDA error ", result);
}

std::string result_meaning(CUresult result) {
  const ResultRow* row = find(kResults, result);
  return row ? row->meaning : "an error that this version of Treadle does not know";
}

std::string result_cure(CUresult result) {
  const ResultRow* row = find(kResults, result);
  return row ? row->cure : "";
}

void fail(const DeviceState& device, CUresult result, const char* call, const std::string& detail) {
  ResultRow row = describe(device, result);
  std::string message = base::cat(call, " failed: ", row.name, " (", result, "): ", row.meaning);
  append(message, detail);
  if (is_kernel_fault(result)) {
    if (device.provider().last_fault)
      if (const char* fault = device.provider().last_fault()) append(message, fault);
    append(message, device.launches().text());
  }
  const bool memory = result == cuda::CUDA_ERROR_OUT_OF_MEMORY;
  if (memory && detail.empty()) append(message, memory_sizes(device));
  if (result == cuda::CUDA_ERROR_NOT_INITIALIZED && getpid() != start_pid)
    append(
        message,
        "CUDA initialized before forking, and only the process that started it can use it; start "
        "workers with spawn or forkserver");
  else
    append(message, row.cure);
  if (memory) throw OutOfMemory(message, result, row.name, call);
  throw DriverError(message, result, row.name, call);
}

}  // namespace td::driver
