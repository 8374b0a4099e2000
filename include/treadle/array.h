// td::Array: an n-dimensional array on a device, with NumPy's semantics.
//
// An Array is a cheap handle of a view (shape, byte strides, offset) over storage that other views
// may share. Operations are lazy inside and eager to the eye: they add a node and are launched,
// fused, when a value is needed. Errors of shape, dtype and index are thrown by the call that
// caused them.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "treadle/device.h"
#include "treadle/dtype.h"
#include "treadle/inline_vector.h"
#include "treadle/ops.h"

namespace [[gnu::visibility("default")]] td {

namespace array {
class ArrayImpl;
}

using Shape = InlineVector<std::int64_t, 4>;
using Strides = Shape;  // bytes
using Axes = InlineVector<int, 4>;

// A Python-like scalar operand: *weak*, it takes the dtype of the arrays it meets (NEP 50).
using Scalar = std::variant<bool, std::int64_t, std::uint64_t, double, std::complex<double>>;

// One item of a basic index: an integer, a slice, a new axis or an ellipsis.
struct Slice {
  std::optional<std::int64_t> start, stop, step;
};
struct NewAxis {};
struct Ellipsis {};
using IndexItem = std::variant<std::int64_t, Slice, NewAxis, Ellipsis>;

class Array {
 public:
  Array() = default;  // no array; every use throws ValueError

  const Shape& shape() const;
  const Strides& strides() const;
  DType dtype() const;
  int ndim() const;
  std::int64_t size() const;
  std::size_t nbytes() const;
  Device device() const;
  bool writeable() const;
  bool c_contiguous() const;
  bool f_contiguous() const;

  // Device address of the first element. Launches pending work that writes it.
  std::uint64_t data() const;
  // Launches pending work of this array, without waiting for it.
  void flush() const;

  // Views (share storage) where NumPy gives views; reshape copies only where it must.
  Array reshape(const Shape& shape) const;  // one -1 allowed; ValueError when sizes differ
  Array transpose(const Axes& axes = {}) const;
  Array T() const { return transpose(); }
  Array broadcast_to(const Shape& shape) const;  // read-only
  Array index(const std::vector<IndexItem>& items) const;
  Array index(std::span<const IndexItem> items) const;
  Array astype(DType dtype, bool copy = true) const;
  Array copy(char order = 'K') const;

  // Writes through a view: self[items] = value, cast to self's dtype.
  void assign(const std::vector<IndexItem>& items, const Array& value) const;
  void fill(const Scalar& value) const;

  // The value of an array with one element. Waits.
  Scalar item() const;

  explicit Array(std::shared_ptr<array::ArrayImpl> impl) : impl_(std::move(impl)) {}
  const std::shared_ptr<array::ArrayImpl>& impl() const { return impl_; }
  explicit operator bool() const { return impl_ != nullptr; }

 private:
  std::shared_ptr<array::ArrayImpl> impl_;
};

// ---- creation (on the current device) ----
Array empty(const Shape& shape, DType dtype, char order = 'C');
Array full(const Shape& shape, const Scalar& value, DType dtype);
Array zeros(const Shape& shape, DType dtype);
Array ones(const Shape& shape, DType dtype);
Array arange(double start, double stop, double step, DType dtype);
Array arange(std::int64_t stop, DType dtype = DType::int64);
Array linspace(double start, double stop, std::int64_t num, bool endpoint = true,
               DType dtype = DType::float64);
Array eye(std::int64_t n, std::int64_t m, std::int64_t k = 0, DType dtype = DType::float64);

// ---- transfers, explicit ----
// Copies host memory with byte strides to the current device. blocking: returns when `host` may be
// reused and the data are on the device; otherwise when `host` may be reused.
Array from_host(const void* host, const Shape& shape, const Strides& byte_strides, DType dtype,
                bool blocking = false);
// Copies to host memory with byte strides; returns when the data are there (blocking), else when
// the copy is enqueued on the current stream (host memory must stay valid until the stream is
// synchronised).
void to_host(const Array& array, void* host, const Strides& byte_strides, bool blocking = true);

// ---- operations: one row of tables/ops.def or tables/reductions.def each (treadle/ops.h) ----
using Operand = std::variant<Array, Scalar>;
inline constexpr std::size_t kMostOperands = 3;

// The same, kept by the caller: an array, or else a scalar.
struct OperandRef {
  const Array* array = nullptr;
  const Scalar* scalar = nullptr;
  OperandRef() = default;
  OperandRef(const Array& a) : array(&a) {}
  OperandRef(const Scalar& s) : scalar(&s) {}
  OperandRef(const Operand& o) : array(std::get_if<Array>(&o)), scalar(std::get_if<Scalar>(&o)) {}
};

// Element-wise operation with broadcasting and NumPy 2 promotion. `out` (same broadcast shape)
// receives the result, cast as NumPy's same_kind rule allows. At least one operand or `out` must be
// an Array.
Array apply(Op op, std::span<const Operand> operands, const Array& out = {},
            std::optional<DType> dtype = {});
Array apply(Op op, std::span<const OperandRef> operands, const Array& out = {},
            std::optional<DType> dtype = {});
// As apply, if that needs neither waiting for another thread nor a launch; else an empty Array, and
// nothing has happened.
Array try_apply(Op op, std::span<const OperandRef> operands);
// Reduction over `axes` (all when absent); of an empty axis the identity, or ValueError. `out` of
// any dtype is cast to; without `dtype` sums are computed in the common dtype of x and `out`.
Array reduce(Reduction op, const Array& x, const std::optional<Axes>& axes = {},
             bool keepdims = false, std::optional<DType> dtype = {}, const Array& out = {});
// Variance over `axes` with `ddof` delta degrees of freedom, in one pass over the data.
Array var(const Array& x, const std::optional<Axes>& axes = {}, double ddof = 0,
          bool keepdims = false, std::optional<DType> dtype = {});
// Views of the parts of a complex array; a real array itself, and read-only zeros.
Array real_part(const Array& x);
Array imag_part(const Array& x);
// NumPy's matmul (1-D rules and batches included); BLAS underneath.
Array matmul(const Array& a, const Array& b);

// Raw copy with broadcasting: out[...] = value.
void copy_into(const Array& out, const Operand& value);

// Launches every pending operation of the calling thread's device.
void flush_all();

// ---- random numbers: Philox 4x32-10, the same numbers on every device ----
class Generator {
 public:
  explicit Generator(std::uint64_t seed);
  Array random(const Shape& shape, DType dtype = DType::float64);           // uniform in [0, 1)
  Array standard_normal(const Shape& shape, DType dtype = DType::float64);  // mean 0, variance 1
  Array integers(std::int64_t low, std::int64_t high, const Shape& shape,
                 DType dtype = DType::int64);  // [low, high)
 private:
  std::uint64_t seed_;
  std::uint64_t offset_ = 0;
};

}  // namespace td
