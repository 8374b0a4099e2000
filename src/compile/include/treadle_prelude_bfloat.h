// The prelude and cuda_fp8.h with what it includes, precompiled together for sources that mention
// cuda_bf16.h or cuda_fp8.h.
#pragma once
#pragma clang system_header

#include "cuda_fp8.h"
