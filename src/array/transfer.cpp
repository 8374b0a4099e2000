// Host <-> device. The driver's transfers move contiguous memory; strided host memory is gathered
// or scattered here.
#include <cstring>
#include <memory>

#include "array/operations.h"
#include "array/promotion.h"
#include "base/text.h"
#include "treadle/error.h"

namespace td {
namespace {

using array::View;
using array::view_of;

// Copies between host views of one shape, both with byte strides.
void copy_strided(char* to, const Strides& to_strides, const char* from,
                  const Strides& from_strides, const Shape& shape, std::size_t bytes,
                  std::size_t axis = 0) {
  if (axis == shape.size()) {
    std::memcpy(to, from, bytes);
    return;
  }
  std::int64_t n = shape[axis], a = to_strides[axis], b = from_strides[axis];
  auto step = static_cast<std::int64_t>(bytes);
  if (axis + 1 == shape.size() && a == step && b == step) {
    std::memcpy(to, from, bytes * static_cast<std::size_t>(n));
    return;
  }
  for (std::int64_t i = 0; i < n; ++i)
    copy_strided(to + i * a, to_strides, from + i * b, from_strides, shape, bytes, axis + 1);
}

// The bytes of one element as the widest number of its kind; `dtype` has a C++ type.
Scalar widened(DType dtype, const unsigned char* bytes) {
  auto as = [&]<class T>(T value) {
    std::memcpy(&value, bytes, sizeof value);
    return value;
  };
  switch (dtype) {
    case DType::bool_:
      return bytes[0] != 0;
    case DType::int8:
      return std::int64_t{as(std::int8_t{})};
    case DType::int16:
      return std::int64_t{as(std::int16_t{})};
    case DType::int32:
      return std::int64_t{as(std::int32_t{})};
    case DType::int64:
      return as(std::int64_t{});
    case DType::uint8:
      return std::uint64_t{as(std::uint8_t{})};
    case DType::uint16:
      return std::uint64_t{as(std::uint16_t{})};
    case DType::uint32:
      return std::uint64_t{as(std::uint32_t{})};
    case DType::uint64:
      return as(std::uint64_t{});
    case DType::float32:
      return double{as(float{})};
    case DType::float64:
      return as(double{});
    case DType::complex64:
      return std::complex<double>(as(std::complex<float>{}));
    default:
      return as(std::complex<double>{});
  }
}

// The address for a transfer, which only reads.
CUdeviceptr address_of(const Array& array) {
  array.flush();
  const View& v = view_of(array);
  return v.storage->address() + static_cast<CUdeviceptr>(v.offset);
}

std::unique_ptr<char[]> host_buffer(std::size_t bytes) {
  return std::unique_ptr<char[]>(new char[bytes]);
}

}  // namespace

Array from_host(const void* host, const Shape& shape, const Strides& byte_strides, DType dtype,
                bool blocking) {
  if (byte_strides.size() != shape.size())
    throw ValueError("from_host: one stride per axis is needed");
  std::size_t bytes = itemsize(dtype);
  bool f_order = array::is_contiguous(shape, byte_strides, bytes, 'F');
  bool c_order = array::is_contiguous(shape, byte_strides, bytes, 'C');
  Array result = empty(shape, dtype, f_order && !c_order ? 'F' : 'C');
  if (result.nbytes() == 0) return result;
  const View& v = view_of(result);
  const auto& stream = driver::current_stream(v.storage->device());
  const void* source = host;
  std::unique_ptr<char[]> gathered;
  if (!f_order && !c_order) {
    gathered = host_buffer(result.nbytes());
    copy_strided(gathered.get(), v.strides, static_cast<const char*>(host), byte_strides, shape,
                 bytes);
    source = gathered.get();
  }
  driver::upload(*stream, v.storage->address(), source, result.nbytes());
  if (blocking) Stream(stream).synchronize();
  return result;
}

void to_host(const Array& array, void* host, const Strides& byte_strides, bool blocking) {
  const Shape& shape = array.shape();
  if (byte_strides.size() != shape.size())
    throw ValueError("to_host: one stride per axis is needed");
  if (array.size() == 0) return;
  std::size_t bytes = itemsize(array.dtype());
  bool f_order = array::is_contiguous(shape, byte_strides, bytes, 'F');
  bool c_order = array::is_contiguous(shape, byte_strides, bytes, 'C');
  bool same = (c_order && array.c_contiguous()) || (f_order && array.f_contiguous());
  Array source =
      same ? array : array::converted(array, array.dtype(), f_order && !c_order ? 'F' : 'C');
  std::uint64_t address = address_of(source);
  const auto& device = view_of(source).storage->device();
  const auto& stream = driver::current_stream(device);
  if (!f_order && !c_order) {
    auto scattered = host_buffer(array.nbytes());
    driver::download(*stream, scattered.get(), address, array.nbytes());
    copy_strided(static_cast<char*>(host), byte_strides, scattered.get(), source.strides(), shape,
                 bytes);
  } else if (blocking) {
    driver::download(*stream, host, address, array.nbytes());
  } else {
    device->make_current();
    TD_CALL(*device, cuMemcpyDtoHAsync, host, address, array.nbytes(), stream->handle());
  }
}

// Widened on the host: a cast on the device would be a kernel of its own, or make the kernel of the
// reduction that gives the value another one.
Scalar Array::item() const {
  if (size() != 1) throw ValueError("can only convert an array of size 1 to a Python scalar");
  Array one = is_half(dtype()) ? astype(DType::float64) : *this;
  alignas(16) unsigned char bytes[16] = {};
  const View& v = view_of(one);
  std::uint64_t address = address_of(one);
  driver::download(*driver::current_stream(v.storage->device()), bytes, address,
                   itemsize(one.dtype()));
  return widened(one.dtype(), bytes);
}

}  // namespace td
