// Stacks of matrices to the solver behind the border: shapes, dtypes and memory orders here.
//
// The solver wants column-major matrices and overwrites them, so each function makes one copy of
// its operand, transposed: a C-contiguous (..., n, m) array is a stack of column-major m x n
// matrices.
#include "treadle/linalg.h"

#include <algorithm>
#include <limits>

#include "array/operations.h"
#include "array/promotion.h"
#include "array/scope.h"
#include "base/text.h"
#include "driver/blas.h"
#include "driver/solver.h"

namespace td::linalg {
namespace {

using array::view_of;
using base::cat;
namespace solver = driver::solver;

DType real_of(DType dtype) {
  return dtype == DType::complex64    ? DType::float32
         : dtype == DType::complex128 ? DType::float64
                                      : dtype;
}
DType complex_of(DType dtype) {
  return dtype == DType::float32   ? DType::complex64
         : dtype == DType::float64 ? DType::complex128
                                   : dtype;
}

DType computing_dtype(const Array& a) {
  DType dtype = a.dtype();
  char kind = info(dtype).kind;
  if (kind == 'b' || kind == 'i' || kind == 'u') return DType::float64;
  if (itemsize(real_of(dtype)) < 4)
    throw TypeError(cat("array type ", info(dtype).numpy,
                        " is unsupported in linalg; convert to float32 or float64"));
  return dtype;
}

void require_matrices(const Array& a) {
  if (a.ndim() < 2)
    throw LinAlgError(
        cat(a.ndim(), "-dimensional array given. Array must be at least two-dimensional"));
}
void require_square(const Array& a) {
  require_matrices(a);
  if (a.shape()[a.ndim() - 1] != a.shape()[a.ndim() - 2])
    throw LinAlgError(cat("Last 2 dimensions of the array must be square, but the shape is ",
                          base::tuple_text(a.shape())));
}

struct Sizes {
  Shape batch;
  std::int64_t count, rows, columns;
};
Sizes sizes_of(const Array& a) {
  const Shape& shape = a.shape();
  Shape batch(shape.begin(), shape.end() - 2);
  std::int64_t count = array::size_of(batch);
  return {std::move(batch), count, shape[shape.size() - 2], shape.back()};
}

Shape with(Shape batch, std::initializer_list<std::int64_t> last) {
  batch.insert(batch.end(), last);
  return batch;
}

Array transposed(const Array& a) {
  Axes axes(a.ndim());
  for (int k = 0; k < a.ndim(); ++k) axes[k] = k;
  std::swap(axes[a.ndim() - 1], axes[a.ndim() - 2]);
  return a.transpose(axes);
}

// A new stack of column-major matrices, as (..., columns, rows).
Array by_columns(const Array& a, DType dtype) {
  return array::converted(transposed(a), dtype, 'C');
}
// The way back.
Array by_rows(const Array& buffer) { return array::packed(transposed(buffer)); }

// Where the solver writes: storage that nobody else has seen yet.
CUdeviceptr address(const Array& fresh) { return fresh.data(); }

const driver::StreamState& stream_of(const Array& a) {
  return *driver::current_stream(view_of(a).storage->device());
}

// One int32 for each matrix.
class Info {
 public:
  explicit Info(std::int64_t count) : info_(zeros({count}, DType::int32)), address_(info_.data()) {}
  operator CUdeviceptr() const { return address_; }
  // Waits; the first value that is not zero.
  std::int32_t first() const {
    std::vector<std::int32_t> values(static_cast<std::size_t>(info_.size()));
    to_host(info_, values.data(), {4});
    auto found = std::find_if(values.begin(), values.end(), [](auto v) { return v != 0; });
    return found == values.end() ? 0 : *found;
  }
  const Array& array() const { return info_; }

 private:
  Array info_;
  CUdeviceptr address_;
};

void fail_unless_zero(const Info& info, const char* message) {
  if (info.first() != 0) throw LinAlgError(message);
}

Array apply_to(Op op, std::initializer_list<Operand> operands) {
  return apply(op, std::span(operands.begin(), operands.size()));
}

// Rows as a column vector, columns as a row vector: condition(row + k, column).
Array masked(const Array& a, std::int64_t k, Op condition) {
  std::int64_t rows = a.shape()[a.ndim() - 2], columns = a.shape().back();
  Array row = arange(static_cast<double>(k), static_cast<double>(rows + k), 1, DType::int64)
                  .reshape({rows, 1});
  Array keep = apply_to(condition, {row, arange(columns)});
  return apply_to(Op::where, {keep, a, Scalar(false)});
}

bool nothing(const Sizes& s) { return s.count == 0 || s.rows == 0 || s.columns == 0; }

// Matrices up to this size go to the library by the stack where there are several of them: larger
// ones keep a device busy one by one.
constexpr std::int64_t kSmall = 128;

bool many_small(const Sizes& s) { return s.count > 1 && s.rows <= kSmall; }

// Where each matrix of a contiguous stack begins.
Array addresses_of(const Array& stack, const Sizes& s) {
  auto first = static_cast<double>(address(stack));
  auto bytes = static_cast<double>(stack.nbytes()) / static_cast<double>(s.count);
  return arange(first, first + bytes * static_cast<double>(s.count), bytes, DType::int64);
}

struct Factored {
  Array columns, pivots;  // column-major LU; pivots are int32 of a stack of small matrices
  Array addresses;        // of the matrices of such a stack
};

Factored factored(const Array& a, DType dtype, const Sizes& s, const Info& info) {
  Factored f{by_columns(a, dtype), {}, {}};
  const driver::StreamState& stream = stream_of(f.columns);
  if (many_small(s) && driver::lu_batched_supported(stream.device(), dtype)) {
    f.pivots = empty(with(s.batch, {s.rows}), DType::int32);
    f.addresses = addresses_of(f.columns, s);
    driver::getrf_batched(stream, dtype, s.rows, s.count, address(f.addresses), address(f.pivots),
                          info);
    return f;
  }
  f.pivots = empty(with(s.batch, {s.rows}), DType::int64);
  solver::getrf(stream, dtype, s.rows, s.count, address(f.columns), address(f.pivots), info);
  return f;
}

// In place of `x`, a stack of column-major n x nrhs matrices.
void solve_with(const Factored& f, const Array& x, const Sizes& s, std::int64_t nrhs) {
  const driver::StreamState& stream = stream_of(x);
  if (f.addresses) {
    Array right = addresses_of(x, s);
    driver::getrs_batched(stream, x.dtype(), s.rows, nrhs, s.count, address(f.addresses),
                          address(f.pivots), address(right));
    return;
  }
  Info ignored(s.count);
  solver::getrs(stream, x.dtype(), s.rows, nrhs, s.count, address(f.columns), address(f.pivots),
                address(x), ignored);
}

}  // namespace

Array tril(const Array& a, std::int64_t k) {
  array::OnDeviceOf scope(a);
  require_matrices(a);
  return masked(a, k, Op::greater_equal);
}
Array triu(const Array& a, std::int64_t k) {
  array::OnDeviceOf scope(a);
  require_matrices(a);
  return masked(a, k, Op::less_equal);
}

Array diagonal(const Array& a, std::int64_t offset) {
  if (a.ndim() < 2) throw ValueError("diag requires an array of at least two dimensions");
  array::View view = view_of(a);
  std::int64_t rows = view.shape[view.shape.size() - 2], columns = view.shape.back();
  std::int64_t down = view.strides[view.strides.size() - 2], right = view.strides.back();
  std::int64_t skipped = offset < 0 ? std::min(-offset, rows) : std::min(offset, columns);
  std::int64_t length = std::max<std::int64_t>(
      0, offset < 0 ? std::min(rows - skipped, columns) : std::min(rows, columns - skipped));
  if (length > 0) view.offset += skipped * (offset < 0 ? down : right);
  view.shape.pop_back();
  view.strides.pop_back();
  view.shape.back() = length;
  view.strides.back() = down + right;
  return array::make_array(std::move(view), false);
}

LU lu(const Array& a) {
  array::OnDeviceOf scope(a);
  require_square(a);
  DType dtype = computing_dtype(a);
  Sizes s = sizes_of(a);
  if (nothing(s)) return {empty(a.shape(), dtype), empty(with(s.batch, {s.rows}), DType::int64)};
  Info info(s.count);
  Factored f = factored(a, dtype, s, info);
  return {transposed(f.columns), f.pivots.astype(DType::int64, false)};
}

Array solve(const Array& a, const Array& b) {
  array::OnDeviceOf scope(a);
  require_square(a);
  if (b.ndim() == 0)
    throw ValueError("solve: Input operand 1 does not have enough dimensions (it has 0)");
  DType dtype = array::promote(computing_dtype(a), computing_dtype(b));
  bool vector = b.ndim() == 1;
  Array right = vector ? b.index({Ellipsis{}, NewAxis{}}) : b;
  std::int64_t n = a.shape().back(), other = right.shape()[right.ndim() - 2];
  if (other != n)
    throw ValueError(cat("solve: Input operand 1 has a mismatch in its core dimension 0 (size ",
                         other, " is different from ", n, ")"));
  Sizes left_sizes = sizes_of(a), right_sizes = sizes_of(right);
  const Shape* batches[] = {&left_sizes.batch, &right_sizes.batch};
  Shape batch = array::broadcast_shapes(batches);
  std::int64_t nrhs = right_sizes.columns;
  Sizes s{batch, array::size_of(batch), n, n};
  Shape shape = vector ? with(batch, {n}) : with(batch, {n, nrhs});
  if (nothing(s) || nrhs == 0) return empty(shape, dtype);
  Info info(s.count);
  Factored f = factored(a.broadcast_to(with(batch, {n, n})), dtype, s, info);
  Array x = by_columns(right.broadcast_to(with(batch, {n, nrhs})), dtype);
  solve_with(f, x, s, nrhs);
  fail_unless_zero(info, "Singular matrix");
  return vector ? x.reshape(shape) : by_rows(x);
}

Array inv(const Array& a, bool nan_where_singular) {
  array::OnDeviceOf scope(a);
  require_square(a);
  DType dtype = computing_dtype(a);
  Sizes s = sizes_of(a);
  if (nothing(s)) return empty(a.shape(), dtype);
  Info info(s.count);
  Factored f = factored(a, dtype, s, info);
  Array x = array::converted(eye(s.rows, s.rows, 0, dtype).broadcast_to(a.shape()), dtype, 'C');
  solve_with(f, x, s, s.rows);
  if (!nan_where_singular) {
    fail_unless_zero(info, "Singular matrix");
    return by_rows(x);
  }
  Array regular =
      apply_to(Op::equal, {info.array(), Scalar(std::int64_t{0})}).reshape(with(s.batch, {1, 1}));
  return apply_to(Op::where,
                  {regular, by_rows(x), Scalar(std::numeric_limits<double>::quiet_NaN())});
}

Array cholesky(const Array& a, bool upper) {
  array::OnDeviceOf scope(a);
  require_square(a);
  DType dtype = computing_dtype(a);
  Sizes s = sizes_of(a);
  if (nothing(s)) return empty(a.shape(), dtype);
  Info info(s.count);
  Array factor = by_columns(a, dtype);
  const driver::StreamState& stream = stream_of(factor);
  if (many_small(s) && solver::potrf_batched_supported(stream.device())) {
    Array addresses = addresses_of(factor, s);
    solver::potrf_batched(stream, dtype, upper, s.rows, s.count, address(addresses), info);
  } else {
    solver::potrf(stream, dtype, upper, s.rows, s.count, address(factor), info);
  }
  fail_unless_zero(info, "Matrix is not positive definite");
  Array rows = transposed(factor);
  return array::packed(upper ? triu(rows) : tril(rows));
}

PackedQR qr_packed(const Array& a) {
  array::OnDeviceOf scope(a);
  require_matrices(a);
  DType dtype = computing_dtype(a);
  Sizes s = sizes_of(a);
  Array packed = by_columns(a, dtype);
  Array tau = zeros(with(s.batch, {std::min(s.rows, s.columns)}), dtype);
  if (nothing(s)) return {packed, tau};
  Info info(s.count);
  solver::geqrf(stream_of(packed), dtype, s.rows, s.columns, s.count, address(packed), address(tau),
                info);
  fail_unless_zero(info, "Incorrect argument found while performing QR factorization");
  return {packed, tau};
}

Array qr_r(const Array& a) {
  array::OnDeviceOf scope(a);
  Array packed = qr_packed(a).packed;
  std::int64_t k = std::min(packed.shape().back(), packed.shape()[packed.ndim() - 2]);
  Array top = packed.index({Ellipsis{}, Slice{{}, k, {}}});
  return array::packed(triu(transposed(top)));
}

QR qr(const Array& a, bool complete) {
  array::OnDeviceOf scope(a);
  PackedQR factors = qr_packed(a);
  Sizes s = sizes_of(a);
  DType dtype = factors.packed.dtype();
  std::int64_t vectors = std::min(s.rows, s.columns);
  std::int64_t k = complete && s.rows > s.columns ? s.rows : vectors;
  Array top = factors.packed.index({Ellipsis{}, Slice{{}, std::min(k, s.rows), {}}});
  Array r = array::packed(triu(transposed(top)));
  if (s.count == 0 || s.rows == 0 || k == 0) return {empty(with(s.batch, {s.rows, k}), dtype), r};
  if (vectors == 0) {  // no columns at all: Q is the identity
    Array q = eye(s.rows, k, 0, dtype).broadcast_to(with(s.batch, {s.rows, k}));
    return {array::converted(q, dtype, 'C'), r};
  }
  Array q = zeros(with(s.batch, {k, s.rows}), dtype);
  std::vector<IndexItem> rows{Ellipsis{}, Slice{{}, vectors, {}}, Slice{}};
  q.assign(rows, factors.packed.index(rows));
  Info info(s.count);
  solver::orgqr(stream_of(q), dtype, s.rows, k, vectors, s.count, address(q), address(factors.tau),
                info);
  return {by_rows(q), r};
}

SVD svd(const Array& a, Vectors vectors) {
  array::OnDeviceOf scope(a);
  require_matrices(a);
  DType dtype = computing_dtype(a);
  Sizes s = sizes_of(a);
  bool complete = vectors == Vectors::complete;
  std::int64_t k = std::min(s.rows, s.columns);
  if (nothing(s)) {
    auto unit = [&](std::int64_t rows, std::int64_t columns) {
      return array::converted(
          eye(rows, columns, 0, dtype).broadcast_to(with(s.batch, {rows, columns})), dtype, 'C');
    };
    SVD result{{}, empty(with(s.batch, {k}), real_of(dtype)), {}};
    if (vectors == Vectors::none) return result;
    result.u = unit(s.rows, complete ? s.rows : k);
    result.vh = unit(complete ? s.columns : k, s.columns);
    return result;
  }
  // The solver wants at least as many rows as columns: a wide matrix goes in transposed, which
  // costs nothing, and its vectors change places.
  bool wide = s.rows < s.columns;
  std::int64_t m = std::max(s.rows, s.columns), n = k;
  char job = vectors == Vectors::none ? 'N' : complete ? 'A' : 'S';
  Array matrix = wide ? array::converted(a, dtype, 'C') : by_columns(a, dtype);
  Array values = empty(with(s.batch, {n}), real_of(dtype));
  Array left, right;
  if (vectors != Vectors::none) {
    left = empty(with(s.batch, {complete ? m : n, m}), dtype);
    right = empty(with(s.batch, {n, n}), dtype);
  }
  Info info(s.count);
  solver::gesvd(stream_of(matrix), dtype, job, m, n, s.count, address(matrix), address(values),
                left ? address(left) : 0, right ? address(right) : 0, info);
  fail_unless_zero(info, "SVD did not converge");
  if (vectors == Vectors::none) return {{}, values, {}};
  return wide ? SVD{right, values, left} : SVD{by_rows(left), values, by_rows(right)};
}

Eigh eigh(const Array& a, bool upper, bool vectors) {
  array::OnDeviceOf scope(a);
  require_square(a);
  DType dtype = computing_dtype(a);
  Sizes s = sizes_of(a);
  Array values = empty(with(s.batch, {s.rows}), real_of(dtype));
  if (nothing(s)) return {values, vectors ? empty(a.shape(), dtype) : Array()};
  Array matrix = by_columns(a, dtype);
  Info info(s.count);
  solver::syevd(stream_of(matrix), dtype, vectors, upper, s.rows, s.count, address(matrix),
                address(values), info);
  fail_unless_zero(info, "Eigenvalues did not converge");
  return {values, vectors ? by_rows(matrix) : Array()};
}

namespace {

// LAPACK's packed vectors of a real matrix: vector j is row j, and a pair of complex vectors has
// its real part in the first row and its imaginary part in the second.
Array unpacked(const Array& rows, const Array& w) {
  std::int64_t n = rows.shape().back();
  Shape padded_shape = rows.shape();
  padded_shape[padded_shape.size() - 2] = n + 2;
  Array padded = zeros(padded_shape, rows.dtype());
  padded.assign({Ellipsis{}, Slice{1, n + 1, {}}, Slice{}}, rows);
  Array before = padded.index({Ellipsis{}, Slice{{}, n, {}}, Slice{}});
  Array after = padded.index({Ellipsis{}, Slice{2, {}, {}}, Slice{}});
  Array imaginary = imag_part(w).index({Ellipsis{}, NewAxis{}});
  Scalar zero = std::int64_t{0};
  Array first = apply_to(Op::greater, {imaginary, zero});
  Array second = apply_to(Op::less, {imaginary, zero});
  Array result = empty(rows.shape(), complex_of(rows.dtype()));
  copy_into(real_part(result), apply_to(Op::where, {second, before, rows}));
  Array minus = apply_to(Op::where, {second, apply_to(Op::negative, {rows}), zero});
  copy_into(imag_part(result), apply_to(Op::where, {first, after, minus}));
  return result;
}

}  // namespace

Eigh eig(const Array& a, bool vectors) {
  array::OnDeviceOf scope(a);
  require_square(a);
  DType dtype = computing_dtype(a), complex = complex_of(dtype);
  Sizes s = sizes_of(a);
  Array values = empty(with(s.batch, {s.rows}), complex);
  if (nothing(s)) return {values, vectors ? empty(a.shape(), complex) : Array()};
  Array matrix = by_columns(a, dtype);
  Array right = vectors ? empty(a.shape(), dtype) : Array();
  Info info(s.count);
  solver::geev(stream_of(matrix), dtype, s.rows, s.count, address(matrix), address(values),
               vectors ? address(right) : 0, info);
  fail_unless_zero(info, "Eigenvalues did not converge");
  if (!vectors) return {values, {}};
  return {values, by_rows(dtype == complex ? right : unpacked(right, values))};
}

}  // namespace td::linalg
