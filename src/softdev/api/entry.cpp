// The software device's functions by name.
#include "base/soft_entry.h"

#include <cstring>

#include "softdev/api/soft_api.h"

namespace td::base {

namespace {

struct Row {
  const char* symbol;
  void* address;
};

const Row kDriverRows[] = {
#define TD_DRIVER_API(name, symbol, since, params) \
  {#symbol, reinterpret_cast<void*>(&td_soft_##symbol)},
#include "driver_api.def"
    {"td_soft_last_fault", reinterpret_cast<void*>(&td_soft_last_fault)},
};

const Row kLibraryRows[] = {
#define TD_BLAS_API(name, symbol, since, params) \
  {#symbol, reinterpret_cast<void*>(&td_soft_##symbol)},
#include "blas_api.def"
};

template <class Rows>
void* find(const Rows& rows, const char* symbol) {
  for (const Row& row : rows)
    if (std::strcmp(row.symbol, symbol) == 0) return row.address;
  return nullptr;
}

}  // namespace

void* soft_driver_symbol(const char* symbol) { return find(kDriverRows, symbol); }
void* soft_library_symbol(const char* symbol) { return find(kLibraryRows, symbol); }

}  // namespace td::base
