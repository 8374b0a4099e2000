// The occupancy calculator for all parts of Treadle: src/base/occupancy.cpp holds it, this header
// opens it to those that may not include the public API.
#pragma once

#include "treadle/occupancy.h"  // IWYU pragma: export
