// Counts the calls of every row of tables/driver_api.def, and fails a whole run that left one
// uncalled.
#pragma once

#include "driver/provider.h"

namespace td::test {

// Puts a counting trampoline in front of every slot.
void start_counting(driver::Api& api);

// Fails for each row that was not called and has no excuse, and for each excuse that was not
// needed.
void report_uncalled_rows();

}  // namespace td::test
