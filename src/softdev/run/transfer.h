// Copies and fills as operations of a stream, in pieces that several threads share.
#pragma once

#include <cstddef>

#include "softdev/run/context.h"

namespace td::softdev {

// synchronous: returns when the copy is done. Source and destination may overlap only if small
// enough for one piece (CUDA leaves overlap undefined).
CUresult enqueue_copy(Context& context, CUstream_st& stream, void* to, const void* from,
                      std::size_t bytes, bool synchronous);
// From host memory that the caller may reuse when this returns: what the stream cannot take at once
// is copied aside.
CUresult enqueue_pageable_upload(Context& context, CUstream_st& stream, void* to, const void* from,
                                 std::size_t bytes);
void enqueue_fill(Context& context, CUstream_st& stream, void* to, unsigned char value,
                  std::size_t count);
void enqueue_fill(Context& context, CUstream_st& stream, void* to, unsigned value,
                  std::size_t count);

}  // namespace td::softdev
