// Fourier transforms through the cuFFT interface, against sums written out.
#include "driver/fft.h"

#include <complex>
#include <numbers>
#include <random>

#include "support.h"

namespace td::test {
namespace {

using C = std::complex<double>;

class Fft : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    const driver::FftLibrary& library = driver::fft_library(provider());
    ASSERT_TRUE(library.usable()) << library.problem;
  }
};

C turn(double part) { return std::polar(1.0, 2 * std::numbers::pi * part); }

// The sum that defines a transform; `sign` -1 forward.
std::vector<C> written_out(const std::vector<C>& x, int sign) {
  std::size_t n = x.size();
  std::vector<C> out(n);
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t j = 0; j < n; ++j)
      out[k] += x[j] * turn(sign * static_cast<double>(j * k % n) / static_cast<double>(n));
  return out;
}

std::vector<C> random_values(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> draw(-1, 1);
  std::vector<C> out(count);
  for (C& z : out) z = {draw(random), draw(random)};
  return out;
}

template <class T>
void check_lines(DType dtype, std::int64_t n, std::int64_t batch, std::int64_t stride,
                 bool inverse) {
  const std::size_t count = static_cast<std::size_t>(n * batch);
  std::vector<C> x = random_values(count, static_cast<unsigned>(n));
  std::vector<T> host(x.begin(), x.end());
  // stride 1: one after the other. Otherwise neighbours lie `batch` apart.
  driver::FftLayout layout{{n},   stride, stride == 1 ? n : 1, stride == 1 ? n : 1, batch,
                           dtype, dtype};
  Buffer in(count * sizeof(T)), out(count * sizeof(T));
  write(in, host);
  driver::StreamState stream(device(), nullptr, false);
  driver::fft(stream, layout, inverse, in, out);
  auto found = read<T>(out, count);
  double bound = (sizeof(T) == 8 ? 1e-6 : 1e-14) * static_cast<double>(n);
  for (std::int64_t b = 0; b < batch; ++b) {
    auto place = [&](std::int64_t i) {
      return static_cast<std::size_t>(stride == 1 ? b * n + i : i * stride + b);
    };
    std::vector<C> line;
    for (std::int64_t i = 0; i < n; ++i) line.emplace_back(host[place(i)]);
    std::vector<C> expected = written_out(line, inverse ? 1 : -1);
    for (std::int64_t i = 0; i < n; ++i)
      EXPECT_NEAR(std::abs(C(found[place(i)]) - expected[static_cast<std::size_t>(i)]), 0, bound)
          << info(dtype).numpy << " n " << n << " stride " << stride << " transform " << b
          << " point " << i;
  }
}

TEST_F(Fft, LinesOfEveryKindOfLength) {
  for (std::int64_t n : {1, 2, 3, 5, 8, 12, 31, 37, 60, 64, 101})
    for (bool inverse : {false, true})
      for (std::int64_t batch : {1, 3}) {
        check_lines<C>(DType::complex128, n, batch, 1, inverse);
        check_lines<std::complex<float>>(DType::complex64, n, batch, 1, inverse);
        if (n > 1) check_lines<C>(DType::complex128, n, batch, batch, inverse);
      }
}

TEST_F(Fft, RealSidesAreHalfASpectrum) {
  for (std::size_t n : {1, 2, 5, 12, 37, 64}) {
    std::vector<double> x(n);
    std::vector<C> complex(n);
    for (std::size_t i = 0; i < n; ++i)
      complex[i] = x[i] = std::sin(3.0 * static_cast<double>(i)) + 1;
    std::vector<C> expected = written_out(complex, -1);
    std::size_t half = n / 2 + 1;
    Buffer real(n * 8), spectrum(half * 16), back(n * 8);
    write(real, x);
    driver::StreamState stream(device(), nullptr, false);
    auto length = static_cast<std::int64_t>(n), points = static_cast<std::int64_t>(half);
    driver::fft(stream, {{length}, 1, length, points, 1, DType::float64, DType::complex128}, false,
                real, spectrum);
    auto found = read<C>(spectrum, half);
    for (std::size_t k = 0; k < half; ++k) EXPECT_NEAR(std::abs(found[k] - expected[k]), 0, 1e-12);
    driver::fft(stream, {{length}, 1, points, length, 1, DType::complex128, DType::float64}, true,
                spectrum, back);
    auto returned = read<double>(back, n);
    for (std::size_t i = 0; i < n; ++i)
      EXPECT_NEAR(returned[i] / static_cast<double>(n), x[i], 1e-13) << n;
  }
}

// A wave has one point in its spectrum. Large enough to be split among threads.
TEST_F(Fft, WavesOfSeveralAxes) {
  for (std::vector<std::int64_t> n : {std::vector<std::int64_t>{300, 256}, {6, 8}, {5, 260, 256}}) {
    std::int64_t points = 1;
    for (std::int64_t length : n) points *= length;
    std::vector<C> wave(static_cast<std::size_t>(points));
    for (std::int64_t at = 0; at < points; ++at) {
      double part = 0;
      for (std::int64_t rest = at, axis = static_cast<std::int64_t>(n.size()) - 1; axis >= 0;
           --axis) {
        std::int64_t length = n[static_cast<std::size_t>(axis)];
        part +=
            static_cast<double>(rest % length * (axis + 1) % length) / static_cast<double>(length);
        rest /= length;
      }
      wave[static_cast<std::size_t>(at)] = turn(part);
    }
    std::int64_t peak = 0;
    for (std::size_t axis = 0; axis < n.size(); ++axis)
      peak = peak * n[axis] + static_cast<std::int64_t>(axis + 1);
    Buffer data(wave.size() * 16);
    write(data, wave);
    driver::StreamState stream(device(), nullptr, false);
    driver::fft(stream, {n, 1, points, points, 1, DType::complex128, DType::complex128}, false,
                data, data);
    auto found = read<C>(data, wave.size());
    double worst = 0;
    for (std::int64_t at = 0; at < points; ++at) {
      C expected = at == peak ? static_cast<double>(points) : 0.0;
      worst = std::max(worst, std::abs(found[static_cast<std::size_t>(at)] - expected));
    }
    EXPECT_LT(worst, 1e-8 * static_cast<double>(points));
  }
}

}  // namespace
}  // namespace td::test
