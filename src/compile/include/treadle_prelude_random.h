// The prelude and curand_kernel.h, precompiled together for sources that mention the latter.
#pragma once
#pragma clang system_header

#include "treadle_prelude.h"

#include "curand_kernel.h"
