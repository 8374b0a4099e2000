// namespace std: the functions of <cmath>, <cstdlib> and <cstring> that kernels use.
#pragma once
#pragma clang system_header

namespace std {
using ::clock_t;
using ::ptrdiff_t;
using ::size_t;
typedef decltype(nullptr) nullptr_t;

#define TD_USING_STD(name) \
  using ::name;            \
  using ::name##f;
#define TD_USING_CUDA(name)
#define TD_MATH(name, arity, space, how, double_body, float_body) TD_USING_##space(name)
#include "device_builtins.def"
#undef TD_USING_STD
#undef TD_USING_CUDA

using ::abs;
using ::calloc;
using ::clock;
using ::fpclassify;
using ::free;
using ::frexp;
using ::frexpf;
using ::ilogb;
using ::ilogbf;
using ::isfinite;
using ::isgreater;
using ::isgreaterequal;
using ::isinf;
using ::isless;
using ::islessequal;
using ::islessgreater;
using ::isnan;
using ::isnormal;
using ::isunordered;
using ::labs;
using ::ldexp;
using ::ldexpf;
using ::llabs;
using ::llrint;
using ::llrintf;
using ::llround;
using ::llroundf;
using ::logb;
using ::logbf;
using ::lrint;
using ::lrintf;
using ::lround;
using ::lroundf;
using ::malloc;
using ::memchr;
using ::memcmp;
using ::memcpy;
using ::memmove;
using ::memset;
using ::modf;
using ::modff;
using ::nan;
using ::nanf;
using ::printf;
using ::remquo;
using ::remquof;
using ::scalbln;
using ::scalblnf;
using ::scalbn;
using ::scalbnf;
using ::signbit;
using ::strcat;
using ::strchr;
using ::strcmp;
using ::strcpy;
using ::strlen;
using ::strncmp;
using ::strncpy;
using ::strrchr;
using ::strstr;
}  // namespace std
