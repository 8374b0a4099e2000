#include "launch/arguments.h"

#include <optional>

#include "base/author_name.h"
#include "base/text.h"
#include "launch/scalars.h"
#include "treadle/error.h"

namespace td::launch {

namespace {

using Kind = ParamInfo::Kind;

std::string param_text(const ParamInfo& info, std::size_t index) {
  std::string out = base::cat("parameter ", index);
  if (!info.name.empty()) out += " '" + info.name + "'";
  if (!info.type.empty()) return out + " (" + info.type + ")";
  return out +
         (info.size ? base::cat(" (", info.size, " bytes)") : std::string(" (type not known)"));
}

std::string describe_array(const Array& array) {
  return base::cat("an array of ", info(array.dtype()).numpy, " of shape ",
                   base::tuple_text(array.shape()));
}

std::string describe_typed(const TypedScalar& typed) {
  std::string text = describe(value_of(typed));
  return base::cat(text.substr(0, text.rfind(" (")), " (", info(typed.dtype).numpy, ")");
}

// One argument on its way; the member functions throw or write.
class Conversion {
 public:
  Conversion(const LaunchContext& context, std::size_t index, unsigned char* slot)
      : context_(context),
        index_(index),
        info_(context.target.infos[index]),
        param_(context.target.params[index]),
        slot_(slot) {}

  void operator()(const Array& array) const {
    const array::View& view = array::view_of(array);
    if (param_.kind == Kind::scalar)
      refuse<TypeError>(
          base::cat("takes ", wanted(), ", got ", describe_array(array),
                    array.size() == 1 ? "; pass its value: x.item()" : "; pass one number"));
    if (param_.kind == Kind::aggregate)
      refuse<TypeError>(
          base::cat("takes a value, got ", describe_array(array), "; pass the bytes of one value"));
    if (param_.kind == Kind::unknown) check_size(8, "the address of an array");
    if (view.storage->device().get() != context_.target.device)
      refuse<ValueError>(base::cat("got an array on ", view.storage->device()->name(),
                                   ", but the launch is on ", context_.target.device->name(),
                                   "; copy the array there first"));
    if (param_.dtype != Param::kNoDType && param_.dtype != static_cast<std::uint8_t>(view.dtype))
      refuse<TypeError>(base::cat("takes an array of ", pointee().numpy, ", got ",
                                  describe_array(array), "; convert it with .astype('",
                                  pointee().numpy, "')"));
    if (!array.writeable() && param_.kind == Kind::pointer && !param_.pointee_const)
      refuse<ValueError>(
          "may be written through, but the array is read-only (a broadcast view); pass a copy, or "
          "declare the parameter const");
    if (!array.c_contiguous() && !context_.strided)
      refuse<ValueError>(base::cat(
          "takes contiguous data, got a view of shape ", base::tuple_text(array.shape()),
          " with strides ", base::tuple_text(array.strides()),
          " bytes; pass td.ascontiguousarray(x), or strided=True for its plain data pointer"));
    if (!param_.pointee_const) view.storage->expose();
    put(view.storage->address() + static_cast<CUdeviceptr>(view.offset));
  }

  void operator()(const Scalar& value) const { number(value, nullptr); }
  void operator()(const TypedScalar& typed) const { number(value_of(typed), &typed); }

  void operator()(const DevicePointer& pointer) const {
    if (param_.kind == Kind::scalar || param_.kind == Kind::aggregate)
      refuse<TypeError>(
          base::cat("takes ", wanted(), ", got a device pointer; pass its address as a number"));
    if (param_.kind == Kind::unknown) check_size(8, "a device pointer");
    put(pointer.address);
  }

  void operator()(const Bytes& bytes) const {
    if (param_.kind == Kind::scalar || param_.kind == Kind::pointer)
      refuse<TypeError>(base::cat("takes ", wanted(), ", got ", bytes.data.size(),
                                  " raw bytes; raw bytes are for structs passed by value"));
    check_size(bytes.data.size(), "raw bytes");
    if (bytes.data.size() > room())
      refuse<ValueError>(base::cat("got ", bytes.data.size(),
                                   " raw bytes, but its size is not known on this driver, "
                                   "and at most ",
                                   room(),
                                   " can be passed blindly; use a driver of CUDA 12.4 or newer"));
    std::memcpy(slot_, bytes.data.data(), bytes.data.size());
  }

 private:
  template <class Exception>
  [[noreturn]] void refuse(const std::string& what) const {
    throw Exception(base::cat(message_head(context_), ": ", param_text(info_, index_), " ", what));
  }

  const DTypeInfo& pointee() const { return td::info(static_cast<DType>(param_.dtype)); }

  // "an integer", "a number", "a pointer", …: what the parameter is, in a user's words
  std::string wanted() const {
    if (param_.kind == Kind::pointer) return "an array or a pointer";
    if (param_.kind == Kind::aggregate)
      return param_.dtype == Param::kNoDType ? "a struct" : "a complex number";
    if (param_.kind == Kind::unknown) return "a value of a type that is not known here";
    switch (pointee().kind) {
      case 'b':
        return "a bool";
      case 'i':
      case 'u':
        return "an integer";
      default:
        return "a number";
    }
  }

  std::size_t room() const { return param_.size ? param_.size : 16; }

  void check_size(std::size_t bytes, const char* what) const {
    if (param_.size != 0 && param_.size != bytes)
      refuse<TypeError>(
          base::cat("has ", param_.size, " bytes, got ", what, " (", bytes, " bytes)"));
  }

  void put(std::uint64_t address) const { std::memcpy(slot_, &address, sizeof address); }

  // `typed` is null for a Python-like number, which has a kind but no type of its own.
  static std::string given(const Scalar& value, const TypedScalar* typed) {
    return typed ? describe_typed(*typed) : describe(value);
  }

  void number(const Scalar& value, const TypedScalar* typed) const {
    if (param_.kind == Kind::pointer) return null_pointer(value, typed);
    if (param_.kind == Kind::unknown ||
        (param_.kind == Kind::aggregate && param_.dtype == Param::kNoDType))
      return untyped(value, typed);
    if (typed && param_.dtype == static_cast<std::uint8_t>(typed->dtype)) {
      std::memcpy(slot_, typed->bytes, itemsize(typed->dtype));
      return;
    }
    DType dtype = static_cast<DType>(param_.dtype);
    switch (write_scalar(value, dtype, slot_)) {
      case Fit::exact:
        return;
      case Fit::rounded:
        // A Python float is any precision's; a number with a type of its own, or an integer, must
        // arrive unchanged.
        if (!typed && !is_integer(value)) return;
        refuse<TypeError>(
            base::cat("takes ", td::info(dtype).numpy, ", which cannot hold ", given(value, typed),
                      " exactly; convert it yourself: ", td::info(dtype).numpy, "(x)"));
      case Fit::out_of_range:
        return out_of_range(dtype, given(value, typed));
      case Fit::wrong_kind:
        return wrong_kind(value, given(value, typed));
    }
  }

  static bool is_integer(const Scalar& value) {
    return !std::holds_alternative<double>(value) &&
           !std::holds_alternative<std::complex<double>>(value);
  }

  void out_of_range(DType dtype, const std::string& given) const {
    std::string range = range_text(dtype);
    refuse<ValueError>(base::cat("got ", given, ", which is out of range",
                                 range.empty()
                                     ? std::string(" of ") + std::string(td::info(dtype).numpy)
                                     : ": it takes " + range,
                                 "; check the value, or declare a wider type in the kernel"));
  }

  void wrong_kind(const Scalar& value, const std::string& given) const {
    bool complex = std::holds_alternative<std::complex<double>>(value);
    refuse<TypeError>(base::cat("takes ", wanted(), ", got ", given,
                                complex ? "; pass x.real, or declare the parameter complex"
                                        : "; pass int(x), or declare the parameter float"));
  }

  void null_pointer(const Scalar& value, const TypedScalar* typed) const {
    bool zero = false;
    if (const auto* v = std::get_if<std::int64_t>(&value)) zero = *v == 0;
    if (const auto* v = std::get_if<std::uint64_t>(&value)) zero = *v == 0;
    if (!zero)
      refuse<TypeError>(base::cat(
          "takes an array or a pointer, got ", given(value, typed),
          "; pass the array itself, wrap an address in DevicePointer, or pass 0 for null"));
    put(0);
  }

  // Nothing says how the bytes will be read, so the caller must.
  void untyped(const Scalar& value, const TypedScalar* typed) const {
    if (typed) {
      check_size(itemsize(typed->dtype), "a number with a type");
      std::memcpy(slot_, typed->bytes, itemsize(typed->dtype));
      return;
    }
    const auto* complex = std::get_if<std::complex<double>>(&value);
    if (complex && param_.kind == Kind::aggregate && (param_.size == 8 || param_.size == 16)) {
      Fit fit = write_scalar(value, param_.size == 8 ? DType::complex64 : DType::complex128, slot_);
      if (fit == Fit::out_of_range) out_of_range(DType::complex64, given(value, typed));
      return;
    }
    if (param_.kind == Kind::aggregate)
      refuse<TypeError>(base::cat("takes a struct, got ", given(value, typed), "; pass its ",
                                  info_.size, " bytes"));
    refuse<TypeError>(base::cat(
        "has a type that is not known here, so ", given(value, typed),
        " could be read wrongly; pass a number with a type: numpy.int32(x), numpy.float32(x)"));
  }

  const LaunchContext& context_;
  std::size_t index_;
  const ParamInfo& info_;
  const Param& param_;
  unsigned char* slot_;
};

}  // namespace

std::string message_head(const LaunchContext& context) {
  return base::cat(context.where ? context.where : "", context.where ? ": " : "", "kernel '",
                   base::author_name(context.kernel), "'");
}

void throw_count(const LaunchContext& context, std::size_t given) {
  std::vector<std::string> list;
  for (const ParamInfo& info : context.target.infos) {
    std::string type = info.type.empty() ? "?" : info.type;
    list.push_back(info.name.empty() ? type : type + " " + info.name);
  }
  std::size_t count = context.target.infos.size();
  throw TypeError(base::cat(message_head(context), " takes ", count,
                            count == 1 ? " argument (" : " arguments (", base::join(list, ", "),
                            "), got ", given));
}

void convert_argument(const LaunchContext& context, std::size_t index, const KernelArg& argument,
                      unsigned char* slot) {
  std::visit(Conversion(context, index, slot), argument);
}

}  // namespace td::launch
