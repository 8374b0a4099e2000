// The prelude and cuda_fp16.h, precompiled together for sources that mention the latter.
#pragma once
#pragma clang system_header

#include "cuda_fp16.h"
