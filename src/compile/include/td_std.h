// namespace std: the functions of <cmath>, <cstdlib> and <cstring> that kernels use.
#pragma once
#pragma clang system_header

namespace std {
using ::size_t;
using ::ptrdiff_t;
using ::clock_t;
typedef decltype(nullptr) nullptr_t;

#define TD_USING_STD(name) using ::name; using ::name##f;
#define TD_USING_CUDA(name)
#define TD_MATH(name, arity, space, how, double_body, float_body) TD_USING_##space(name)
#include "device_builtins.def"
#undef TD_USING_STD
#undef TD_USING_CUDA

using ::abs; using ::labs; using ::llabs;
using ::isnan; using ::isinf; using ::isfinite; using ::isnormal; using ::signbit;
using ::ldexp; using ::ldexpf; using ::frexp; using ::frexpf; using ::modf; using ::modff;
using ::scalbn; using ::scalbnf; using ::ilogb; using ::ilogbf; using ::nan; using ::nanf;
using ::lrint; using ::lrintf; using ::llrint; using ::llrintf;
using ::lround; using ::lroundf; using ::llround; using ::llroundf;
using ::memcpy; using ::memmove; using ::memset; using ::printf; using ::clock;
}  // namespace std
