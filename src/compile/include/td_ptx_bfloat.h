// Inline PTX on bfloat16.
#pragma once
#pragma clang system_header
#include "cuda_bf16.h"
#include "td_ptx_half.h"

TD_PTX_HALF(__nv_bfloat16, __nv_bfloat162)

#define TD_PTX_TO_BFLOAT(mode, cuda)                              \
  __TD_FN __nv_bfloat16 __td_ptx_to_bfloat_##mode(float x) {      \
    return __nv_bfloat16(__nv_bfloat16_raw{__td_bf16_##cuda(x)}); \
  }
TD_PTX_MODES(TD_PTX_TO_BFLOAT)
#undef TD_PTX_TO_BFLOAT
