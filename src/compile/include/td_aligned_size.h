#pragma once
#pragma clang system_header
#include "td_group.h"

namespace cuda {

// A number of bytes that is a multiple of `alignment`, for a copy whose ends are aligned so.
template <size_t alignment>
struct aligned_size_t {
  static constexpr size_t align = alignment;
  size_t value;
  __TD_MEMBER_FN explicit constexpr aligned_size_t(size_t bytes) : value(bytes) {}
  __TD_MEMBER_FN constexpr operator size_t() const { return value; }
};

}  // namespace cuda
