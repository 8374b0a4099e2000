// Normal numbers of mean 0 and deviation 1. Pseudorandom generators make pairs of them (Box and
// Muller: A Note on the Generation of Random Normal Deviates; 1958) and keep the second in their
// state; quasirandom ones invert the distribution, which keeps their order.
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

namespace td_curand {

// `u` in (0, 1], the angle in radians (float) or half turns (double).
QUALIFIERS float2 box_muller(float u, float angle) {
  const float radius = sqrtf(-2.0f * logf(u));
  float2 pair;
  __sincosf(angle, &pair.x, &pair.y);
  return make_float2(pair.x * radius, pair.y * radius);
}
QUALIFIERS double2 box_muller(double u, double angle) {
  const double radius = sqrt(-2.0 * log(u));
  double2 pair;
  sincospi(angle, &pair.x, &pair.y);
  return make_double2(pair.x * radius, pair.y * radius);
}
QUALIFIERS float2 box_muller(unsigned int x, unsigned int y) {
  const float turn = 0x1p-32f * 6.2831855f;
  return box_muller(_curand_uniform(x), (float)y * turn + turn / 2);
}
QUALIFIERS double2 box_muller(uint4 x) {
  return box_muller(_curand_uniform_double_hq(x.x, x.y), 2.0 * _curand_uniform_double_hq(x.z, x.w));
}

// The next pair of a generator.
template <class State>
QUALIFIERS float2 normal_pair(State* state) {
  const unsigned x = curand(state);
  return box_muller(x, curand(state));
}
QUALIFIERS float2 normal_pair(curandStateMRG32k3a_t* state) {
  const float u = curand_uniform(state);
  return box_muller(u, curand_uniform(state) * 6.2831855f);
}
QUALIFIERS double2 normal_pair_double(curandStateXORWOW_t* state) {
  const unsigned x = curand(state), y = curand(state), z = curand(state);
  return box_muller(make_uint4(x, y, z, curand(state)));
}
QUALIFIERS double2 normal_pair_double(curandStatePhilox4_32_10_t* state) {
  return box_muller(curand4(state));
}
QUALIFIERS double2 normal_pair_double(curandStateMRG32k3a_t* state) {
  const double u = curand_uniform_double(state);
  return box_muller(u, curand_uniform_double(state) * 2.0);
}

// One number of a pair, through `map`; the other waits in the state under the mark `kind`.
enum Kind { normal = 1, log_normal = 2 };
template <class State, class Map>
QUALIFIERS float one_of_pair(State* state, Kind kind, Map map) {
  if (state->boxmuller_flag == kind) {
    state->boxmuller_flag = 0;
    return state->boxmuller_extra;
  }
  const float2 pair = normal_pair(state);
  state->boxmuller_flag = kind;
  state->boxmuller_extra = map(pair.y);
  return map(pair.x);
}
template <class State, class Map>
QUALIFIERS double one_of_pair_double(State* state, Kind kind, Map map) {
  if (state->boxmuller_flag_double == kind) {
    state->boxmuller_flag_double = 0;
    return state->boxmuller_extra_double;
  }
  const double2 pair = normal_pair_double(state);
  state->boxmuller_flag_double = kind;
  state->boxmuller_extra_double = map(pair.y);
  return map(pair.x);
}

}  // namespace td_curand

// The inverse of the distribution. The upper half of the numbers mirrors the lower, where erfcinv
// has its accuracy.
QUALIFIERS float _curand_normal_icdf(unsigned int x) {
  const bool upper = x > 0x80000000u;
  const float p = _curand_uniform(upper ? ~x : x);
  return (upper ? 1.4142135f : -1.4142135f) * erfcinvf(2.0f * p);
}
QUALIFIERS float _curand_normal_icdf(unsigned long long x) {
  return _curand_normal_icdf((unsigned int)(x >> 32));
}
QUALIFIERS double _curand_normal_icdf_double(unsigned int x) {
  const bool upper = x > 0x80000000u;
  const double p = (upper ? ~x : x) * 0x1p-32 + 0x1p-33;
  return (upper ? 1.4142135623730951 : -1.4142135623730951) * erfcinv(2.0 * p);
}
QUALIFIERS double _curand_normal_icdf_double(unsigned long long x) {
  const bool upper = x >> 11 > 1ull << 52;
  const double p = _curand_uniform_double(upper ? ~x : x);
  return (upper ? 1.4142135623730951 : -1.4142135623730951) * erfcinv(2.0 * p);
}

#define TD_NORMAL(State)                                                                        \
  QUALIFIERS float curand_normal(State* state) {                                                \
    return td_curand::one_of_pair(state, td_curand::normal, [](float x) { return x; });         \
  }                                                                                             \
  QUALIFIERS double curand_normal_double(State* state) {                                        \
    return td_curand::one_of_pair_double(state, td_curand::normal, [](double x) { return x; }); \
  }                                                                                             \
  QUALIFIERS float2 curand_normal2(State* state) { return td_curand::normal_pair(state); }      \
  QUALIFIERS double2 curand_normal2_double(State* state) {                                      \
    return td_curand::normal_pair_double(state);                                                \
  }
TD_CURAND_PSEUDO(TD_NORMAL)
#undef TD_NORMAL

#define TD_NORMAL(State)                                                                      \
  QUALIFIERS float curand_normal(State* state) { return _curand_normal_icdf(curand(state)); } \
  QUALIFIERS double curand_normal_double(State* state) {                                      \
    return _curand_normal_icdf_double(curand(state));                                         \
  }
TD_CURAND_QUASI(TD_NORMAL)
#undef TD_NORMAL

QUALIFIERS float4 curand_normal4(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  const float2 a = td_curand::box_muller(x.x, x.y), b = td_curand::box_muller(x.z, x.w);
  return make_float4(a.x, a.y, b.x, b.y);
}
QUALIFIERS double4 curand_normal4_double(curandStatePhilox4_32_10_t* state) {
  const double2 a = curand_normal2_double(state), b = curand_normal2_double(state);
  return make_double4(a.x, a.y, b.x, b.y);
}
