#include "softdev/libs/own_fft.h"

#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

namespace td::softdev {

namespace {

// std::complex multiplies with a branch for NaN; sums of products need none.
struct Z {
  double re = 0, im = 0;
};
Z operator+(Z a, Z b) { return {a.re + b.re, a.im + b.im}; }
Z operator-(Z a, Z b) { return {a.re - b.re, a.im - b.im}; }
Z operator*(Z a, Z b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }

// exp(-2 pi i k / n), 0 <= k < n.
Z root(std::size_t k, std::size_t n) {
  long double angle = 2 * std::numbers::pi_v<long double> * static_cast<long double>(k) /
                      static_cast<long double>(n);
  return {static_cast<double>(std::cos(angle)), static_cast<double>(-std::sin(angle))};
}

constexpr std::size_t kLargestFactor = 31;

// The forward transform of one contiguous line.
class Line {
 public:
  explicit Line(std::size_t n) : n_(n) {
    std::size_t rest = n;
    while (rest % 4 == 0) factors_.push_back(4), rest /= 4;
    for (std::size_t f = 2; f <= kLargestFactor; ++f)
      while (rest % f == 0) factors_.push_back(f), rest /= f;
    if (rest == 1) {
      for (std::size_t k = 0; k < n; ++k) roots_.push_back(root(k, n));
    } else {
      make_chirp();
    }
  }
  // Elements of scratch memory that `run` wants.
  std::size_t scratch() const { return inner_ ? 2 * inner_->n_ : n_; }

  void run(Z* x, Z* scratch) const {
    if (inner_) return convolve(x, scratch);
    Z *from = x, *to = scratch;
    std::size_t stride = 1, rest = n_;
    for (std::size_t f : factors_) {
      rest /= f;
      stage(f, from, to, rest, stride);
      stride *= f;
      std::swap(from, to);
    }
    if (from != x) std::copy(from, from + n_, x);
  }

 private:
  // One step of Stockham's algorithm: sums over `r` elements that lie m * s apart. What has been
  // transformed already runs over s neighbours.
  void stage(std::size_t r, const Z* x, Z* y, std::size_t m, std::size_t s) const {
    switch (r) {
      case 2:
        return stage_of<2>(x, y, m, s);
      case 3:
        return stage_of<3>(x, y, m, s);
      case 4:
        return stage_of<4>(x, y, m, s);
      case 5:
        return stage_of<5>(x, y, m, s);
      default:
        return any_stage(r, x, y, m, s);
    }
  }

  template <std::size_t R>
  void butterfly(const Z (&a)[R], Z (&b)[R]) const {
    if constexpr (R == 2) {
      b[0] = a[0] + a[1], b[1] = a[0] - a[1];
    } else if constexpr (R == 4) {
      Z even = a[0] + a[2], odd = a[1] + a[3], left = a[0] - a[2], d = a[1] - a[3];
      Z right{d.im, -d.re};
      b[0] = even + odd, b[1] = left + right, b[2] = even - odd, b[3] = left - right;
    } else {
      for (std::size_t k = 0; k < R; ++k) {
        b[k] = a[0];
        for (std::size_t j = 1; j < R; ++j) b[k] = b[k] + a[j] * roots_[j * k % R * (n_ / R)];
      }
    }
  }

  template <std::size_t R>
  void stage_of(const Z* x, Z* y, std::size_t m, std::size_t s) const {
    for (std::size_t p = 0; p < m; ++p) {
      Z turn[R];
      for (std::size_t k = 0; k < R; ++k) turn[k] = roots_[p * k * s];
      for (std::size_t q = 0; q < s; ++q) {
        Z a[R], b[R];
        for (std::size_t j = 0; j < R; ++j) a[j] = x[q + s * (p + j * m)];
        butterfly(a, b);
        for (std::size_t k = 0; k < R; ++k) y[q + s * (R * p + k)] = b[k] * turn[k];
      }
    }
  }

  void any_stage(std::size_t r, const Z* x, Z* y, std::size_t m, std::size_t s) const {
    for (std::size_t p = 0; p < m; ++p)
      for (std::size_t q = 0; q < s; ++q)
        for (std::size_t k = 0; k < r; ++k) {
          Z sum;
          for (std::size_t j = 0; j < r; ++j)
            sum = sum + x[q + s * (p + j * m)] * roots_[j * k % r * (n_ / r)];
          y[q + s * (r * p + k)] = sum * roots_[p * k * s];
        }
  }

  // jk = (j*j + k*k - (j-k)^2) / 2 makes the transform a convolution, of a length with small
  // factors.
  void make_chirp() {
    std::size_t length = 1;
    while (length < 2 * n_ - 1) length *= 2;
    inner_ = std::make_unique<Line>(length);
    for (std::size_t k = 0; k < n_; ++k) {
      auto square = static_cast<unsigned __int128>(k) * k % (2 * n_);
      chirp_.push_back(root(static_cast<std::size_t>(square), 2 * n_));
    }
    spectrum_.resize(length);
    for (std::size_t k = 0; k < n_; ++k) {
      Z value{chirp_[k].re, -chirp_[k].im};
      spectrum_[k] = spectrum_[k ? length - k : 0] = value;
    }
    std::vector<Z> scratch(length);
    inner_->run(spectrum_.data(), scratch.data());
    for (Z& z : spectrum_)
      z = {z.re / static_cast<double>(length), z.im / static_cast<double>(length)};
  }

  void convolve(Z* x, Z* scratch) const {
    std::size_t length = inner_->n_;
    Z *a = scratch, *more = scratch + length;
    for (std::size_t k = 0; k < n_; ++k) a[k] = x[k] * chirp_[k];
    std::fill(a + n_, a + length, Z{});
    inner_->run(a, more);
    for (std::size_t k = 0; k < length; ++k) {
      Z z = a[k] * spectrum_[k];
      a[k] = {z.im, z.re};  // parts exchanged: the inverse by a forward transform
    }
    inner_->run(a, more);
    for (std::size_t k = 0; k < n_; ++k) x[k] = Z{a[k].im, a[k].re} * chirp_[k];
  }

  std::size_t n_;
  std::vector<std::size_t> factors_;
  std::vector<Z> roots_, chirp_, spectrum_;
  std::unique_ptr<Line> inner_;
};

// Lines of a length are shared by the plans that need it. Under the planner's mutex, as all making
// of plans is.
std::shared_ptr<const Line> line_of(std::size_t n) {
  static auto& lines = *new std::map<std::size_t, std::weak_ptr<const Line>>;
  auto line = lines[n].lock();
  if (!line) lines[n] = line = std::make_shared<const Line>(n);
  return line;
}

enum class Kind { complex, from_real, to_real };

}  // namespace

struct FftwPlan {
  Kind kind;
  bool inverse;
  int rank;
  std::array<FftwAxis, 3> axes;
  FftwAxis batch;
  std::array<std::shared_ptr<const Line>, 3> lines;

  // Complex elements along an axis.
  std::ptrdiff_t length(int axis) const {
    auto n = axes[static_cast<std::size_t>(axis)].n;
    return kind != Kind::complex && axis == rank - 1 ? n / 2 + 1 : n;
  }
  std::size_t scratch() const {
    std::size_t most = 0;
    for (int k = 0; k < rank; ++k)
      most = std::max(most, lines[static_cast<std::size_t>(k)]->scratch() +
                                static_cast<std::size_t>(axes[static_cast<std::size_t>(k)].n));
    return most;
  }
};

namespace {

template <class T>
FftwPlan* make_plan(Kind kind, bool inverse, int rank, const FftwAxis* axes,
                    const FftwAxis* batch) {
  auto plan = std::make_unique<FftwPlan>(FftwPlan{kind, inverse, rank, {}, *batch, {}});
  for (int k = 0; k < rank; ++k) {
    plan->axes[static_cast<std::size_t>(k)] = axes[k];
    plan->lines[static_cast<std::size_t>(k)] = line_of(static_cast<std::size_t>(axes[k].n));
  }
  return plan.release();
}

// Calls `use(place, in, out)` for every line along the last axis: where it begins in a packed array
// of the plan's complex lengths, and in the input and the output.
template <class F>
void each_last_line(const FftwPlan& plan, const F& use) {
  std::ptrdiff_t rows = plan.rank > 1 ? plan.length(plan.rank - 2) : 1,
                 planes = plan.rank > 2 ? plan.length(0) : 1, last = plan.length(plan.rank - 1);
  FftwAxis row = plan.rank > 1 ? plan.axes[static_cast<std::size_t>(plan.rank - 2)] : FftwAxis{},
           plane = plan.rank > 2 ? plan.axes[0] : FftwAxis{};
  for (std::ptrdiff_t i = 0; i < planes; ++i)
    for (std::ptrdiff_t j = 0; j < rows; ++j)
      use((i * rows + j) * last, i * plane.in_step + j * row.in_step,
          i * plane.out_step + j * row.out_step);
}

// Transforms a packed array along one axis.
void along(const FftwPlan& plan, int axis, Z* data, Z* scratch) {
  std::ptrdiff_t inner = 1, outer = 1, n = plan.length(axis);
  for (int k = 0; k < plan.rank; ++k)
    if (k != axis) (k < axis ? outer : inner) *= plan.length(k);
  const Line& line = *plan.lines[static_cast<std::size_t>(axis)];
  for (std::ptrdiff_t i = 0; i < outer; ++i)
    for (std::ptrdiff_t j = 0; j < inner; ++j) {
      Z* first = data + i * n * inner + j;
      if (inner == 1) {
        line.run(first, scratch);
        continue;
      }
      Z* copy = scratch + line.scratch();
      for (std::ptrdiff_t k = 0; k < n; ++k) copy[k] = first[k * inner];
      line.run(copy, scratch);
      for (std::ptrdiff_t k = 0; k < n; ++k) first[k * inner] = copy[k];
    }
}

// An inverse transform is a forward one with real and imaginary parts exchanged before and after.
template <class T>
Z load(std::complex<T> z, bool exchange) {
  double re = z.real(), im = z.imag();
  return exchange ? Z{im, re} : Z{re, im};
}
template <class T>
std::complex<T> stored(Z z, bool exchange) {
  auto re = static_cast<T>(z.re), im = static_cast<T>(z.im);
  return exchange ? std::complex<T>(im, re) : std::complex<T>(re, im);
}

struct Buffers {
  explicit Buffers(const FftwPlan& plan) : scratch(plan.scratch()) {
    std::size_t points = 1;
    for (int k = 0; k < plan.rank; ++k) points *= static_cast<std::size_t>(plan.length(k));
    data.resize(points);
  }
  std::vector<Z> data, scratch;
};

// The first `count` points of every line along the last axis, from the caller's memory and to it.
template <class T>
void load_lines(const FftwPlan& plan, const std::complex<T>* from, std::ptrdiff_t step,
                std::ptrdiff_t count, bool inverse, Buffers& b) {
  each_last_line(plan, [&](std::ptrdiff_t place, std::ptrdiff_t i, std::ptrdiff_t) {
    for (std::ptrdiff_t k = 0; k < count; ++k)
      b.data[static_cast<std::size_t>(place + k)] = load(from[i + k * step], inverse);
  });
}
template <class T>
void store_lines(const FftwPlan& plan, std::complex<T>* to, std::ptrdiff_t step,
                 std::ptrdiff_t count, bool inverse, const Buffers& b) {
  each_last_line(plan, [&](std::ptrdiff_t place, std::ptrdiff_t, std::ptrdiff_t o) {
    for (std::ptrdiff_t k = 0; k < count; ++k)
      to[o + k * step] = stored<T>(b.data[static_cast<std::size_t>(place + k)], inverse);
  });
}

template <class T>
void run_complex(FftwPlan* plan, std::complex<T>* in, std::complex<T>* out) {
  Buffers b(*plan);
  FftwAxis last = plan->axes[static_cast<std::size_t>(plan->rank - 1)];
  for (std::ptrdiff_t t = 0; t < plan->batch.n; ++t) {
    load_lines(*plan, in + t * plan->batch.in_step, last.in_step, last.n, plan->inverse, b);
    for (int axis = plan->rank - 1; axis >= 0; --axis)
      along(*plan, axis, b.data.data(), b.scratch.data());
    store_lines(*plan, out + t * plan->batch.out_step, last.out_step, last.n, plan->inverse, b);
  }
}

template <class T>
void run_from_real(FftwPlan* plan, T* in, std::complex<T>* out) {
  Buffers b(*plan);
  FftwAxis last = plan->axes[static_cast<std::size_t>(plan->rank - 1)];
  const Line& line = *plan->lines[static_cast<std::size_t>(plan->rank - 1)];
  std::ptrdiff_t half = plan->length(plan->rank - 1);
  Z* full = b.scratch.data() + line.scratch();
  for (std::ptrdiff_t t = 0; t < plan->batch.n; ++t) {
    const T* from = in + t * plan->batch.in_step;
    each_last_line(*plan, [&](std::ptrdiff_t place, std::ptrdiff_t i, std::ptrdiff_t) {
      for (std::ptrdiff_t k = 0; k < last.n; ++k)
        full[k] = {static_cast<double>(from[i + k * last.in_step]), 0};
      line.run(full, b.scratch.data());
      std::copy(full, full + half, b.data.data() + place);
    });
    for (int axis = plan->rank - 2; axis >= 0; --axis)
      along(*plan, axis, b.data.data(), b.scratch.data());
    store_lines(*plan, out + t * plan->batch.out_step, last.out_step, half, false, b);
  }
}

// Real and imaginary parts are exchanged between loading and storing.
template <class T>
void run_to_real(FftwPlan* plan, std::complex<T>* in, T* out) {
  Buffers b(*plan);
  FftwAxis last = plan->axes[static_cast<std::size_t>(plan->rank - 1)];
  const Line& line = *plan->lines[static_cast<std::size_t>(plan->rank - 1)];
  std::ptrdiff_t half = plan->length(plan->rank - 1);
  Z* full = b.scratch.data() + line.scratch();
  for (std::ptrdiff_t t = 0; t < plan->batch.n; ++t) {
    T* to = out + t * plan->batch.out_step;
    load_lines(*plan, in + t * plan->batch.in_step, last.in_step, half, true, b);
    for (int axis = 0; axis < plan->rank - 1; ++axis)
      along(*plan, axis, b.data.data(), b.scratch.data());
    each_last_line(*plan, [&](std::ptrdiff_t place, std::ptrdiff_t, std::ptrdiff_t o) {
      const Z* have = b.data.data() + place;
      // What is its own conjugate has no imaginary part; the rest is the conjugate of the other
      // end.
      full[0] = {0, have[0].im};
      for (std::ptrdiff_t k = 1; k < half; ++k) {
        bool own = 2 * k == last.n;
        full[k] = {own ? 0 : have[k].re, have[k].im};
        if (!own) full[last.n - k] = {-have[k].re, have[k].im};
      }
      line.run(full, b.scratch.data());
      for (std::ptrdiff_t k = 0; k < last.n; ++k)
        to[o + k * last.out_step] = static_cast<T>(full[k].im);
    });
  }
}

}  // namespace

template <class T>
Fftw<T> own_fft() {
  using C = std::complex<T>;
  Fftw<T> table;
  table.plan_complex = [](int rank, const FftwAxis* axes, int, const FftwAxis* batch, C*, C*,
                          int sign, unsigned) {
    return make_plan<T>(Kind::complex, sign > 0, rank, axes, batch);
  };
  table.plan_from_real = [](int rank, const FftwAxis* axes, int, const FftwAxis* batch, T*, C*,
                            unsigned) {
    return make_plan<T>(Kind::from_real, false, rank, axes, batch);
  };
  table.plan_to_real = [](int rank, const FftwAxis* axes, int, const FftwAxis* batch, C*, T*,
                          unsigned) {
    return make_plan<T>(Kind::to_real, true, rank, axes, batch);
  };
  table.run_complex = run_complex<T>;
  table.run_from_real = run_from_real<T>;
  table.run_to_real = run_to_real<T>;
  table.destroy = [](FftwPlan* plan) { delete plan; };
  return table;
}

template Fftw<float> own_fft();
template Fftw<double> own_fft();

}  // namespace td::softdev
