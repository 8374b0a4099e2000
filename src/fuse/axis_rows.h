// An array seen as rows along one axis, for kernels that work along an axis.
#pragma once

#include "array/operations.h"

namespace td::fuse {

// Axes of `x` from the slowest to the fastest in memory: what order 'K' keeps.
inline Axes memory_order(const Array& x) {
  const array::View& v = array::view_of(x);
  const Strides* strides[] = {&v.strides};
  Strides kept = array::keep_order_strides(v.shape, strides, itemsize(v.dtype));
  Axes order(v.shape.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = static_cast<int>(k);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return kept[a] > kept[b]; });
  return order;
}

inline Axes inverse(const Axes& order) {
  Axes result(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) result[order[k]] = static_cast<int>(k);
  return result;
}

// All axes with `axis` behind the others.
inline Axes axis_last(int ndim, int axis) {
  Axes order;
  for (int k = 0; k < ndim; ++k)
    if (k != axis) order.push_back(k);
  order.push_back(axis);
  return order;
}

// `axis` within 0 … ndim-1; AxisError otherwise, also for an array without dimensions.
inline int checked_axis(int axis, int ndim) { return array::normalize_axes({axis}, ndim)[0]; }

// A new C-ordered array on the device of `x`.
inline Array empty_beside(const Array& x, const Shape& shape, DType dtype) {
  return array::make_array(array::fresh_view(array::view_of(x).storage->device(), shape, dtype));
}

// The device and its current stream, ready for a launch.
struct LaunchTarget {
  driver::DeviceState& device;
  CUstream stream;
};
inline LaunchTarget launch_target(const Array& x) {
  const auto& device = array::view_of(x).storage->device();
  device->make_current();
  return {*device, driver::current_stream(device)->handle()};
}
// The address of an array's first element, for work on the current stream. Data of operands must
// be there already (Array::data).
inline CUdeviceptr address_of(const Array& x) {
  const array::View& v = array::view_of(x);
  return v.storage->address() + static_cast<CUdeviceptr>(v.offset);
}

}  // namespace td::fuse
