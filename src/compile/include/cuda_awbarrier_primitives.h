// Barriers in shared memory for a chosen number of arrivals.
#pragma once
#pragma clang system_header
#include "td_mbarrier.h"

typedef unsigned long long __mbarrier_t;
typedef unsigned long long __mbarrier_token_t;

__TD_FN constexpr unsigned __mbarrier_maximum_count() { return (unsigned)__td_mbarrier_count; }
__TD_FN void __mbarrier_init(__mbarrier_t* barrier, unsigned expected) {
  __td_mbarrier_init(barrier, expected);
}
__TD_FN void __mbarrier_inval(__mbarrier_t* barrier) {
  __td_atomic_store(barrier, 0ull, __NV_ATOMIC_RELEASE);
}
// The token: the barrier as it was.
__TD_FN __mbarrier_token_t __mbarrier_arrive(__mbarrier_t* barrier) {
  return __td_mbarrier_arrive(barrier, 1);
}
__TD_FN __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t* barrier) {
  return __td_mbarrier_arrive(barrier, 1, 1);
}
// Arrivals that were missing before the one that gave the token.
__TD_FN unsigned __mbarrier_token_pending_count(__mbarrier_token_t token) {
  return (unsigned)(token & __td_mbarrier_count);
}
__TD_FN bool __mbarrier_test_wait(__mbarrier_t* barrier, __mbarrier_token_t token) {
  return __td_mbarrier_passed(barrier, __td_mbarrier_phase(token));
}
__TD_FN bool __mbarrier_try_wait(__mbarrier_t* barrier, __mbarrier_token_t token, unsigned = 0) {
  return __mbarrier_test_wait(barrier, token);
}
__TD_FN bool __mbarrier_test_wait_parity(__mbarrier_t* barrier, bool parity) {
  const unsigned phase = __td_mbarrier_phase(__td_atomic_load(barrier, __NV_ATOMIC_ACQUIRE));
  return (phase & 1) != (unsigned)parity;
}
__TD_FN bool __mbarrier_try_wait_parity(__mbarrier_t* barrier, bool parity, unsigned = 0) {
  return __mbarrier_test_wait_parity(barrier, parity);
}
