// Stands in for the software device in a GPU-only build: it has no functions.
#include "base/soft_entry.h"

namespace td::base {

void* soft_driver_symbol(const char*) { return nullptr; }
void* soft_library_symbol(const char*) { return nullptr; }

}  // namespace td::base
