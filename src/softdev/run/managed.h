// What a program has said about ranges of managed memory. Host and device share one memory here, so
// that advice and prefetches change nothing; they are checked and remembered.
#pragma once

#include "softdev/run/context.h"

namespace td::softdev {

// `advice`: CUmem_advise. CUDA_ERROR_INVALID_VALUE when [address, address + bytes) is not managed
// memory or the location makes no sense.
CUresult advise(std::uintptr_t address, std::size_t bytes, int advice, CUmemLocation location);
CUresult note_prefetch(std::uintptr_t address, std::size_t bytes, CUmemLocation location);
// Answers a CUmem_range_attribute: what holds for the whole range.
CUresult range_attribute(std::uintptr_t address, std::size_t bytes, int attribute, void* value,
                         std::size_t value_bytes);

}  // namespace td::softdev
