// One argument of a launch against one parameter of the kernel.
//
// What is accepted stands in docs/kernels.md, "What may be passed"; every refusal names the kernel,
// the parameter by index (from 0) and name, its type, what was given, and the cure.
#pragma once

#include <cstring>
#include <string>

#include "array/impl.h"
#include "launch/state.h"

namespace td::launch {

struct LaunchContext {
  const std::string& kernel;
  const DeviceKernel& target;
  const char* where;  // "file.py:12", or null
  bool strided;
  bool cooperative = false;
};

// Checks and converts; writes the parameter's value to `slot`. Throws TypeError or ValueError.
void convert_argument(const LaunchContext& context, std::size_t index, const KernelArg& argument,
                      unsigned char* slot);

// "file.py:12: kernel 'vector_add'": the beginning of every message.
std::string message_head(const LaunchContext& context);
// TypeError: the kernel takes so many arguments, not so many.
[[noreturn]] void throw_count(const LaunchContext& context, std::size_t given);

inline bool number_fits(const Scalar& scalar, std::uint8_t dtype, unsigned char* slot) {
  if (const std::int64_t* value = std::get_if<std::int64_t>(&scalar)) {
    auto narrow = static_cast<std::int32_t>(*value);
    std::memcpy(slot, value, sizeof *value);  // its first four bytes are `narrow`
    return dtype == static_cast<std::uint8_t>(DType::int64) ||
           (dtype == static_cast<std::uint8_t>(DType::int32) && narrow == *value);
  }
  const double* value = std::get_if<double>(&scalar);
  if (!value) return false;
  if (dtype == static_cast<std::uint8_t>(DType::float64)) {
    std::memcpy(slot, value, sizeof *value);
    return true;
  }
  auto narrow = static_cast<float>(*value);
  std::memcpy(slot, &narrow, sizeof narrow);
  return dtype == static_cast<std::uint8_t>(DType::float32) && narrow - narrow == 0;  // finite
}

// The cases of nearly every launch, without a call: an array that fits its pointer, a number that
// fits its parameter.
inline bool fits_at_once(const LaunchContext& context, const Param& param,
                         const KernelArg& argument, unsigned char* slot) {
  if (const Array* array = std::get_if<Array>(&argument)) {
    const array::ArrayImpl* impl = array->impl().get();
    if (!impl || param.kind != ParamInfo::Kind::pointer) return false;
    bool dtype = param.dtype == static_cast<std::uint8_t>(impl->view.dtype) ||
                 param.dtype == Param::kNoDType;
    bool fits = dtype && impl->c_contiguous && (impl->writeable || param.pointee_const) &&
                impl->view.storage->device().get() == context.target.device;
    if (!fits) return false;
    if (!param.pointee_const) impl->view.storage->expose();
    CUdeviceptr address =
        impl->view.storage->address() + static_cast<CUdeviceptr>(impl->view.offset);
    std::memcpy(slot, &address, sizeof address);
    return true;
  }
  if (const Scalar* scalar = std::get_if<Scalar>(&argument))
    return param.kind == ParamInfo::Kind::scalar && number_fits(*scalar, param.dtype, slot);
  if (const TypedScalar* typed = std::get_if<TypedScalar>(&argument)) {
    if (param.kind != ParamInfo::Kind::scalar ||
        param.dtype != static_cast<std::uint8_t>(typed->dtype))
      return false;
    std::memcpy(slot, typed->bytes, 16);
    return true;
  }
  return false;
}

}  // namespace td::launch
