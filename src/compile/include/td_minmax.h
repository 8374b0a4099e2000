// CUDA's overloads of min and max, declared with TD_MINMAX_FN, which whoever includes this file
// defines: once for device code and once for the host side of a program.
#pragma clang system_header
#define TD_MINMAX(R, A, B)                                                     \
  TD_MINMAX_FN constexpr R min(A x, B y) { return (R)x < (R)y ? (R)x : (R)y; } \
  TD_MINMAX_FN constexpr R max(A x, B y) { return (R)x < (R)y ? (R)y : (R)x; }
//        result              operands
TD_MINMAX(int, int, int)
TD_MINMAX(unsigned, unsigned, unsigned)
TD_MINMAX(unsigned, int, unsigned)
TD_MINMAX(unsigned, unsigned, int)
TD_MINMAX(long, long, long)
TD_MINMAX(unsigned long, unsigned long, unsigned long)
TD_MINMAX(unsigned long, long, unsigned long)
TD_MINMAX(unsigned long, unsigned long, long)
TD_MINMAX(long long, long long, long long)
TD_MINMAX(unsigned long long, unsigned long long, unsigned long long)
TD_MINMAX(unsigned long long, long long, unsigned long long)
TD_MINMAX(unsigned long long, unsigned long long, long long)
#undef TD_MINMAX
TD_MINMAX_FN float min(float x, float y) { return ::fminf(x, y); }
TD_MINMAX_FN float max(float x, float y) { return ::fmaxf(x, y); }
TD_MINMAX_FN double min(double x, double y) { return ::fmin(x, y); }
TD_MINMAX_FN double max(double x, double y) { return ::fmax(x, y); }
TD_MINMAX_FN double min(float x, double y) { return ::fmin((double)x, y); }
TD_MINMAX_FN double max(float x, double y) { return ::fmax((double)x, y); }
TD_MINMAX_FN double min(double x, float y) { return ::fmin(x, (double)y); }
TD_MINMAX_FN double max(double x, float y) { return ::fmax(x, (double)y); }
#undef TD_MINMAX_FN
