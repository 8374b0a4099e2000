// NumPy's matmul: shapes here, products in the BLAS behind the border; integers and bool through a
// plain kernel.
#include <algorithm>

#include "array/operations.h"
#include "array/promotion.h"
#include "array/scope.h"
#include "base/text.h"
#include "driver/blas.h"
#include "fuse/kernel_cache.h"
#include "fuse/program.h"

namespace td {
namespace {

using array::make_array;
using array::View;
using array::view_of;
using base::cat;

// A stack of matrices: the last two axes of a view over batch axes.
struct Stack {
  View view;
  std::int64_t rows() const { return view.shape[view.shape.size() - 2]; }
  std::int64_t columns() const { return view.shape.back(); }
};

Array promoted_vector(const Array& x, bool left) {
  if (x.ndim() != 1) return x;
  return left ? x.index({NewAxis{}, Ellipsis{}}) : x.index({Ellipsis{}, NewAxis{}});
}

Shape batch_shape(const Array& x) { return Shape(x.shape().begin(), x.shape().end() - 2); }

Array broadcast_batch(const Array& x, Shape batch) {
  batch.push_back(x.shape()[x.ndim() - 2]);
  batch.push_back(x.shape()[x.ndim() - 1]);
  return x.shape() == batch ? x : x.broadcast_to(batch);
}

// True when one axis of the matrix is contiguous and the other wide enough for a leading dimension.
bool blas_layout(const View& v, bool& by_columns, std::int64_t& leading) {
  auto bytes = static_cast<std::int64_t>(itemsize(v.dtype));
  std::size_t n = v.shape.size();
  std::int64_t rows = v.shape[n - 2], columns = v.shape[n - 1];
  std::int64_t row_step = rows > 1 ? v.strides[n - 2] / bytes : std::max<std::int64_t>(columns, 1);
  std::int64_t column_step = columns > 1 ? v.strides[n - 1] / bytes : 1;
  if (column_step == 1 && row_step >= std::max<std::int64_t>(columns, 1)) {
    by_columns = false;
    leading = row_step;
    return true;
  }
  if (columns == 1) column_step = std::max<std::int64_t>(rows, 1);
  if (rows > 1 && row_step != 1) return false;
  by_columns = true;
  leading = column_step;
  return column_step >= std::max<std::int64_t>(rows, 1);
}

// The batch axes as one stride, if they nest.
bool single_batch_stride(const View& v, std::int64_t& stride) {
  auto bytes = static_cast<std::int64_t>(itemsize(v.dtype));
  stride = 0;
  std::int64_t expected = -1;
  for (std::size_t k = v.shape.size() - 2; k-- > 0;) {
    if (v.shape[k] == 1) continue;
    std::int64_t step = v.strides[k] / bytes;
    if (expected < 0)
      stride = step;
    else if (step != expected)
      return false;
    expected = step * v.shape[k];
  }
  return stride >= 0;
}

// An operand whose matrices a BLAS takes as they lie; a packed copy only where it cannot.
void take_layout(Array& x, driver::GemmMatrix& m) {
  if (blas_layout(view_of(x), m.by_columns, m.leading)) return;
  x = array::converted(x, x.dtype(), 'C');
  blas_layout(view_of(x), m.by_columns, m.leading);
}

// A view without its first `axes` batch axes, at one index of them.
View inner(const View& v, std::size_t axes) {
  View result = v;
  result.shape.erase(result.shape.begin(),
                     result.shape.begin() + static_cast<std::ptrdiff_t>(axes));
  result.strides.erase(result.strides.begin(),
                       result.strides.begin() + static_cast<std::ptrdiff_t>(axes));
  return result;
}

// How many leading batch axes must be walked one by one, since they do not nest with the others.
std::size_t outer_axes(const View& a, const View& b) {
  std::size_t batch_axes = a.shape.size() - 2;
  std::int64_t ignored;
  for (std::size_t axes = 0; axes < batch_axes; ++axes)
    if (single_batch_stride(inner(a, axes), ignored) &&
        single_batch_stride(inner(b, axes), ignored))
      return axes;
  return batch_axes;
}

// Calls of the library that are worth less than a packed copy of the operands.
constexpr std::int64_t kMostCalls = 64;

Array blas_product(Array a, Array b, const Shape& batch, DType dtype) {
  std::int64_t m = a.shape()[a.ndim() - 2], k = a.shape().back(), n = b.shape().back();
  a = broadcast_batch(a.astype(dtype, false), batch);
  b = broadcast_batch(b.astype(dtype, false), batch);
  Shape shape = batch;
  shape.push_back(m);
  shape.push_back(n);
  Array c = empty(shape, dtype);
  if (c.size() == 0) return c;
  if (k == 0) return zeros(shape, dtype);
  driver::GemmMatrix left, right, result{0, n, false, m * n};
  take_layout(a, left);
  take_layout(b, right);
  std::size_t axes = outer_axes(view_of(a), view_of(b));
  Shape outer(batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(axes));
  if (array::size_of(outer) > kMostCalls) {
    std::int64_t ignored;
    if (!single_batch_stride(view_of(a), ignored)) a = array::converted(a, dtype, 'C');
    if (!single_batch_stride(view_of(b), ignored)) b = array::converted(b, dtype, 'C');
    take_layout(a, left);
    take_layout(b, right);
    axes = 0;
    outer.clear();
  }
  const CUdeviceptr start_a = a.data(), start_b = b.data(), start_c = c.data();
  single_batch_stride(inner(view_of(a), axes), left.batch_stride);
  single_batch_stride(inner(view_of(b), axes), right.batch_stride);
  const auto& stream = driver::current_stream(view_of(c).storage->device());
  std::int64_t calls = array::size_of(outer), each = array::size_of(batch) / calls;
  for (std::int64_t call = 0; call < calls; ++call) {
    std::int64_t rest = call, offset_a = 0, offset_b = 0;
    for (std::size_t axis = axes; axis-- > 0; rest /= outer[axis]) {
      offset_a += rest % outer[axis] * view_of(a).strides[axis];
      offset_b += rest % outer[axis] * view_of(b).strides[axis];
    }
    left.address = start_a + static_cast<CUdeviceptr>(offset_a);
    right.address = start_b + static_cast<CUdeviceptr>(offset_b);
    result.address = start_c + static_cast<CUdeviceptr>(call * each) *
                                   static_cast<CUdeviceptr>(m * n) * itemsize(dtype);
    driver::gemm(*stream, dtype, m, n, k, left, right, result, each);
  }
  return c;
}

// Integers have no BLAS: each thread makes one element of C, with tiles of A and B in shared
// memory.
std::string tiled_text(DType dtype) {
  std::string type(fuse::cuda_name(dtype));
  return fuse::device_headers(is_half(dtype), info(dtype).kind == 'c', false, false) + "typedef " +
         type + R"( T;
extern "C" __global__ void __launch_bounds__(256) td_matmul(const T* a, const T* b, T* c, long long m, long long n,
                                                             long long k, long long batches) {
  __shared__ T left[16][17], right[16][17];
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  const long long across = (n + 15) / 16, tiles = (m + 15) / 16 * across;
  for (long long t = blockIdx.x; t < tiles * batches; t += gridDim.x) {
    const long long batch = t / tiles, tile = t % tiles;
    const long long row = tile / across * 16 + y, column = tile % across * 16 + x;
    const T* pa = a + batch * m * k;
    const T* pb = b + batch * k * n;
    T sum = td_cast<T>(0);
    for (long long s = 0; s < k; s += 16) {
      left[y][x] = row < m && s + x < k ? pa[row * k + s + x] : td_cast<T>(0);
      right[y][x] = s + y < k && column < n ? pb[(s + y) * n + column] : td_cast<T>(0);
      __syncthreads();
#ifdef __TREADLE__
      const int side = k - s < 16 ? (int)(k - s) : 16;  // not a constant: unrolling costs more to compile than it saves
#else
      const int side = 16;
#endif
      for (int j = 0; j < side; ++j) sum = td_add(sum, td_mul(left[y][j], right[j][x]));
      __syncthreads();
    }
    if (row < m && column < n) c[batch * m * n + row * n + column] = sum;
  }
}
)";
}

Array tiled_product(Array a, Array b, const Shape& batch, DType dtype) {
  std::int64_t m = a.shape()[a.ndim() - 2], k = a.shape().back(), n = b.shape().back();
  a = array::packed_values(broadcast_batch(a.astype(dtype, false), batch));
  b = array::packed_values(broadcast_batch(b.astype(dtype, false), batch));
  Shape shape = batch;
  shape.push_back(m);
  shape.push_back(n);
  Array c = empty(shape, dtype);
  if (c.size() == 0) return c;
  driver::DeviceState& device = *view_of(c).storage->device();
  CUdeviceptr left = a.data(), right = b.data();
  device.make_current();
  const auto& loaded = fuse::kernel(
      device, cat("matmul", static_cast<int>(dtype)), [&] { return tiled_text(dtype); },
      "td_matmul");
  fuse::Arguments arguments;
  arguments.add(left);
  arguments.add(right);
  arguments.add(view_of(c).storage->address());
  arguments.add(m);
  arguments.add(n);
  arguments.add(k);
  std::int64_t batches = array::size_of(batch);
  arguments.add(batches);
  std::int64_t tiles = (m + 15) / 16 * ((n + 15) / 16) * batches;
  fuse::launch(device, driver::current_stream(view_of(c).storage->device())->handle(), loaded,
               tiles, arguments);
  return c;
}

}  // namespace

Array matmul(const Array& a, const Array& b) {
  if (a.ndim() == 0 || b.ndim() == 0)
    throw ValueError(
        "matmul: Input operand does not have enough dimensions (a 0-d array has no matrix; use "
        "multiply)");
  if (view_of(a).storage->device() != view_of(b).storage->device())
    throw ValueError("matmul: operands are on different devices; copy one of them over first");
  Array left = promoted_vector(a, true), right = promoted_vector(b, false);
  std::int64_t inner = left.shape().back(), other = right.shape()[right.ndim() - 2];
  if (inner != other)
    throw ValueError(
        cat("matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
            "(n?,k),(k,m?)->(n?,m?) (size ",
            other, " is different from ", inner, ")"));
  Shape left_batch = batch_shape(left), right_batch = batch_shape(right);
  const Shape* batches[] = {&left_batch, &right_batch};
  Shape batch = array::broadcast_shapes(batches);
  DType dtype = array::promote(a.dtype(), b.dtype());
  char kind = info(dtype).kind;
  array::OnDeviceOf scope(a);
  // Where the library has no products of halves, those of floats do it: the sums are floats anyway.
  bool half = is_half(dtype) && !driver::gemm_supports(*view_of(a).storage->device(), dtype);
  Array c = kind == 'f' || kind == 'c'
                ? blas_product(left, right, batch, half ? DType::float32 : dtype)
                : tiled_product(left, right, batch, dtype);
  if (half) c = c.astype(dtype);
  std::vector<IndexItem> drop{Ellipsis{}};
  drop.push_back(a.ndim() == 1 ? IndexItem(std::int64_t{0}) : IndexItem(Slice{}));
  drop.push_back(b.ndim() == 1 ? IndexItem(std::int64_t{0}) : IndexItem(Slice{}));
  return a.ndim() == 1 || b.ndim() == 1 ? c.index(drop) : c;
}

}  // namespace td
