// Warp-level operations of threads that are fibers of their own, as PTX defines them. The lanes of
// the group have all arrived; what a lane outside of it would hold is undefined in CUDA, and here
// the asking lane's own value.
#include <algorithm>

#include "softdev/run/device_calls.h"
#include "softdev/run/fair_block.h"

namespace td::softdev {

namespace {

template <class Body>
TD_ON_WARP_STACK void for_each_lane(std::uint32_t group, const Body& body) {
  for (std::uint32_t l = 0; l < kWarpSize; ++l)
    if (group >> l & 1) body(l);
}

TD_ON_WARP_STACK void shuffle(Fiber* fibers, std::uint32_t group, std::uint32_t lane) {
  Fiber& self = fibers[lane];
  std::uint32_t distance = self.b & 31, clamp = self.c & 31, segment = self.c >> 8 & 31;
  auto first = static_cast<int>(lane & segment);
  auto limit = static_cast<int>((lane & segment) | (clamp & ~segment));
  auto source = static_cast<int>(lane);
  bool inside = false;
  if (self.op == WarpOp::shuffle_up) {
    source -= static_cast<int>(distance);
    inside = source >= limit;
  } else {
    if (self.op == WarpOp::shuffle_idx) source = first | static_cast<int>(distance & ~segment & 31);
    if (self.op == WarpOp::shuffle_down) source += static_cast<int>(distance);
    if (self.op == WarpOp::shuffle_bfly) source ^= static_cast<int>(distance);
    inside = source <= limit;
  }
  if (!inside) source = static_cast<int>(lane);
  std::uint32_t from = static_cast<std::uint32_t>(source) & 31;
  if (!(group >> from & 1)) from = lane;
  self.result = (fibers[from].value & 0xffffffffu) | std::uint64_t{inside} << 32;
}

TD_ON_WARP_STACK std::uint32_t combine(WarpOp op, std::uint32_t x, std::uint32_t y) {
  auto sx = static_cast<std::int32_t>(x), sy = static_cast<std::int32_t>(y);
  switch (op) {
    case WarpOp::reduce_add:
      return x + y;
    case WarpOp::reduce_and:
      return x & y;
    case WarpOp::reduce_or:
      return x | y;
    case WarpOp::reduce_xor:
      return x ^ y;
    case WarpOp::reduce_umin:
      return std::min(x, y);
    case WarpOp::reduce_umax:
      return std::max(x, y);
    case WarpOp::reduce_min:
      return sx < sy ? x : y;
    default:
      return sx > sy ? x : y;
  }
}

// One result for all: of a vote, a ballot, match_all or a reduction.
TD_ON_WARP_STACK std::uint64_t common_result(Fiber* fibers, std::uint32_t group) {
  auto lane = static_cast<std::uint32_t>(__builtin_ctz(group));
  WarpOp op = fibers[lane].op;
  std::uint32_t holds = 0;
  bool equal = true;
  auto reduced = static_cast<std::uint32_t>(fibers[lane].value);
  for_each_lane(group, [&](std::uint32_t l) {
    if (fibers[l].value) holds |= 1u << l;
    equal = equal && fibers[l].value == fibers[lane].value;
    if (l != lane && op >= WarpOp::reduce_add)
      reduced = combine(op, reduced, static_cast<std::uint32_t>(fibers[l].value));
  });
  switch (op) {
    case WarpOp::vote_all:
      return holds == group;
    case WarpOp::vote_any:
      return holds != 0;
    case WarpOp::vote_uni:
      return holds == group || holds == 0;
    case WarpOp::ballot:
      return holds;
    case WarpOp::match_all:
      return equal ? group | std::uint64_t{1} << 32 : 0;
    default:
      return reduced;
  }
}

// Lanes outside of the group count as zeros.
TD_ON_WARP_STACK void multiply(Fiber* fibers, std::uint32_t group) {
  std::uint32_t operands[10][kWarpSize] = {}, results[4][kWarpSize];
  auto words_of = [&](std::uint32_t l) {
    return reinterpret_cast<std::uint32_t*>(static_cast<std::uintptr_t>(fibers[l].value));
  };
  for_each_lane(group, [&](std::uint32_t l) {
    for (int i = 0; i < 10; ++i) operands[i][l] = words_of(l)[i];
  });
  td_rt_mma(operands, results, fibers[__builtin_ctz(group)].b);
  for_each_lane(group, [&](std::uint32_t l) {
    for (int i = 0; i < 4; ++i) words_of(l)[i] = results[i][l];
  });
}

}  // namespace

TD_ON_WARP_STACK void compute_warp_op(Fiber* fibers, std::uint32_t group) {
  WarpOp op = fibers[__builtin_ctz(group)].op;
  if (op == WarpOp::sync) return;
  if (op == WarpOp::mma) return multiply(fibers, group);
  if (op >= WarpOp::shuffle_idx && op <= WarpOp::shuffle_bfly)
    return for_each_lane(group, [&](std::uint32_t l) { shuffle(fibers, group, l); });
  if (op == WarpOp::match_any)
    return for_each_lane(group, [&](std::uint32_t l) {
      std::uint32_t same = 0;
      for_each_lane(group, [&](std::uint32_t k) {
        if (fibers[k].value == fibers[l].value) same |= 1u << k;
      });
      fibers[l].result = same;
    });
  std::uint64_t result = common_result(fibers, group);
  for_each_lane(group, [&](std::uint32_t l) { fibers[l].result = result; });
}

}  // namespace td::softdev
