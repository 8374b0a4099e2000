// Inline PTX on float16, and what bfloat16 shares with it.
#pragma once
#pragma clang system_header
#include "cuda_fp16.h"
#include "td_ptx.h"

// An integer as a float whose second rounding will be the only one.
__TD_FN float __td_ptx_odd(int x) { return __td_narrow_odd(__td_exact((double)x)); }
__TD_FN float __td_ptx_odd(unsigned x) { return __td_narrow_odd(__td_exact((double)x)); }
__TD_FN float __td_ptx_odd(long long x) { return __td_narrow_odd(__td_of_ll(1.0, x)); }
__TD_FN float __td_ptx_odd(unsigned long long x) { return __td_narrow_odd(__td_of_ull(1.0, x)); }

// The same functions for a type H and the pair of it.
#define TD_PTX_HALF(H, H2)                                                              \
  __TD_FN H __td_ptx_fma(H x, H y, H z) { return __hfma(x, y, z); }                     \
  __TD_FN H2 __td_ptx_fma(H2 x, H2 y, H2 z) { return __hfma2(x, y, z); }                \
  __TD_FN H __td_ptx_relu(H x) { return __hmax_nan(x, H(0.0f)); }                       \
  __TD_FN H2 __td_ptx_relu(H2 x) { return H2(__td_ptx_relu(x.x), __td_ptx_relu(x.y)); } \
  __TD_FN H __td_ptx_abs(H x) { return __habs(x); }                                     \
  __TD_FN H2 __td_ptx_abs(H2 x) { return __habs2(x); }                                  \
  __TD_FN H __td_ptx_fmin_(H x, H y) { return __hmin(x, y); }                           \
  __TD_FN H2 __td_ptx_fmin_(H2 x, H2 y) { return __hmin2(x, y); }                       \
  __TD_FN H __td_ptx_fmax_(H x, H y) { return __hmax(x, y); }                           \
  __TD_FN H2 __td_ptx_fmax_(H2 x, H2 y) { return __hmax2(x, y); }                       \
  __TD_FN H __td_ptx_fmin_NaN(H x, H y) { return __hmin_nan(x, y); }                    \
  __TD_FN H2 __td_ptx_fmin_NaN(H2 x, H2 y) { return __hmin2_nan(x, y); }                \
  __TD_FN H __td_ptx_fmax_NaN(H x, H y) { return __hmax_nan(x, y); }                    \
  __TD_FN H2 __td_ptx_fmax_NaN(H2 x, H2 y) { return __hmax2_nan(x, y); }                \
  __TD_FN H __td_ptx_ex2(H x) { return hexp2(x); }                                      \
  __TD_FN H2 __td_ptx_ex2(H2 x) { return h2exp2(x); }                                   \
  __TD_FN H __td_ptx_tanh(H x) { return htanh(x); }                                     \
  __TD_FN H2 __td_ptx_tanh(H2 x) { return h2tanh(x); }                                  \
  __TD_FN H __td_ptx_sat(H x) { return H(__saturatef((float)x)); }                      \
  __TD_FN H2 __td_ptx_sat(H2 x) { return H2(__td_ptx_sat(x.x), __td_ptx_sat(x.y)); }
TD_PTX_HALF(__half, __half2)

__TD_FN __half __td_ptx_ftz(__half x) {
  return __half(__builtin_fabsf((float)x) < 0x1p-14f ? __builtin_copysignf(0.0f, (float)x)
                                                     : (float)x);
}
__TD_FN __half2 __td_ptx_ftz(__half2 x) { return __half2(__td_ptx_ftz(x.x), __td_ptx_ftz(x.y)); }

#define TD_PTX_TO_HALF(mode, cuda) \
  __TD_FN __half __td_ptx_to_half_##mode(float x) { return __half(__td_half_##cuda(x)); }
TD_PTX_MODES(TD_PTX_TO_HALF)
#undef TD_PTX_TO_HALF
