// A barrier for a chosen number of arrivals, in one 64-bit word of memory:
//
//   bits 0-17 arrivals that are missing, 18-35 arrivals of a phase, 36-39 number of the phase
//   bits 40-63 bytes of copies that have been announced and not arrived (with a sign)
//
// A phase ends with the operation that leaves both no missing arrival and no missing byte. Waiting
// is a loop that reads the word.
#pragma once
#pragma clang system_header
#include "td_group.h"

typedef unsigned long long __td_mbarrier;

constexpr unsigned long long __td_mbarrier_count_bits = 18,
                             __td_mbarrier_count = (1ull << __td_mbarrier_count_bits) - 1;

__TD_FN unsigned __td_mbarrier_phase(__td_mbarrier word) { return (unsigned)(word >> 36) & 15; }
__TD_FN void __td_mbarrier_init(__td_mbarrier* barrier, unsigned long long expected) {
  __td_atomic_store(barrier, expected << __td_mbarrier_count_bits | expected, __NV_ATOMIC_RELEASE);
}

// To be called with the word that an operation left: ends the phase when it was the last one.
template <class Completion>
__TD_FN void __td_mbarrier_end_phase(__td_mbarrier* barrier, __td_mbarrier left,
                                     Completion completion) {
  if ((left & __td_mbarrier_count) != 0 || left >> 40 != 0) return;
  completion();
  const unsigned long long expected = left >> __td_mbarrier_count_bits & __td_mbarrier_count;
  const unsigned long long next = __td_mbarrier_phase(left) == 15 ? 0 - (15ull << 36) : 1ull << 36;
  __td_atomic_fetch_add(barrier, expected + next);
}
struct __td_no_completion {
  __TD_MEMBER_FN void operator()() const noexcept {}
};

// `arrivals` threads arrive, `dropped` of them for ever. Returns the word before.
template <class Completion = __td_no_completion>
__TD_FN __td_mbarrier __td_mbarrier_arrive(__td_mbarrier* barrier, unsigned long long arrivals,
                                           unsigned long long dropped = 0,
                                           Completion completion = Completion()) {
  const unsigned long long change = arrivals + (dropped << __td_mbarrier_count_bits);
  const __td_mbarrier old = __td_atomic_fetch_sub(barrier, change);
  __td_mbarrier_end_phase(barrier, old - change, completion);
  return old;
}
// More bytes are awaited (less, when negative).
template <class Completion = __td_no_completion>
__TD_FN void __td_mbarrier_expect_bytes(__td_mbarrier* barrier, long long bytes,
                                        Completion completion = Completion()) {
  const unsigned long long change = (unsigned long long)bytes << 40;
  __td_mbarrier_end_phase(barrier, __td_atomic_fetch_add(barrier, change) + change, completion);
}
__TD_FN bool __td_mbarrier_passed(const __td_mbarrier* barrier, unsigned phase) {
  return __td_mbarrier_phase(__td_atomic_load(barrier, __NV_ATOMIC_ACQUIRE)) != phase;
}
__TD_FN void __td_mbarrier_wait(const __td_mbarrier* barrier, unsigned phase) {
  while (!__td_mbarrier_passed(barrier, phase)) __nanosleep(20);
  __td_leave_together(barrier);
}
