#include "launch/scalars.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/text.h"

namespace td::launch {

namespace {

template <class T>
void put(T value, unsigned char* out) {
  std::memcpy(out, &value, sizeof value);
}

// binary16, round to nearest, ties to even; overflow gives infinity.
std::uint16_t half_bits(double value) {
  std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  double size = std::fabs(value);
  if (std::isnan(value)) return sign | 0x7e00;
  if (size == 0) return sign;
  if (size >= 65520.0) return sign | 0x7c00;  // halfway between the largest half and the next step
  int exponent = 0;
  std::frexp(size, &exponent);
  // One unit in the last place: 11 significant bits, and not below 2^-24.
  int unit = std::max(exponent - 11, -24);
  double steps = std::nearbyint(std::ldexp(size, -unit));
  auto count = static_cast<std::uint32_t>(steps);
  if (unit == -24) return static_cast<std::uint16_t>(sign | count);
  // count is 1024…2048; 2048 carries into the exponent by itself.
  return static_cast<std::uint16_t>(sign | ((static_cast<std::uint32_t>(unit + 24) << 10) + count));
}

double half_value(std::uint16_t bits) {
  int exponent = (bits >> 10) & 31;
  double fraction = bits & 1023;
  double size = exponent == 31  ? (fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                                                 : std::numeric_limits<double>::infinity())
                : exponent == 0 ? std::ldexp(fraction, -24)
                                : std::ldexp(fraction + 1024, exponent - 25);
  return bits & 0x8000 ? -size : size;
}

std::uint16_t bfloat_bits(double value) {
  auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (std::isnan(value)) return static_cast<std::uint16_t>((bits >> 16 & 0x8000u) | 0x7fc0u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

double bfloat_value(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

Fit fit_of(double value, double stored) {
  if (value == stored || (std::isnan(value) && std::isnan(stored))) return Fit::exact;
  return std::isinf(stored) ? Fit::out_of_range : Fit::rounded;
}

Fit write_real(double value, DType dtype, unsigned char* out) {
  if (dtype == DType::float64) {
    put(value, out);
    return Fit::exact;
  }
  if (dtype == DType::float32) {
    auto stored = static_cast<float>(value);
    put(stored, out);
    return fit_of(value, stored);
  }
  if (dtype == DType::bfloat16) {
    std::uint16_t stored = bfloat_bits(value);
    put(stored, out);
    return fit_of(value, bfloat_value(stored));
  }
  std::uint16_t stored = half_bits(value);
  put(stored, out);
  return fit_of(value, half_value(stored));
}

// 128 bits hold every 64-bit integer of either sign.
using Wide = __int128;

template <class T>
Fit write_integer_as(Wide value, unsigned char* out) {
  if (value < Wide{std::numeric_limits<T>::min()} || value > Wide{std::numeric_limits<T>::max()})
    return Fit::out_of_range;
  put(static_cast<T>(value), out);
  return Fit::exact;
}

Fit write_integer(Wide value, DType dtype, unsigned char* out) {
  switch (dtype) {
    case DType::bool_:
      return write_integer_as<bool>(value, out);
    case DType::int8:
      return write_integer_as<std::int8_t>(value, out);
    case DType::int16:
      return write_integer_as<std::int16_t>(value, out);
    case DType::int32:
      return write_integer_as<std::int32_t>(value, out);
    case DType::int64:
      return write_integer_as<std::int64_t>(value, out);
    case DType::uint8:
      return write_integer_as<std::uint8_t>(value, out);
    case DType::uint16:
      return write_integer_as<std::uint16_t>(value, out);
    case DType::uint32:
      return write_integer_as<std::uint32_t>(value, out);
    case DType::uint64:
      return write_integer_as<std::uint64_t>(value, out);
    default:
      break;
  }
  auto nearest = static_cast<double>(value);
  Fit fit = write_real(nearest, dtype, out);
  bool kept = std::fabs(nearest) < 0x1p64 && static_cast<Wide>(nearest) == value;
  return fit == Fit::exact && !kept ? Fit::rounded : fit;
}

Fit write_complex(std::complex<double> value, DType dtype, unsigned char* out) {
  DType part = dtype == DType::complex64 ? DType::float32 : DType::float64;
  Fit real = write_real(value.real(), part, out);
  Fit imag = write_real(value.imag(), part, out + itemsize(part));
  return std::max(real, imag);
}

template <class T>
T get(const TypedScalar& typed) {
  T value;
  std::memcpy(&value, typed.bytes, sizeof value);
  return value;
}

std::string real_text(double value) {
  std::ostringstream out;
  out.precision(17);
  out << value;
  std::ostringstream brief;
  brief << value;
  return std::strtod(brief.str().c_str(), nullptr) == value ? brief.str() : out.str();
}

}  // namespace

Fit write_scalar(const Scalar& value, DType dtype, unsigned char* out) {
  char kind = info(dtype).kind;
  if (const auto* complex = std::get_if<std::complex<double>>(&value))
    return kind == 'c' ? write_complex(*complex, dtype, out) : Fit::wrong_kind;
  if (const double* real = std::get_if<double>(&value)) {
    if (kind == 'c') return write_complex(*real, dtype, out);
    return kind == 'f' ? write_real(*real, dtype, out) : Fit::wrong_kind;
  }
  Wide integer = std::visit(
      [](auto v) -> Wide {
        if constexpr (std::is_integral_v<decltype(v)>)
          return v;
        else
          return 0;
      },
      value);
  if (kind != 'c') return write_integer(integer, dtype, out);
  DType part = dtype == DType::complex64 ? DType::float32 : DType::float64;
  std::memset(out, 0, itemsize(dtype));
  return write_integer(integer, part, out);
}

Scalar value_of(const TypedScalar& typed) {
  switch (typed.dtype) {
    case DType::bool_:
      return typed.bytes[0] != 0;
    case DType::int8:
      return std::int64_t{get<std::int8_t>(typed)};
    case DType::int16:
      return std::int64_t{get<std::int16_t>(typed)};
    case DType::int32:
      return std::int64_t{get<std::int32_t>(typed)};
    case DType::int64:
      return get<std::int64_t>(typed);
    case DType::uint8:
      return std::int64_t{get<std::uint8_t>(typed)};
    case DType::uint16:
      return std::int64_t{get<std::uint16_t>(typed)};
    case DType::uint32:
      return std::int64_t{get<std::uint32_t>(typed)};
    case DType::uint64:
      return get<std::uint64_t>(typed);
    case DType::float16:
      return half_value(get<std::uint16_t>(typed));
    case DType::bfloat16:
      return bfloat_value(get<std::uint16_t>(typed));
    case DType::float32:
      return double{get<float>(typed)};
    case DType::float64:
      return get<double>(typed);
    case DType::complex64: {
      auto value = get<std::complex<float>>(typed);
      return std::complex<double>(value.real(), value.imag());
    }
    case DType::complex128:
      return get<std::complex<double>>(typed);
  }
  return false;
}

std::string describe(const Scalar& value) {
  if (const bool* v = std::get_if<bool>(&value)) return *v ? "True (bool)" : "False (bool)";
  if (const auto* v = std::get_if<std::int64_t>(&value)) return base::cat(*v, " (int)");
  if (const auto* v = std::get_if<std::uint64_t>(&value)) return base::cat(*v, " (int)");
  if (const double* v = std::get_if<double>(&value)) return real_text(*v) + " (float)";
  auto v = std::get<std::complex<double>>(value);
  return base::cat(real_text(v.real()), std::signbit(v.imag()) ? "" : "+", real_text(v.imag()),
                   "j (complex)");
}

std::string range_text(DType dtype) {
  const DTypeInfo& row = info(dtype);
  if (row.kind == 'b') return "0 to 1";
  if (row.kind != 'i' && row.kind != 'u') return "";
  unsigned bits = static_cast<unsigned>(row.bytes) * 8;
  if (row.kind == 'u') return base::cat("0 to ", bits == 64 ? ~0ull : (1ull << bits) - 1);
  long long most = static_cast<long long>((1ull << (bits - 1)) - 1);
  return base::cat(-most - 1, " to ", most);
}

}  // namespace td::launch
