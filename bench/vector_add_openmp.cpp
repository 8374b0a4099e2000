// The yardstick of the software device: c = a + b over float32 in C++ with OpenMP. Prints the best
// seconds of one pass.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
  const long n = argc > 1 ? std::atol(argv[1]) : 10'000'000;
  std::vector<float> a(n), b(n), c(n);
#pragma omp parallel for
  for (long i = 0; i < n; ++i) {
    a[i] = static_cast<float>(i % 1000);
    b[i] = 1.0f;
    c[i] = 0.0f;
  }
  double best = 1e9;
  for (int round = 0; round < 30; ++round) {
    auto start = std::chrono::steady_clock::now();
    float *pa = a.data(), *pb = b.data(), *pc = c.data();
#pragma omp parallel for simd
    for (long i = 0; i < n; ++i) pc[i] = pa[i] + pb[i];
    double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (seconds < best) best = seconds;
  }
  if (c[n - 1] != a[n - 1] + 1.0f) return 1;
  std::printf("%.9f\n", best);
}
