// Kernels written in CUDA C++ text, with arguments checked against the kernel's own signature.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "treadle/array.h"

namespace [[gnu::visibility("default")]] td {

namespace launch {
class ModuleState;
class KernelState;
}  // namespace launch

// Grid or block size; missing dimensions are 1.
struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
};

// A raw device address, passed to a pointer parameter unchecked except for the parameter being a
// pointer.
struct DevicePointer {
  std::uint64_t address = 0;
};

// A number with an exact C type (a NumPy scalar or a C++ number): bytes of `dtype`.
struct TypedScalar {
  DType dtype;
  alignas(16) unsigned char bytes[16];
};

// Raw bytes for a parameter passed by value as a struct; the size must match.
struct Bytes {
  std::vector<unsigned char> data;
};

// One kernel argument. A Scalar is weak (a Python number): it is converted to the parameter's type
// when the value is exactly representable, else TypeError/ValueError names the parameter. A double
// given to a float parameter is rounded.
using KernelArg = std::variant<Array, Scalar, TypedScalar, DevicePointer, Bytes>;

struct LaunchConfig {
  Dim3 grid;
  Dim3 block;
  std::size_t shared = 0;  // dynamic shared memory, bytes
  const char* where =
      nullptr;  // place of the launch for messages, "file.py:12"; read during the launch only
  // All blocks are resident at once, so that they may wait for one another: grid.sync() of
  // cooperative_groups.h. Refused by the driver when there are more blocks than fit.
  bool cooperative = false;
};

// What one parameter of a kernel is.
struct ParamInfo {
  enum class Kind : std::uint8_t { scalar, pointer, aggregate, unknown };
  std::string name;  // "" when not known
  std::string type;  // as the source spells it, "" when not known
  Kind kind = Kind::unknown;
  std::optional<DType>
      dtype;  // of the scalar or of the pointer's element; absent for void*, structs, unknown
  bool pointee_const = false;
  std::size_t size = 0, align = 0, offset = 0;
};

struct ModuleOptions {
  std::vector<std::string>
      options;  // compiler options in NVRTC's spelling: -I…, -D…, --std=c++17, -use_fast_math
  std::vector<std::string>
      name_expressions;  // template instances to keep, as NVRTC's nvrtcAddNameExpression
  std::string file_name = "kernel.cu";  // for messages
  int first_line = 1;                   // line of the text's first line in `file_name`
  bool cooperative = false;             // every launch is cooperative (LaunchConfig)
};

class Kernel;

// A compiled translation unit, loaded lazily on the device where it is first used.
class Module {
 public:
  explicit Module(std::string source, ModuleOptions options = {});
  // What a compiler made before: for a GPU a cubin, a fatbin or PTX, for the software device what
  // `image` gave there. The sizes of parameters are the driver's; their types are not known, so
  // arguments must have the parameters' exact types. A driver that cannot load it says why.
  static Module from_image(std::string image, ModuleOptions options = {});
  // What the current device loads; compiles when needed.
  std::string image() const;
  // Throws ValueError listing the kernels that exist when `name` is not one of them.
  Kernel get(const std::string& name) const;
  // Address and size of a __device__ or __constant__ variable.
  std::pair<DevicePointer, std::size_t> global(const std::string& name) const;
  std::vector<std::string> kernel_names() const;
  // Compiles and loads for the current device now instead of at the first use.
  void compile() const;
  const std::string& code() const;
  const ModuleOptions& options() const;

 private:
  explicit Module(std::shared_ptr<launch::ModuleState> state) : state_(std::move(state)) {}
  std::shared_ptr<launch::ModuleState> state_;
};

class Kernel {
 public:
  // Does not compile; the first launch or query does.
  Kernel(std::string source, std::string name, ModuleOptions options = {});

  const std::string& name() const;
  const std::vector<ParamInfo>& params() const;  // compiles when needed
  // CUfunction_attribute by number.
  int attribute(int cuda_function_attribute) const;
  void set_attribute(int cuda_function_attribute, int value) const;
  void set_max_dynamic_shared(std::size_t bytes) const;
  const std::string& code() const;
  const ModuleOptions& options() const;
  void* handle() const;  // CUfunction of the current device; compiles when needed

  // Checks the launch shape against the device's limits (error: which limit, its value, by how much
  // it was exceeded) and every argument against the signature; launches pending work of array
  // arguments; then launches on the current stream. An array that is not C-contiguous is refused
  // unless `strided` is set, which passes its plain data pointer.
  void launch(const LaunchConfig& config, std::span<const KernelArg> args,
              bool strided = false) const;

  template <class... Args>
    requires(sizeof...(Args) > 0 &&
             (!std::is_convertible_v<const Args&, std::span<const KernelArg>> && ...))
  void launch(const LaunchConfig& config, const Args&... args) const {
    const KernelArg list[] = {to_arg(args)...};
    launch(config, std::span<const KernelArg>(list));
  }

  explicit Kernel(std::shared_ptr<launch::KernelState> state) : state_(std::move(state)) {}
  const std::shared_ptr<launch::KernelState>& state() const { return state_; }

 private:
  template <class T>
  static KernelArg to_arg(const T& value);
  std::shared_ptr<launch::KernelState> state_;
};

// C++ numbers carry their exact type.
template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, bool>)
    return DType::bool_;
  else if constexpr (std::is_floating_point_v<T>)
    return sizeof(T) == 4 ? DType::float32 : DType::float64;
  else if constexpr (std::is_signed_v<T>)
    return sizeof(T) == 1   ? DType::int8
           : sizeof(T) == 2 ? DType::int16
           : sizeof(T) == 4 ? DType::int32
                            : DType::int64;
  else
    return sizeof(T) == 1   ? DType::uint8
           : sizeof(T) == 2 ? DType::uint16
           : sizeof(T) == 4 ? DType::uint32
                            : DType::uint64;
}

template <class T>
KernelArg Kernel::to_arg(const T& value) {
  if constexpr (std::is_arithmetic_v<T>) {
    static_assert(sizeof(T) <= 8, "long double is not a device type");
    TypedScalar s{dtype_of<T>(), {}};
    __builtin_memcpy(s.bytes, &value, sizeof(T));
    return s;
  } else {
    return KernelArg(value);
  }
}

}  // namespace td
