// The functions of kernel_abi.h through which kernels reach textures and surfaces: operands of a
// warp, the objects behind handles, and the errors of those that are none.
#include <cstdio>
#include <cstring>

#include "softdev/run/executor.h"
#include "softdev/run/fault.h"
#include "softdev/run/no_sanitize.h"
#include "softdev/run/surface.h"
#include "softdev/run/texture_fetch.h"

using namespace td::softdev;

namespace {

template <class T>
const T* operand(const WarpCall& call, unsigned number) {
  return static_cast<const T*>(call.operands[number]);
}
template <class T>
T operand(const WarpCall& call, unsigned number, unsigned lane) {
  return call.operands[number] ? operand<T>(call, number)[lane] : T{};
}

[[noreturn]] TD_ON_WARP_STACK void leave(const WarpCall& call, TrapKind kind, unsigned lane,
                                         std::uintptr_t address) {
  Executor& executor = *static_cast<Executor*>(call.block->scheduler);
  const std::uint32_t* size = call.block->launch->block;
  const std::uint32_t thread = call.first_thread + lane;
  std::snprintf(executor.leave_text_buffer(), Executor::kLeaveText, ", thread (%u, %u, %u)",
                thread % size[0], thread / size[0] % size[1], thread / size[0] / size[1]);
  Leave leave;
  leave.cause = Leave::Cause::trap;
  leave.trap_kind = static_cast<std::uint32_t>(kind);
  leave.line = call.line;
  leave.address = address;
  executor.leave_now(leave);
}

// Whether any lane, calling or not, names another object.
TD_ON_WARP_STACK bool differ(const WarpCall& call, std::uint64_t handle) {
  const auto* handles = operand<std::uint64_t>(call, 0);
  std::uint64_t difference = 0;
  if (handles)
    for (unsigned l = 0; l < call.width; ++l) difference |= handles[l] ^ handle;
  return difference != 0;
}

// Calls body(object, lanes) for each set of lanes with one handle.
template <class Find, class Body>
TD_ON_WARP_STACK void for_each_object(const WarpCall& call, Find find, Body body) {
  std::uint32_t left = call.lanes;
  while (left) {
    const auto first = static_cast<unsigned>(__builtin_ctz(left));
    const auto handle = operand<std::uint64_t>(call, 0, first);
    std::uint32_t same = left;
    if (differ(call, handle)) {
      same = 0;
      for (unsigned l = 0; l < call.width; ++l)
        same |= std::uint32_t{operand<std::uint64_t>(call, 0, l) == handle} << l;
      same &= left;
    }
    const TextureObject* object = find(handle);
    if (!object) leave(call, TrapKind::bad_texture, first, handle);
    body(*object, same);
    left &= ~same;
  }
}

TD_ON_WARP_STACK void give_size(const TextureObject& object, const TextureFetch& fetch) {
  const ArrayShape& shape = object.level[0];
  const std::uint32_t words[] = {shape.width, shape.height, shape.depth, object.levels};
  for (unsigned c = 0; c < 4; ++c)
    for (unsigned l = 0; l < fetch.width; ++l) fetch.out[c * fetch.width + l] = words[c];
}

TD_ON_WARP_STACK void give(const TextureObject& object, const TextureFetch& call) {
  static const bool avx2 = __builtin_cpu_supports("avx2");
  if (call.op == TextureOp::size)
    give_size(object, call);
  else if (avx2)
    fetch_avx2(object, call);
  else
    fetch_plain(object, call);
}

TD_RT_TEXT TD_ON_WARP_STACK void copy(void* to, const void* from, std::uint32_t bytes) {
  if (bytes == 1) {
    std::memcpy(to, from, 1);
  } else if (bytes == 2) {
    std::memcpy(to, from, 2);
  } else {
    for (std::uint32_t at = 0; at < bytes; at += 4)
      std::memcpy(static_cast<char*>(to) + at, static_cast<const char*>(from) + at, 4);
  }
}

// Calls body(lane, address, bytes); the address is null where nothing is to be accessed.
template <class Body>
TD_ON_WARP_STACK void access_surface(const WarpCall& call, Body body) {
  for_each_object(
      call, find_surface, [&](const TextureObject& object, std::uint32_t lanes) TD_ON_WARP_STACK {
        SurfaceAccess access;
        access.bytes = call.op & 0xff;
        access.boundary = static_cast<Boundary>(call.op >> 8);
        for (; lanes; lanes &= lanes - 1) {
          const auto lane = static_cast<unsigned>(__builtin_ctz(lanes));
          access.x = operand<std::int32_t>(call, 1, lane);
          access.y = operand<std::int32_t>(call, 2, lane);
          access.plane = operand<std::int32_t>(call, 3, lane);
          unsigned char* at = nullptr;
          SurfaceResult result = find_in_surface(object.level[0], access, &at);
          if (result == SurfaceResult::outside)
            leave(call, TrapKind::surface_outside, lane, static_cast<std::uint32_t>(access.x));
          if (result == SurfaceResult::misaligned)
            leave(call, TrapKind::surface_misaligned, lane, static_cast<std::uint32_t>(access.x));
          body(lane, at, access.bytes);
        }
      });
}

}  // namespace

extern "C" {

TD_ON_WARP_STACK void td_rt_texture(const WarpCall* call) {
  TextureFetch fetch;
  fetch.op = static_cast<TextureOp>(call->op & 15);
  fetch.has_level = call->op >> 4 & 1;
  fetch.component = call->op >> 8 & 3;
  fetch.lanes = call->lanes;
  fetch.width = call->width;
  fetch.x = operand<float>(*call, 1);
  fetch.y = operand<float>(*call, 2);
  fetch.z = operand<float>(*call, 3);
  fetch.level = operand<float>(*call, 4);
  fetch.layer = operand<std::int32_t>(*call, 5);
  fetch.out = call->result;
  // Lanes that name several objects: what is found for some must not overwrite the others'.
  std::uint32_t words[4 * kWarpSize];
  for_each_object(*call, find_texture,
                  [&](const TextureObject& object, std::uint32_t lanes) TD_ON_WARP_STACK {
                    fetch.lanes = lanes;
                    if (lanes == call->lanes) return give(object, fetch);
                    fetch.out = words;
                    give(object, fetch);
                    for (unsigned c = 0; c < 4; ++c)
                      for (unsigned l = 0; l < call->width; ++l)
                        if (lanes >> l & 1)
                          call->result[c * call->width + l] = words[c * call->width + l];
                  });
}

TD_ON_WARP_STACK void td_rt_surface_read(const WarpCall* call) {
  access_surface(*call,
                 [&](unsigned lane, const unsigned char* at, std::uint32_t bytes) TD_ON_WARP_STACK {
                   std::uint32_t words[4] = {};
                   if (at) copy(words, at, bytes);
                   for (unsigned c = 0; c < 4; ++c) call->result[c * call->width + lane] = words[c];
                 });
}

TD_ON_WARP_STACK void td_rt_surface_write(const WarpCall* call) {
  access_surface(*call,
                 [&](unsigned lane, unsigned char* at, std::uint32_t bytes) TD_ON_WARP_STACK {
                   std::uint32_t words[4];
                   for (unsigned c = 0; c < 4; ++c)
                     words[c] = operand<std::uint32_t>(*call, 4 + c, lane);
                   if (at) copy(at, words, bytes);
                 });
}

}  // extern "C"
