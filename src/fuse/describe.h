// A program as people read it, and the log of those that were launched.
#pragma once

#include "fuse/program.h"
#include "treadle/fusion.h"

namespace td::fuse {

PlannedKernel describe(const Program& program);

bool logging();
void log_kernel(PlannedKernel kernel);

}  // namespace td::fuse
