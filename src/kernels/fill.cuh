// Arrays of random numbers.

// Two normal variates from two words or two uniform numbers (Box and Muller). The float ones are
// made of operations that round alike everywhere, so they are the same to the bit on every device.
TD_FN void td_normal_pair(unsigned v, unsigned w, float& a, float& b) {
  // -2 log(x) for x in (0, 1], by a polynomial in f = m - 1, where x = 2^e m and m in [3/4, 3/2).
  const unsigned x = __float_as_uint(__fmaf_rn((float)v, 2.3283064365386963e-10f, 1.1641532e-10f));
  const int e = (int)((x - 0x3f400000u) & 0xff800000u);
  const float f = __uint_as_float(x - (unsigned)e) - 1.0f;
  float p = __fmaf_rn(0.13440601527690887f, f, -0.28307124972343445f);
  p = __fmaf_rn(p, f, 0.34674254059791565f);
  p = __fmaf_rn(p, f, -0.40190696716308594f);
  p = __fmaf_rn(p, f, 0.4995854198932648f);
  p = __fmaf_rn(p, f, -0.6666141152381897f);
  p = __fmaf_rn(p, f, 1.0000033378601074f);
  const float square = __fmaf_rn((float)e, -1.6525845e-07f, __fmaf_rn(f * f, p, -2.0f * f));
  // The angle is that of half a turn; the last bit says which half.
  const float r = __uint_as_float(__float_as_uint(sqrtf(square)) ^ (w & 0x80000000u));
  const float turn = __uint_as_float((w >> 8 & 0x7fffffu) | 0x3f800000u) - 1.5f, z = turn * turn;
  float s = __fmaf_rn(0.07765940576791763f, z, -0.5982921719551086f);
  s = __fmaf_rn(s, z, 2.5500776767730713f);
  s = __fmaf_rn(s, z, -5.167710304260254f);
  s = __fmaf_rn(s, z, 3.1415927410125732f);
  float c = __fmaf_rn(0.2196967899799347f, z, -1.3318802118301392f);
  c = __fmaf_rn(c, z, 4.058412075042725f);
  c = __fmaf_rn(c, z, -4.934792995452881f);
  c = __fmaf_rn(c, z, 0.9999999403953552f);
  a = r * c;
  b = r * (turn * s);
}
TD_FN void td_normal_pair(double u, double v, double& a, double& b) {
  const double radius = sqrt(-2.0 * log(1.0 - u));  // never the logarithm of 0
  double s, c;
  sincospi(2.0 * v, &s, &c);
  a = radius * c;
  b = radius * s;
}

// Fills `out` with the numbers of consecutive blocks of the generator: draw(block, v) gives N.
// One or two accesses of 16 bytes hold them.
template <class T, int N, class Draw>
TD_FN void td_fill_random(T* out, long long size, unsigned long long offset, Draw draw) {
  enum { V = N * sizeof(T) <= 16 ? N : 16 / sizeof(T) };
  const long long step = (long long)gridDim.x * 256, whole = size / N;
  const long long own = (long long)blockIdx.x * 256 + threadIdx.x;
#ifdef __TREADLE__
  for (long long i = own; i < whole; i += step) {
    T v[N];
    draw(offset + i, v);
#pragma unroll
    for (int k = 0; k < N; ++k) out[i * N + k] = v[k];
  }
#else
  if constexpr (N == V) {
#pragma unroll 4
    for (long long i = own; i < whole; i += step) {
      td_vec<T, N> v;
      draw(offset + i, v.at);
      td_store(out + i * N, v);
    }
  } else {
    // Two neighbours fill one sector of memory with each store. Warps run whole.
    const int lane = threadIdx.x % 32, odd = lane % 2;
#pragma unroll 2
    for (long long i = own; i - lane < whole; i += step) {
      T v[N];
      draw(offset + i, v);
      td_vec<T, V> first, second;
#pragma unroll
      for (int k = 0; k < V; ++k) {
        const T got = __shfl_xor_sync(~0u, odd ? v[k] : v[V + k], 1);
        first.at[k] = odd ? got : v[k];
        second.at[k] = odd ? v[V + k] : got;
      }
      T* p = out + (i - odd) * N + odd * V;
      if (i - odd < whole) td_store(p, first);
      if (i - odd + 1 < whole) td_store(p + N, second);
    }
  }
#endif
  if (own == 0 && whole * N < size) {
    T v[N];
    draw(offset + whole, v);
    for (int k = 0; whole * N + k < size; ++k) out[whole * N + k] = v[k];
  }
}
