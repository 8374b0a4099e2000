// namespace cuda::std: everything that our headers put into namespace std.
#pragma once
#pragma clang system_header
#include "td_group.h"

namespace std {}
namespace cuda {
namespace std {
using namespace ::std;
}  // namespace std
}  // namespace cuda
