// Prefix sums (and other prefixes) over the members of a group of at most a warp, in order of
// ranks.
#pragma once
#pragma clang system_header
#include "reduce.h"

namespace cooperative_groups {

template <class Group, class T, class Op>
__TD_FN T inclusive_scan(const Group& group, T value, Op&& op) {
  return __td_scan_lanes(group.__td_mask(), value, op);
}
template <unsigned size, class Parent, class T, class Op>
__TD_FN T inclusive_scan(const thread_block_tile<size, Parent>& group, T value, Op&& op) {
  if constexpr (size > 32) {
    const unsigned lanes = __activemask();
    value = __td_scan_lanes(lanes, value, op);
    const T of_warp = __td_shfl(lanes, value, 31 - __builtin_clz(lanes), 32);
    const T before = group.__td_combine_below(of_warp, op);
    return group.__td_warp_rank() == 0 ? value : op(before, value);
  } else {
#pragma unroll
    for (unsigned delta = 1; delta < size; delta *= 2) {
      const T other = group.shfl_up(value, delta);
      if (group.thread_rank() >= delta) value = op(other, value);
    }
    return value;
  }
}
template <class Group, class T>
__TD_FN T inclusive_scan(const Group& group, T value) {
  return inclusive_scan(group, value, plus<T>());
}

// The first member gets T().
template <class Group, class T, class Op>
__TD_FN T exclusive_scan(const Group& group, T value, Op&& op) {
  const T before = group.shfl_up(inclusive_scan(group, value, op), 1);
  return group.thread_rank() == 0 ? T() : before;
}
template <unsigned size, class Parent, class T, class Op>
__TD_FN T exclusive_scan(const thread_block_tile<size, Parent>& group, T value, Op&& op) {
  if constexpr (size <= 32) {
    const T before = group.shfl_up(inclusive_scan(group, value, op), 1);
    return group.thread_rank() == 0 ? T() : before;
  } else {
    const unsigned lanes = __activemask();
    const T inclusive = __td_scan_lanes(lanes, value, op);
    const T of_warp = __td_shfl(lanes, inclusive, 31 - __builtin_clz(lanes), 32);
    const T warps_before = group.__td_combine_below(of_warp, op);
    const T lanes_before = __td_shfl_up(lanes, inclusive, 1, 32);
    const bool first_warp = group.__td_warp_rank() == 0;
    if (group.thread_rank() % 32 == 0) return first_warp ? T() : warps_before;
    return first_warp ? lanes_before : op(warps_before, lanes_before);
  }
}
template <class Group, class T>
__TD_FN T exclusive_scan(const Group& group, T value) {
  return exclusive_scan(group, value, plus<T>());
}

// The scan goes on where an atomic stands, and the atomic moves on by the whole group's result.
template <class Group, class Atomic, class T, class Op>
__TD_FN T inclusive_scan_update(const Group& group, Atomic& atomic, T value, Op&& op) {
  const T mine = inclusive_scan(group, value, op);
  const unsigned last = group.num_threads() - 1;
  T old = T();
  if (group.thread_rank() == last) old = __td_update(atomic, mine, op);
  return op(group.shfl(old, (int)last), mine);
}
template <class Group, class Atomic, class T>
__TD_FN T inclusive_scan_update(const Group& group, Atomic& atomic, T value) {
  return inclusive_scan_update(group, atomic, value, plus<T>());
}
template <class Group, class Atomic, class T, class Op>
__TD_FN T exclusive_scan_update(const Group& group, Atomic& atomic, T value, Op&& op) {
  const T inclusive = inclusive_scan(group, value, op);
  const T mine = group.shfl_up(inclusive, 1);
  const unsigned last = group.num_threads() - 1;
  T old = T();
  if (group.thread_rank() == last) old = __td_update(atomic, inclusive, op);
  const T start = group.shfl(old, (int)last);
  return group.thread_rank() == 0 ? start : op(start, mine);
}
template <class Group, class Atomic, class T>
__TD_FN T exclusive_scan_update(const Group& group, Atomic& atomic, T value) {
  return exclusive_scan_update(group, atomic, value, plus<T>());
}

}  // namespace cooperative_groups
