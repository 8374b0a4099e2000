// Reductions over the members of a group of at most a warp.
#pragma once
#pragma clang system_header
#include "../cooperative_groups.h"

namespace cooperative_groups {

#define __TD_OPERATION(name, expression)                                         \
  template <class T = void>                                                      \
  struct name {                                                                  \
    __TD_MEMBER_FN constexpr T operator()(T x, T y) const { return expression; } \
  };                                                                             \
  template <>                                                                    \
  struct name<void> {                                                            \
    template <class T>                                                           \
    __TD_MEMBER_FN constexpr T operator()(T x, T y) const {                      \
      return expression;                                                         \
    }                                                                            \
  };
__TD_OPERATION(plus, x + y)
__TD_OPERATION(less, y < x ? y : x)
__TD_OPERATION(greater, x < y ? y : x)
__TD_OPERATION(bit_and, x& y)
__TD_OPERATION(bit_or, x | y)
__TD_OPERATION(bit_xor, x ^ y)
#undef __TD_OPERATION

// Which instruction combines 32-bit integers by `Op`; none for all else.
enum class __td_warp_op { none, add, min, max, bit_and, bit_or, bit_xor };
template <class T, class Op>
constexpr __td_warp_op __td_warp_op_of = __td_warp_op::none;
#define __TD_WARP_OP(op, name)                                                      \
  template <>                                                                       \
  inline constexpr __td_warp_op __td_warp_op_of<int, op<int>> = __td_warp_op::name; \
  template <>                                                                       \
  inline constexpr __td_warp_op __td_warp_op_of<unsigned, op<unsigned>> = __td_warp_op::name;
__TD_WARP_OP(plus, add)
__TD_WARP_OP(less, min)
__TD_WARP_OP(greater, max)
__TD_WARP_OP(bit_and, bit_and)
__TD_WARP_OP(bit_or, bit_or)
__TD_WARP_OP(bit_xor, bit_xor)
#undef __TD_WARP_OP

template <class T>
__TD_FN T __td_reduce_by_instruction(unsigned mask, T value, __td_warp_op op) {
  switch (op) {
    case __td_warp_op::add:
      return __reduce_add_sync(mask, value);
    case __td_warp_op::min:
      return __reduce_min_sync(mask, value);
    case __td_warp_op::max:
      return __reduce_max_sync(mask, value);
    case __td_warp_op::bit_and:
      return (T)__reduce_and_sync(mask, (unsigned)value);
    case __td_warp_op::bit_or:
      return (T)__reduce_or_sync(mask, (unsigned)value);
    default:
      return (T)__reduce_xor_sync(mask, (unsigned)value);
  }
}

// A tile whose lanes are all there: partners at distance 1, 2, 4 …
template <unsigned size, class Parent, class T, class Op>
__TD_FN T reduce(const thread_block_tile<size, Parent>& group, T value, Op&& op) {
  typedef __remove_cvref(Op) Operation;
  constexpr __td_warp_op instruction = __td_warp_op_of<T, Operation>;
  if constexpr (size > 32) {
    // Lanes that are there, then warps.
    const T of_warp = __td_reduce_lanes(__activemask(), value, op);
    return group.__td_combine(of_warp, op);
  } else if constexpr (instruction != __td_warp_op::none && size == 32) {
    return __td_reduce_by_instruction(group.__td_mask(), value, instruction);
  } else {
#pragma unroll
    for (unsigned bits = 1; bits < size; bits *= 2) {
      const T other = group.shfl_xor(value, bits);
      // In ascending order of ranks, for operations that do not commute.
      const bool upper = (group.thread_rank() & bits) != 0;
      value = upper ? op(other, value) : op(value, other);
    }
    return value;
  }
}

template <class T, class Op>
__TD_FN T reduce(const coalesced_group& group, T value, Op&& op) {
  typedef __remove_cvref(Op) Operation;
  constexpr __td_warp_op instruction = __td_warp_op_of<T, Operation>;
  if constexpr (instruction != __td_warp_op::none)
    return __td_reduce_by_instruction(group.__td_mask(), value, instruction);
  else
    return __td_reduce_lanes(group.__td_mask(), value, op);
}

// The group's result goes to a place in memory, by one of its threads.
template <class Group, class T, class Op>
__TD_FN void reduce_store_async(const Group& group, T* place, T value, Op&& op) {
  const T result = reduce(group, value, op);
  if (group.thread_rank() == 0) *place = result;
}

template <class Atomic, class T, class Op>
__TD_FN T __td_update(Atomic& atomic, T value, Op&& op) {
  T old = atomic.load();
  while (!atomic.compare_exchange_weak(old, op(old, value))) {
  }
  return old;
}
template <class Group, class Atomic, class T, class Op>
__TD_FN void reduce_update_async(const Group& group, Atomic& atomic, T value, Op&& op) {
  const T result = reduce(group, value, op);
  if (group.thread_rank() == 0) __td_update(atomic, result, op);
}

}  // namespace cooperative_groups
