// Fourier transforms of arrays: memory layouts here, transforms in the library behind the border.
//
// The library gets C-contiguous arrays. Up to three last axes go in one plan; any other axis in a
// plan of its own, strided, or packed to the end where that would take too many calls.
#include "treadle/fft.h"

#include <algorithm>
#include <numeric>

#include "array/operations.h"
#include "array/scope.h"
#include "base/text.h"
#include "driver/fft.h"
#include "treadle/error.h"

namespace td::fft {
namespace {

using array::view_of;
using base::cat;

bool single_precision(DType dtype) {
  return is_half(dtype) || dtype == DType::float32 || dtype == DType::complex64;
}
DType real_type(DType dtype) { return single_precision(dtype) ? DType::float32 : DType::float64; }
DType complex_type(DType dtype) {
  return single_precision(dtype) ? DType::complex64 : DType::complex128;
}

int normalized(int axis, const Array& x) { return array::normalize_axes({axis}, x.ndim()).front(); }

void require_points(std::int64_t n) {
  if (n < 1) throw ValueError(cat("Invalid number of FFT data points (", n, ") specified."));
}

// F-contiguous operands are transformed as their transposes.
bool reversed(const Array& x) { return x.ndim() > 1 && x.f_contiguous() && !x.c_contiguous(); }

const driver::StreamState& stream_of(const Array& x) {
  return *driver::current_stream(view_of(x).storage->device());
}

std::int64_t product(const Shape& shape, std::size_t begin, std::size_t end) {
  std::int64_t result = 1;
  for (std::size_t k = begin; k < end; ++k) result *= shape[k];
  return result;
}

// The last axis of C-contiguous arrays; `n` is the length of the real side, or of both.
void along_last(const Array& in, const Array& out, std::int64_t n, bool inverse) {
  driver::FftLayout layout;
  layout.n = {n};
  layout.in_dist = in.shape().back();
  layout.out_dist = out.shape().back();
  layout.batch = in.size() / layout.in_dist;
  layout.in = in.dtype();
  layout.out = out.dtype();
  CUdeviceptr from = in.data(), to = out.data();
  driver::fft(stream_of(out), layout, inverse, from, to);
}

// Calls of the library that are worth less than two packed copies.
constexpr std::int64_t kMostCalls = 32;

// The same values with `axis` at the end, or back in its place.
Array axis_last(const Array& x, int axis) {
  Axes order(static_cast<std::size_t>(x.ndim()));
  std::iota(order.begin(), order.end(), 0);
  order.erase(order.begin() + axis);
  order.push_back(axis);
  return x.transpose(order);
}
Array axis_back(const Array& x, int axis) {
  Axes order(static_cast<std::size_t>(x.ndim() - 1));
  std::iota(order.begin(), order.end(), 0);
  order.insert(order.begin() + axis, x.ndim() - 1);
  return x.transpose(order);
}

// One axis of C-contiguous arrays, complex to complex. `in` may be `out`.
void along(const Array& in, const Array& out, int axis, bool inverse) {
  const Shape& shape = in.shape();
  auto place = static_cast<std::size_t>(axis);
  std::int64_t n = shape[place], inner = product(shape, place + 1, shape.size());
  std::int64_t outer = product(shape, 0, place);
  if (inner == 1) return along_last(in.reshape({outer, n}), out.reshape({outer, n}), n, inverse);
  if (outer > kMostCalls) {
    Array packed = array::converted(axis_last(in, axis), in.dtype(), 'C');
    Array lines = packed.reshape({outer * inner, n});
    along_last(lines, lines, n, inverse);
    return copy_into(out, axis_back(packed, axis));
  }
  driver::FftLayout layout;
  layout.n = {n};
  layout.stride = inner;
  layout.in_dist = layout.out_dist = 1;
  layout.batch = inner;
  layout.in = layout.out = in.dtype();
  CUdeviceptr from = in.data(), to = out.data();
  auto bytes = static_cast<CUdeviceptr>(n * inner) * itemsize(in.dtype());
  for (std::int64_t k = 0; k < outer; ++k)
    driver::fft(stream_of(out), layout, inverse, from + static_cast<CUdeviceptr>(k) * bytes,
                to + static_cast<CUdeviceptr>(k) * bytes);
}

// The number of last axes that `axes` consists of, or 0.
std::size_t trailing(const Axes& axes, int ndim) {
  Axes sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t k = 0; k < sorted.size(); ++k)
    if (sorted[k] != ndim - static_cast<int>(sorted.size() - k)) return 0;
  return sorted.size() <= 3 ? sorted.size() : 0;
}

}  // namespace

Array resized(const Array& x, std::int64_t n, int axis) {
  axis = normalized(axis, x);
  require_points(n);
  auto place = static_cast<std::size_t>(axis);
  std::int64_t length = x.shape()[place];
  if (length == n) return x;
  std::vector<IndexItem> kept(place, Slice{});
  kept.emplace_back(Slice{{}, std::min(length, n), {}});
  kept.emplace_back(Ellipsis{});
  if (length > n) return x.index(kept);
  array::OnDeviceOf scope(x);
  Shape shape = x.shape();
  shape[place] = n;
  if (reversed(x)) {
    Shape backwards(shape.rbegin(), shape.rend());
    Array padded = zeros(backwards, x.dtype()).T();
    padded.assign(kept, x);
    return padded;
  }
  Array padded = zeros(shape, x.dtype());
  padded.assign(kept, x);
  return padded;
}

Array c2c(const Array& x, const Axes& given, bool inverse) {
  array::OnDeviceOf scope(x);
  Axes axes = array::normalize_axes(given, x.ndim());
  for (int axis : axes) require_points(x.shape()[static_cast<std::size_t>(axis)]);
  if (reversed(x)) {
    for (int& axis : axes) axis = x.ndim() - 1 - axis;
    return c2c(x.T(), axes, inverse).T();
  }
  DType dtype = complex_type(x.dtype());
  if (axes.empty() || x.size() == 0) return array::converted(x, dtype, 'C');
  Array in = array::packed(x.astype(dtype, false));
  Array out = empty(x.shape(), dtype);
  if (std::size_t rank = trailing(axes, x.ndim()); rank > 1) {
    const Shape& shape = x.shape();
    driver::FftLayout layout;
    layout.n.assign(shape.end() - static_cast<std::ptrdiff_t>(rank), shape.end());
    layout.in_dist = layout.out_dist = product(shape, shape.size() - rank, shape.size());
    layout.batch = in.size() / layout.in_dist;
    layout.in = layout.out = dtype;
    CUdeviceptr from = in.data(), to = out.data();
    driver::fft(stream_of(out), layout, inverse, from, to);
    return out;
  }
  for (std::size_t k = axes.size(); k-- > 0;)
    along(k + 1 == axes.size() ? in : out, out, axes[k], inverse);
  return out;
}

Array r2c(const Array& x, int axis) {
  array::OnDeviceOf scope(x);
  if (info(x.dtype()).kind == 'c')
    throw TypeError(cat("rfft takes real input, not ", info(x.dtype()).numpy, "; use fft"));
  axis = normalized(axis, x);
  if (reversed(x)) return r2c(x.T(), x.ndim() - 1 - axis).T();
  std::int64_t n = x.shape()[static_cast<std::size_t>(axis)];
  require_points(n);
  DType real = real_type(x.dtype());
  Array in = array::packed(axis_last(x, axis).astype(real, false));
  Shape shape = in.shape();
  shape.back() = n / 2 + 1;
  Array out = empty(shape, complex_type(real));
  if (in.size() > 0) along_last(in, out, n, false);
  return array::packed(axis_back(out, axis));
}

Array c2r(const Array& x, std::int64_t n, int axis) {
  array::OnDeviceOf scope(x);
  axis = normalized(axis, x);
  if (reversed(x)) return c2r(x.T(), n, x.ndim() - 1 - axis).T();
  require_points(n);
  DType dtype = complex_type(x.dtype());
  // A copy of its own: the transform overwrites its input.
  Array in = array::converted(axis_last(resized(x, n / 2 + 1, axis), axis), dtype, 'C');
  Shape shape = in.shape();
  shape.back() = n;
  Array out = empty(shape, real_type(dtype));
  if (in.size() > 0) {
    Array imaginary = imag_part(in);
    imaginary.index({Ellipsis{}, std::int64_t{0}}).fill(std::int64_t{0});
    if (n % 2 == 0) imaginary.index({Ellipsis{}, n / 2}).fill(std::int64_t{0});
    along_last(in, out, n, true);
  }
  return array::packed(axis_back(out, axis));
}

}  // namespace td::fft
