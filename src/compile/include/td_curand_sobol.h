// Sobol's quasirandom sequences, in the order of Antonov and Saleev: element i is the exclusive or
// of the direction vectors that the Gray code of i selects, so that neighbours differ by one
// vector. Scrambled ones start at a constant of the user's instead of 0.
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

// `i` is the position, `x` the element there, `c` the scramble constant.
#define TD_SOBOL(name, Word, Vectors, bits)                                                    \
  struct name {                                                                                \
    Word i, x, c;                                                                              \
    Word direction_vectors[bits];                                                              \
  };                                                                                           \
  typedef struct name name##_t;                                                                \
  /* Skips n elements. */                                                                      \
  QUALIFIERS void skipahead(Word n, name* state) {                                             \
    state->i += n;                                                                             \
    const Word gray = state->i ^ state->i >> 1;                                                \
    Word x = state->c;                                                                         \
    for (int k = 0; k < bits; ++k) x ^= gray >> k & 1 ? state->direction_vectors[k] : (Word)0; \
    state->x = x;                                                                              \
  }                                                                                            \
  QUALIFIERS void td_sobol_init(Vectors vectors, Word constant, Word offset, name* state) {    \
    state->i = 0;                                                                              \
    state->c = constant;                                                                       \
    for (int k = 0; k < bits; ++k) state->direction_vectors[k] = vectors[k];                   \
    skipahead(offset, state);                                                                  \
  }                                                                                            \
  /* The element at the position; the lowest zero of i says which vector leads to the next. */ \
  QUALIFIERS Word curand(name* state) {                                                        \
    const Word x = state->x, zeros = ~state->i;                                                \
    const int lowest = bits == 32 ? __ffs((int)zeros) : __ffsll((long long)zeros);             \
    state->x = x ^ state->direction_vectors[lowest == 0 ? bits - 1 : lowest - 1];              \
    ++state->i;                                                                                \
    return x;                                                                                  \
  }
TD_SOBOL(curandStateSobol32, unsigned int, curandDirectionVectors32_t, 32)
TD_SOBOL(curandStateScrambledSobol32, unsigned int, curandDirectionVectors32_t, 32)
TD_SOBOL(curandStateSobol64, unsigned long long, curandDirectionVectors64_t, 64)
TD_SOBOL(curandStateScrambledSobol64, unsigned long long, curandDirectionVectors64_t, 64)
#undef TD_SOBOL

// vectors: the 32 or 64 of one dimension, in memory that the kernel reads.
QUALIFIERS void curand_init(curandDirectionVectors32_t vectors, unsigned int offset,
                            curandStateSobol32_t* state) {
  td_sobol_init(vectors, 0, offset, state);
}
QUALIFIERS void curand_init(curandDirectionVectors32_t vectors, unsigned int constant,
                            unsigned int offset, curandStateScrambledSobol32_t* state) {
  td_sobol_init(vectors, constant, offset, state);
}
QUALIFIERS void curand_init(curandDirectionVectors64_t vectors, unsigned long long offset,
                            curandStateSobol64_t* state) {
  td_sobol_init(vectors, 0, offset, state);
}
QUALIFIERS void curand_init(curandDirectionVectors64_t vectors, unsigned long long constant,
                            unsigned long long offset, curandStateScrambledSobol64_t* state) {
  td_sobol_init(vectors, constant, offset, state);
}
