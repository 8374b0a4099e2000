// Uniform numbers greater than 0 and at most 1.
//
// Bits become the middle of their interval: (x + 1/2) 2^-32 in float. XORWOW and Philox's pairs
// make a double of two numbers, of 53 bits; other doubles of 32-bit numbers are (x + 1) 2^-32.
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

QUALIFIERS float _curand_uniform(unsigned int x) { return (float)x * 0x1p-32f + 0x1p-33f; }
QUALIFIERS float _curand_uniform(unsigned long long x) {
  return _curand_uniform((unsigned int)(x >> 32));
}
QUALIFIERS double _curand_uniform_double(unsigned int x) { return x * 0x1p-32 + 0x1p-32; }
QUALIFIERS double _curand_uniform_double(unsigned long long x) {
  return (double)(x >> 11) * 0x1p-53 + 0x1p-54;
}
QUALIFIERS double _curand_uniform_double_hq(unsigned int x, unsigned int y) {
  return (double)(x ^ (unsigned long long)y << 21) * 0x1p-53 + 0x1p-54;
}

#define TD_UNIFORM(State) \
  QUALIFIERS float curand_uniform(State* state) { return _curand_uniform(curand(state)); }
TD_UNIFORM(curandStateXORWOW)
TD_UNIFORM(curandStatePhilox4_32_10)
TD_CURAND_QUASI(TD_UNIFORM)
#undef TD_UNIFORM

#define TD_UNIFORM_DOUBLE(State)                          \
  QUALIFIERS double curand_uniform_double(State* state) { \
    return _curand_uniform_double(curand(state));         \
  }
TD_UNIFORM_DOUBLE(curandStatePhilox4_32_10)
TD_CURAND_QUASI(TD_UNIFORM_DOUBLE)
#undef TD_UNIFORM_DOUBLE

QUALIFIERS double curand_uniform_double(curandStateXORWOW_t* state) {
  const unsigned x = curand(state);
  return _curand_uniform_double_hq(x, curand(state));
}

// 1 / (m1 + 1), so that 1 is not reached in double.
QUALIFIERS double curand_uniform_double(curandStateMRG32k3a_t* state) {
  return curand_MRG32k3a(state) * 2.3283065498378288e-10;
}
QUALIFIERS float curand_uniform(curandStateMRG32k3a_t* state) {
  return (float)curand_uniform_double(state);
}

QUALIFIERS float4 curand_uniform4(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  return make_float4(_curand_uniform(x.x), _curand_uniform(x.y), _curand_uniform(x.z),
                     _curand_uniform(x.w));
}
QUALIFIERS double2 curand_uniform2_double(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  return make_double2(_curand_uniform_double_hq(x.x, x.y), _curand_uniform_double_hq(x.z, x.w));
}
QUALIFIERS double4 curand_uniform4_double(curandStatePhilox4_32_10_t* state) {
  const double2 a = curand_uniform2_double(state), b = curand_uniform2_double(state);
  return make_double4(a.x, a.y, b.x, b.y);
}
