// Log-normal numbers: exp of normal ones of the given mean and deviation. The one that waits in a
// state has the mean and deviation of the call that made its pair.
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

#define TD_LOG_NORMAL(State)                                                                \
  QUALIFIERS float curand_log_normal(State* state, float mean, float stddev) {              \
    return td_curand::one_of_pair(state, td_curand::log_normal,                             \
                                  [=](float x) { return expf(mean + stddev * x); });        \
  }                                                                                         \
  QUALIFIERS double curand_log_normal_double(State* state, double mean, double stddev) {    \
    return td_curand::one_of_pair_double(state, td_curand::log_normal,                      \
                                         [=](double x) { return exp(mean + stddev * x); }); \
  }                                                                                         \
  QUALIFIERS float2 curand_log_normal2(State* state, float mean, float stddev) {            \
    const float2 x = curand_normal2(state);                                                 \
    return make_float2(expf(mean + stddev * x.x), expf(mean + stddev * x.y));               \
  }                                                                                         \
  QUALIFIERS double2 curand_log_normal2_double(State* state, double mean, double stddev) {  \
    const double2 x = curand_normal2_double(state);                                         \
    return make_double2(exp(mean + stddev * x.x), exp(mean + stddev * x.y));                \
  }
TD_CURAND_PSEUDO(TD_LOG_NORMAL)
#undef TD_LOG_NORMAL

#define TD_LOG_NORMAL(State)                                                             \
  QUALIFIERS float curand_log_normal(State* state, float mean, float stddev) {           \
    return expf(mean + stddev * curand_normal(state));                                   \
  }                                                                                      \
  QUALIFIERS double curand_log_normal_double(State* state, double mean, double stddev) { \
    return exp(mean + stddev * curand_normal_double(state));                             \
  }
TD_CURAND_QUASI(TD_LOG_NORMAL)
#undef TD_LOG_NORMAL

QUALIFIERS float4 curand_log_normal4(curandStatePhilox4_32_10_t* state, float mean, float stddev) {
  const float4 x = curand_normal4(state);
  return make_float4(expf(mean + stddev * x.x), expf(mean + stddev * x.y),
                     expf(mean + stddev * x.z), expf(mean + stddev * x.w));
}
QUALIFIERS double4 curand_log_normal4_double(curandStatePhilox4_32_10_t* state, double mean,
                                             double stddev) {
  const double4 x = curand_normal4_double(state);
  return make_double4(exp(mean + stddev * x.x), exp(mean + stddev * x.y), exp(mean + stddev * x.z),
                      exp(mean + stddev * x.w));
}
