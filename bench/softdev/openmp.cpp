#include "openmp.h"

#include <algorithm>
#include <cmath>

#include "sizes.h"

namespace bench::openmp {

void vector_add(const Buffers& d) {
  const float *a = d[0].as<float>(), *b = d[1].as<float>();
  float* c = d[2].as<float>();
#pragma omp parallel for simd
  for (int i = 0; i < kStream; ++i) c[i] = a[i] + b[i];
}

void saxpy(const Buffers& d) {
  const float *x = d[0].as<float>(), *y = d[1].as<float>();
  float* out = d[2].as<float>();
#pragma omp parallel for simd
  for (int i = 0; i < kStream; ++i) out[i] = kFactor * x[i] + y[i];
}

// Rows of the result as sums of rows: the order of loops that a CPU wants.
void naive_product(const Buffers& d) {
  const float *a = d[0].as<float>(), *b = d[1].as<float>();
  float* c = d[2].as<float>();
#pragma omp parallel for
  for (int row = 0; row < kProduct; ++row) {
    float* to = c + row * kProduct;
    std::fill(to, to + kProduct, 0.0f);
    for (int k = 0; k < kProduct; ++k) {
      float factor = a[row * kProduct + k];
#pragma omp simd
      for (int i = 0; i < kProduct; ++i) to[i] += factor * b[k * kProduct + i];
    }
  }
}

// Tiles of 16 x 16 of the result, summed in an array of the thread.
void tiled_product(const Buffers& d) {
  const float *a = d[0].as<float>(), *b = d[1].as<float>();
  float* c = d[2].as<float>();
  constexpr int tile = 16;
#pragma omp parallel for collapse(2)
  for (int row = 0; row < kProduct; row += tile)
    for (int column = 0; column < kProduct; column += tile) {
      float sum[tile][tile] = {};
      for (int k = 0; k < kProduct; ++k)
        for (int y = 0; y < tile; ++y) {
          float factor = a[(row + y) * kProduct + k];
#pragma omp simd
          for (int x = 0; x < tile; ++x) sum[y][x] += factor * b[k * kProduct + column + x];
        }
      for (int y = 0; y < tile; ++y)
        std::copy(sum[y], sum[y] + tile, c + (row + y) * kProduct + column);
    }
}

void tree_reduction(const Buffers& d) {
  const float* x = d[0].as<float>();
  float* sums = d[1].as<float>();
#pragma omp parallel for
  for (int block = 0; block < kReduce / 256; ++block) {
    float part[256];
    for (int t = 0; t < 256; ++t) part[t] = x[block * 256 + t];
    for (int half = 128; half > 0; half /= 2)
#pragma omp simd
      for (int t = 0; t < half; ++t) part[t] += part[t + half];
    sums[block] = part[0];
  }
}

void vector_reduction(const Buffers& d) {
  const float* x = d[0].as<float>();
  float* sums = d[1].as<float>();
#pragma omp parallel for
  for (int block = 0; block < kReduce / 256; ++block) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int t = 0; t < 256; ++t) sum += x[block * 256 + t];
    sums[block] = sum;
  }
}

void histogram(const Buffers& d) {
  const unsigned* values = d[0].as<unsigned>();
  unsigned* bins = d[1].as<unsigned>();
  std::fill(bins, bins + 256, 0u);
#pragma omp parallel
  {
    unsigned part[256] = {};
#pragma omp for nowait
    for (int i = 0; i < kHistogram; ++i) ++part[values[i] & 255];
#pragma omp critical
    for (int i = 0; i < 256; ++i) bins[i] += part[i];
  }
}

void stencil_2d(const Buffers& d) {
  const float* in = d[0].as<float>();
  float* out = d[1].as<float>();
#pragma omp parallel for
  for (int y = 1; y < kPlane - 1; ++y)
#pragma omp simd
    for (int x = 1; x < kPlane - 1; ++x) {
      int i = y * kPlane + x;
      out[i] = 0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1] + in[i - kPlane] + in[i + kPlane]);
    }
}

void stencil_3d(const Buffers& d) {
  const float* in = d[0].as<float>();
  float* out = d[1].as<float>();
  constexpr int plane = kSpace * kSpace;
#pragma omp parallel for collapse(2)
  for (int z = 1; z < kSpace - 1; ++z)
    for (int y = 1; y < kSpace - 1; ++y)
#pragma omp simd
      for (int x = 1; x < kSpace - 1; ++x) {
        int i = z * plane + y * kSpace + x;
        out[i] = 0.4f * in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - kSpace] + in[i + kSpace] +
                                        in[i - plane] + in[i + plane]);
      }
}

// The bodies' coordinates come as an array of structures; a CPU wants them apart.
void nbody(const Buffers& d) {
  const float* bodies = d[0].as<float>();
  float* forces = d[1].as<float>();
  static float px[kBodies], py[kBodies], pz[kBodies], mass[kBodies];
  for (int i = 0; i < kBodies; ++i) {
    px[i] = bodies[4 * i];
    py[i] = bodies[4 * i + 1];
    pz[i] = bodies[4 * i + 2];
    mass[i] = bodies[4 * i + 3];
  }
#pragma omp parallel for
  for (int i = 0; i < kBodies; ++i) {
    float fx = 0, fy = 0, fz = 0;
#pragma omp simd reduction(+ : fx, fy, fz)
    for (int j = 0; j < kBodies; ++j) {
      float dx = px[j] - px[i], dy = py[j] - py[i], dz = pz[j] - pz[i];
      float inverse = 1.0f / std::sqrt(dx * dx + dy * dy + dz * dz + 1e-4f);
      float s = mass[j] * inverse * inverse * inverse;
      fx += s * dx;
      fy += s * dy;
      fz += s * dz;
    }
    forces[4 * i] = fx;
    forces[4 * i + 1] = fy;
    forces[4 * i + 2] = fz;
    forces[4 * i + 3] = 0;
  }
}

namespace {

inline float normal(float d) {
  float k = 1.0f / (1.0f + 0.2316419f * std::fabs(d));
  float tail =
      0.39894228f * std::exp(-0.5f * d * d) *
      (k * (0.31938153f +
            k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1.0f - tail : tail;
}

inline int escape_time(int x, int y) {
  float cr = -2.0f + 3.0f * x / kMandelbrot, ci = -1.5f + 3.0f * y / kMandelbrot, zr = 0, zi = 0;
  int count = 0;
  while (count < kIterations && zr * zr + zi * zi < 4.0f) {
    float next = zr * zr - zi * zi + cr;
    zi = 2.0f * zr * zi + ci;
    zr = next;
    ++count;
  }
  return count;
}

}  // namespace

void black_scholes(const Buffers& d) {
  const float *prices = d[0].as<float>(), *strikes = d[1].as<float>(), *years = d[2].as<float>();
  float *calls = d[3].as<float>(), *puts = d[4].as<float>();
#pragma omp parallel for simd
  for (int i = 0; i < kOptions; ++i) {
    float s = prices[i], x = strikes[i], t = years[i], root = std::sqrt(t);
    float d1 =
        (std::log(s / x) + (kRate + 0.5f * kVolatility * kVolatility) * t) / (kVolatility * root);
    float d2 = d1 - kVolatility * root, n1 = normal(d1), n2 = normal(d2);
    float discounted = x * std::exp(-kRate * t);
    calls[i] = s * n1 - discounted * n2;
    puts[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
  }
}

void mandelbrot(const Buffers& d) {
  int* counts = d[0].as<int>();
#pragma omp parallel for schedule(dynamic)
  for (int y = 0; y < kMandelbrot; ++y)
    for (int x = 0; x < kMandelbrot; ++x) counts[y * kMandelbrot + x] = escape_time(x, y);
}

void mandelbrot_on_one_core(const Buffers& d) {
  int* counts = d[0].as<int>();
  for (int y = 0; y < kMandelbrot; ++y)
    for (int x = 0; x < kMandelbrot; ++x) counts[y * kMandelbrot + x] = escape_time(x, y);
}

// Each thread sums its part, then scans it from the sum of the parts before.
void scan(const Buffers& d) {
  const float* in = d[0].as<float>();
  float* out = d[1].as<float>();
  constexpr int parts = 64, length = kScan / parts;
  float sums[parts];
#pragma omp parallel for
  for (int p = 0; p < parts; ++p) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < length; ++i) sum += in[p * length + i];
    sums[p] = sum;
  }
  float before = 0;
  for (float& sum : sums) {
    float next = before + sum;
    sum = before;
    before = next;
  }
#pragma omp parallel for
  for (int p = 0; p < parts; ++p) {
    float sum = sums[p];
    for (int i = 0; i < length; ++i) out[p * length + i] = sum += in[p * length + i];
  }
}

void transpose(const Buffers& d) {
  const float* in = d[0].as<float>();
  float* out = d[1].as<float>();
  constexpr int tile = 32;
#pragma omp parallel for collapse(2)
  for (int row = 0; row < kTranspose; row += tile)
    for (int column = 0; column < kTranspose; column += tile)
      for (int y = 0; y < tile; ++y)
        for (int x = 0; x < tile; ++x)
          out[(row + y) * kTranspose + column + x] = in[(column + x) * kTranspose + row + y];
}

// The network's pairs in the order that makes the inner loop run through memory.
void bitonic_sort(const Buffers& d) {
  const int* in = d[0].as<int>();
  int* out = d[1].as<int>();
#pragma omp parallel for
  for (int block = 0; block < kSort / 512; ++block) {
    int part[512];
    std::copy(in + block * 512, in + block * 512 + 512, part);
    for (int size = 2; size <= 512; size *= 2)
      for (int stride = size / 2; stride > 0; stride /= 2)
        for (int start = 0; start < 512; start += 2 * stride) {
          bool ascending = (start & size) == 0;
#pragma omp simd
          for (int i = 0; i < stride; ++i) {
            int a = part[start + i], b = part[start + stride + i];
            int low = std::min(a, b), high = std::max(a, b);
            part[start + i] = ascending ? low : high;
            part[start + stride + i] = ascending ? high : low;
          }
        }
    std::copy(part, part + 512, out + block * 512);
  }
}

void library_sort(const Buffers& d) {
  const int* in = d[0].as<int>();
  int* out = d[1].as<int>();
#pragma omp parallel for
  for (int block = 0; block < kSort / 512; ++block) {
    std::copy(in + block * 512, in + block * 512 + 512, out + block * 512);
    std::sort(out + block * 512, out + block * 512 + 512);
  }
}

void sparse_product(const Buffers& d) {
  const int *starts = d[0].as<int>(), *columns = d[1].as<int>();
  const float *values = d[2].as<float>(), *x = d[3].as<float>();
  float* y = d[4].as<float>();
#pragma omp parallel for
  for (int row = 0; row < kRows; ++row) {
    float sum = 0;
    for (int k = starts[row]; k < starts[row + 1]; ++k) sum += values[k] * x[columns[k]];
    y[row] = sum;
  }
}

}  // namespace bench::openmp
