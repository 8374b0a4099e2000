// What device code calls in the runtime, once for each thread: the heap, questions about addresses,
// and atomics that no instruction of LLVM has. Rows of simt/builtins.def of kind lane_call name
// them.
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
}
