// What device code calls in the runtime, once for each thread unless said otherwise: the heap,
// questions about addresses, and atomics that no instruction of LLVM has. Rows of simt/builtins.def
// of kind lane_call name them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "softdev/simt/kernel_abi.h"

extern "C" {
// Null when the context's heap has no room for `bytes`, or when they are 0.
void* td_rt_malloc(td::softdev::BlockFrame* block, std::uint64_t bytes);
// Null is ignored; anything else that is not a live allocation ends the kernel
// (TrapKind::bad_free).
void td_rt_free(td::softdev::BlockFrame* block, void* address, std::uint32_t line);
// 0 neither of the others, 1 shared, 2 local.
std::uint32_t td_rt_address_space(td::softdev::BlockFrame* block, const void* address);
// 16 bytes at an address that is a multiple of 16. kind: 0 exchange, 1 compare and swap, 2 load.
// words[0..1]: the value, or what is compared; after the call what was there before. words[2..3]:
// the value of a compare and swap.
void td_rt_atomic_wide(td::softdev::BlockFrame* block, void* address, std::uint64_t* words,
                       std::uint32_t kind);
// Adds two bfloat16, rounded to nearest even, and returns the old bits.
std::uint16_t td_rt_atomic_add_bf16(td::softdev::BlockFrame* block, std::uint16_t* address,
                                    std::uint16_t value);

// D = A B + C, once for a warp, on fragments laid out as those of PTX's mma.sync, with Hopper's
// arithmetic (mma.cpp). registers: words of each lane: A in 0 to 3, B in 4 and 5, C in 6 to 9.
// result: D. kind: MmaKind.
//
//   kind        shape     A and B, elements of a word    C, D: a word each
//   f16_f32     m16n8k16  two float16                    float, float
//   f16_f16     m16n8k16  two float16                    float, float16 in the lower half
//   bf16_f32    m16n8k16  two bfloat16                   float, float
//   tf32_f32    m16n8k8   one float                      float, float
//   s8_s32 …    m16n8k16  four bytes (A in 0 and 1,      int, int
//                         B in 4); _sat saturates
//   f64_f64     m8n8k4    half a double                  half a double
void td_rt_mma(const std::uint32_t (*registers)[32], std::uint32_t (*result)[32],
               std::uint32_t kind);
}
