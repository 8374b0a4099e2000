// threadIdx, blockIdx, blockDim, gridDim, warpSize. A field is a property, so that reading it is
// reading the register and assigning to it is an error.
#pragma once
#pragma clang system_header
#include "td_vectors.h"

#define TD_SREG(object, field, builtin) \
  __TD_FN unsigned __td_read_##object##_##field() { return builtin(); }
#include "device_builtins.def"

#define TD_REGISTER_FIELD(object, field)                       \
  __declspec(property(get = __td_get_##field)) unsigned field; \
  __TD_FN unsigned __td_get_##field() { return __td_read_##object##_##field(); }

#define TD_REGISTER_OBJECT(object)                                                 \
  struct __td_type_##object {                                                      \
    TD_REGISTER_FIELD(object, x)                                                   \
    TD_REGISTER_FIELD(object, y)                                                   \
    TD_REGISTER_FIELD(object, z)                                                   \
    __attribute__((host, device, always_inline, nodebug)) operator dim3() const {  \
      return dim3(x, y, z);                                                        \
    }                                                                              \
    __attribute__((host, device, always_inline, nodebug)) operator uint3() const { \
      return {x, y, z};                                                            \
    }                                                                              \
    __td_type_##object(const __td_type_##object&) = delete;                        \
    void operator=(const __td_type_##object&) const = delete;                      \
  };                                                                               \
  extern const __attribute__((device, weak)) __td_type_##object object;

TD_REGISTER_OBJECT(threadIdx)
TD_REGISTER_OBJECT(blockIdx)
TD_REGISTER_OBJECT(blockDim)
TD_REGISTER_OBJECT(gridDim)
#undef TD_REGISTER_OBJECT
#undef TD_REGISTER_FIELD

constexpr int warpSize = 32;
