// Atomic sums of float16: one rounding each; of the packed form each half is atomic for itself.
#pragma once
#pragma clang system_header

#define TD_ADD_HALF(scope)                                                                 \
  __TD_FN __half atomicAdd##scope(__half* p, __half v) {                                   \
    return __half(__atomic_fetch_add((_Float16*)p, (_Float16)(float)v, __ATOMIC_RELAXED)); \
  }                                                                                        \
  __TD_FN __half2 atomicAdd##scope(__half2* p, __half2 v) {                                \
    return __half2(atomicAdd##scope(&p->x, v.x), atomicAdd##scope(&p->y, v.y));            \
  }
TD_ADD_HALF()
TD_ADD_HALF(_block)
TD_ADD_HALF(_system)
#undef TD_ADD_HALF
