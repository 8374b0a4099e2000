#include "coverage.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string_view>

namespace td::test {

namespace {

// Rows that no test calls, and why.
struct Excuse {
  std::string_view name;
  std::string_view reason;
};
constexpr Excuse kExcuses[] = {
    {"", ""},  // none
};

enum Row : int {
#define TD_DRIVER_API(name, symbol, since, params) row_##name,
#include "driver_api.def"
  row_count
};

constexpr std::string_view kNames[] = {
#define TD_DRIVER_API(name, symbol, since, params) #name,
#include "driver_api.def"
};

std::atomic<long> calls[row_count];

template <class Function, int row>
struct Counted;
template <class... Args, int row>
struct Counted<CUresult (*)(Args...), row> {
  static inline CUresult (*real)(Args...) = nullptr;
  static CUresult call(Args... args) {
    calls[row].fetch_add(1, std::memory_order_relaxed);
    return real(args...);
  }
};

}  // namespace

void start_counting(driver::Api& api) {
#define TD_DRIVER_API(name, symbol, since, params)                   \
  Counted<decltype(driver::Api::name), row_##name>::real = api.name; \
  api.name = &Counted<decltype(driver::Api::name), row_##name>::call;
#include "driver_api.def"
}

void report_uncalled_rows() {
  for (int row = 0; row < row_count; ++row) {
    bool excused = false;
    for (const Excuse& excuse : kExcuses) excused = excused || excuse.name == kNames[row];
    if (calls[row] == 0 && !excused)
      ADD_FAILURE() << kNames[row] << " is called by no test and has no excuse";
    if (calls[row] != 0 && excused)
      ADD_FAILURE() << kNames[row] << " is called: take its excuse out";
  }
}

}  // namespace td::test
