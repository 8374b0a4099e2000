// The software device's table of functions by name.
#include "base/soft_entry.h"

namespace td::base {

void* soft_driver_symbol(const char*) { return nullptr; }
void* soft_library_symbol(const char*) { return nullptr; }

}  // namespace td::base
