// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3; SC11).
// Four numbers are a function of a counter and a key. The key is the seed, the upper half of the
// counter the sequence, the lower half the position in it, in fours.
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

// `output` is the block at `ctr`, `STATE` the number of it that comes next.
struct curandStatePhilox4_32_10 {
  uint4 ctr, output;
  uint2 key;
  unsigned int STATE;
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

QUALIFIERS uint4 curand_Philox4x32_10(uint4 c, uint2 key) {
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const unsigned long long a = 0xd2511f53ull * c.x, b = 0xcd9e8d57ull * c.z;
    c = make_uint4((unsigned)(b >> 32) ^ c.y ^ key.x, (unsigned)b,
                   (unsigned)(a >> 32) ^ c.w ^ key.y, (unsigned)a);
    key.x += 0x9e3779b9u;
    key.y += 0xbb67ae85u;
  }
  return c;
}

// Counter plus n blocks.
QUALIFIERS void Philox_State_Incr(curandStatePhilox4_32_10_t* state, unsigned long long n) {
  const unsigned long long low = (unsigned long long)state->ctr.y << 32 | state->ctr.x;
  unsigned long long high = (unsigned long long)state->ctr.w << 32 | state->ctr.z;
  const unsigned long long sum = low + n;
  high += sum < low;
  state->ctr =
      make_uint4((unsigned)sum, (unsigned)(sum >> 32), (unsigned)high, (unsigned)(high >> 32));
}
QUALIFIERS void Philox_State_Incr(curandStatePhilox4_32_10_t* state) {
  Philox_State_Incr(state, 1);
}
// Counter plus n sequences.
QUALIFIERS void Philox_State_Incr_hi(curandStatePhilox4_32_10_t* state, unsigned long long n) {
  const unsigned long long high = ((unsigned long long)state->ctr.w << 32 | state->ctr.z) + n;
  state->ctr.z = (unsigned)high;
  state->ctr.w = (unsigned)(high >> 32);
}

// Skips n numbers.
QUALIFIERS void skipahead(unsigned long long n, curandStatePhilox4_32_10_t* state) {
  const unsigned in_block = state->STATE + (unsigned)(n & 3);
  Philox_State_Incr(state, n / 4 + in_block / 4);
  state->STATE = in_block & 3;
  state->output = curand_Philox4x32_10(state->ctr, state->key);
}
// Skips n sequences of 2^66 numbers.
QUALIFIERS void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t* state) {
  Philox_State_Incr_hi(state, n);
  state->output = curand_Philox4x32_10(state->ctr, state->key);
}

QUALIFIERS void curand_init(unsigned long long seed, unsigned long long sequence,
                            unsigned long long offset, curandStatePhilox4_32_10_t* state) {
  *state = curandStatePhilox4_32_10_t();
  state->key = make_uint2((unsigned)seed, (unsigned)(seed >> 32));
  Philox_State_Incr_hi(state, sequence);
  skipahead(offset, state);
}

// Four numbers from the position on.
QUALIFIERS uint4 curand4(curandStatePhilox4_32_10_t* state) {
  const uint4 a = state->output;
  Philox_State_Incr(state);
  const uint4 b = state->output = curand_Philox4x32_10(state->ctr, state->key);
  switch (state->STATE) {
    case 1:
      return make_uint4(a.y, a.z, a.w, b.x);
    case 2:
      return make_uint4(a.z, a.w, b.x, b.y);
    case 3:
      return make_uint4(a.w, b.x, b.y, b.z);
    default:
      return a;
  }
}

QUALIFIERS unsigned int curand(curandStatePhilox4_32_10_t* state) {
  const uint4 block = state->output;
  const unsigned at = state->STATE;
  const unsigned low = at == 0 ? block.x : block.y, high = at == 2 ? block.z : block.w;
  state->STATE = at + 1;
  if (at == 3) {
    state->STATE = 0;
    Philox_State_Incr(state);
    state->output = curand_Philox4x32_10(state->ctr, state->key);
  }
  return at < 2 ? low : high;
}
