// MRG32k3a (L'Ecuyer: Good Parameters and Implementations for Combined Multiple Recursive Random
// Number Generators; Operations Research 47, 1999): the difference of two recurrences of order 3.
//
// To skip n steps of x[k+3] = a x[k+2] + b x[k+1] + c x[k] mod m is to replace x[k] by p0 x[k] +
// p1 x[k+1] + p2 x[k+2], where p is z^n modulo z^3 - a z^2 - b z - c. Powers of z are squared on
// the way; the distance of sequences is a constant of the compiler.
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

// Both recurrences, oldest number first.
struct curandStateMRG32k3a {
  unsigned int s1[3], s2[3];
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef struct curandStateMRG32k3a curandStateMRG32k3a_t;

namespace td_mrg {

struct Polynomial {
  unsigned int p[3];
};

// Recurrence<209, ...>: modulo m = 2^32 - 209.
template <unsigned int gap, unsigned int a, unsigned int b, unsigned int c>
struct Recurrence {
  static constexpr unsigned long long m = (1ull << 32) - gap;

  // 2^32 is congruent to the gap. After two foldings less than 2 m remains.
  __host__ __device__ static unsigned int reduce(unsigned long long x) {
    x = (x >> 32) * gap + (x & 0xffffffffu);
    x = (x >> 32) * gap + (x & 0xffffffffu);
    return (unsigned int)(x < m ? x : x - m);
  }
  __host__ __device__ static unsigned int product(unsigned int x, unsigned int y) {
    return reduce((unsigned long long)x * y);
  }
  // x y + z w
  __host__ __device__ static unsigned int sum(unsigned int x, unsigned int y, unsigned int z,
                                              unsigned int w) {
    return reduce((unsigned long long)product(x, y) + product(z, w));
  }

  __host__ __device__ static Polynomial square(Polynomial q) {
    const unsigned int x4 = product(q.p[2], q.p[2]);
    const unsigned int x3 = sum(x4, a, 2, product(q.p[1], q.p[2]));
    const unsigned int x2 =
        sum(x3, a, 1, sum(x4, b, 1, sum(q.p[1], q.p[1], 2, product(q.p[0], q.p[2]))));
    const unsigned int x1 = sum(x3, b, 1, sum(x4, c, 2, product(q.p[0], q.p[1])));
    const unsigned int x0 = sum(x3, c, q.p[0], q.p[0]);
    return {{x0, x1, x2}};
  }
  // The number that follows.
  __host__ __device__ static unsigned int next(const unsigned int (&s)[3]) {
    return reduce((unsigned long long)a * s[2] + (unsigned long long)b * s[1] +
                  (unsigned long long)(m - c) * (m - s[0]));
  }
  __host__ __device__ static void push(unsigned int (&s)[3], unsigned int x) {
    s[0] = s[1];
    s[1] = s[2];
    s[2] = x;
  }

  // Skips n steps of the length whose power of z is `step`.
  __host__ __device__ static void skip(unsigned int (&s)[3], unsigned long long n,
                                       Polynomial step) {
    for (; n != 0; n >>= 1, step = square(step)) {
      if ((n & 1) == 0) continue;
      unsigned int later[3];
      for (int i = 0; i < 3; ++i) {
        later[i] = sum(step.p[0], s[0], 1, sum(step.p[1], s[1], step.p[2], s[2]));
        push(s, next(s));
      }
      for (int i = 0; i < 3; ++i) s[i] = later[i];
    }
  }
};

typedef Recurrence<209u, 0u, 1403580u, 4294967087u - 810728u> First;
typedef Recurrence<22853u, 527612u, 0u, 4294944443u - 1370589u> Second;

// Skips n steps whose powers of z are given.
QUALIFIERS void skip(curandStateMRG32k3a_t* state, unsigned long long n, Polynomial first,
                     Polynomial second) {
  curandStateMRG32k3a_t copy = *state;
  First::skip(copy.s1, n, first);
  Second::skip(copy.s2, n, second);
  *state = copy;
}

}  // namespace td_mrg

// Skips n numbers, n subsequences of 2^76 and n sequences of 2^127: powers of z modulo either
// polynomial.
QUALIFIERS void skipahead(unsigned long long n, curandStateMRG32k3a_t* state) {
  td_mrg::skip(state, n, {{0, 1, 0}}, {{0, 1, 0}});
}
QUALIFIERS void skipahead_subsequence(unsigned long long n, curandStateMRG32k3a_t* state) {
  td_mrg::skip(state, n, {{82758667u, 1871391091u, 4127413238u}},
               {{1511326704u, 3759209742u, 1610795712u}});
}
QUALIFIERS void skipahead_sequence(unsigned long long n, curandStateMRG32k3a_t* state) {
  td_mrg::skip(state, n, {{2427906178u, 3580155704u, 949770784u}},
               {{1464411153u, 277697599u, 1610723613u}});
}

// Seed 0 gives L'Ecuyer's starting values, another one multiplies them.
QUALIFIERS void curand_init(unsigned long long seed, unsigned long long subsequence,
                            unsigned long long offset, curandStateMRG32k3a_t* state) {
  const unsigned x = seed == 0 ? 1u : (unsigned)seed ^ 0x55555555u;
  const unsigned y = seed == 0 ? 1u : (unsigned)(seed >> 32) ^ 0xaaaaaaaau;
  const unsigned first_x = td_mrg::First::product(x, 12345u);
  const unsigned first_y = td_mrg::First::product(y, 12345u);
  const unsigned second_x = td_mrg::Second::product(x, 12345u);
  const unsigned second_y = td_mrg::Second::product(y, 12345u);
  *state = curandStateMRG32k3a_t{{first_x, first_y, first_x}, {second_y, second_x, second_y}};
  skipahead_subsequence(subsequence, state);
  skipahead(offset, state);
}

// A whole number from 1 to 4294967087.
QUALIFIERS double curand_MRG32k3a(curandStateMRG32k3a_t* state) {
  const unsigned x = td_mrg::First::next(state->s1), y = td_mrg::Second::next(state->s2);
  td_mrg::First::push(state->s1, x);
  td_mrg::Second::push(state->s2, y);
  return (double)(x > y ? x - y : x - y + (unsigned)td_mrg::First::m);
}

// That number stretched to 32 bits.
QUALIFIERS unsigned int curand(curandStateMRG32k3a_t* state) {
  return (unsigned int)(curand_MRG32k3a(state) * 1.000000048662);
}
