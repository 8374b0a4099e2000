// Counts the calls of the driver's functions, for tools that say what a piece of work asked of the
// device. Off, nothing of it is on the way of a call: a device that counts has another table.
#pragma once

#include "driver/provider.h"

namespace td::driver {

// A table whose functions count and call those of `table`. One provider counts at a time: the
// latest one's functions are called.
const Api& counting_api(const Api& table);

// Calls that the driver's table does not see: of a math library, whose own launches go past it.
void note_library_call();

}  // namespace td::driver
