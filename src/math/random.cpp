// Draws from the rows of tables/distributions.def: one kernel for each distribution, dtype and kind
// of parameters (numbers or arrays).
#include "treadle/random.h"

#include <algorithm>
#include <cstring>

#include "array/operations.h"
#include "base/text.h"
#include "fuse/kernel_cache.h"
#include "fuse/kernels_text.h"
#include "fuse/program.h"
#include "treadle/error.h"

namespace td::random {
namespace {

using array::view_of;
using base::cat;

std::string kernel_text(const DistributionInfo& row, DType dtype, std::span<const Operand> given) {
  std::string type(fuse::cuda_name(dtype)), parameters, values;
  for (std::size_t k = 0; k < given.size(); ++k) {
    std::string letter(1, static_cast<char>('a' + k)), name(row.type);
    bool scalar = std::holds_alternative<Scalar>(given[k]);
    parameters += ", " + (scalar ? name + " " : "const " + name + "* ") + letter + "_";
    values += "    const " + name + " " + letter + " = " + letter + (scalar ? "_;\n" : "_[i];\n");
  }
  char kind = td::info(dtype).kind;
  std::string value = "(" + std::string(row.body) + ")";
  std::string result =
      kind == 'f' ? "td_cast<" + type + ">(" + value + ")" : "(" + type + ")" + value;
  return fuse::device_headers(is_half(dtype), false, false, true) + fuse::kText_distributions +
         "\nextern \"C\" __global__ void __launch_bounds__(256) td_draw(" + type +
         "* out, long long count, unsigned long long seed, unsigned long long stream" + parameters +
         ") {\n  const long long step = (long long)gridDim.x * 256;\n"
         "  for (long long i = (long long)blockIdx.x * 256 + threadIdx.x; i < count; i += step) "
         "{\n" +
         values + "    td_numbers g(seed, stream, (unsigned long long)i);\n    out[i] = " + result +
         ";\n  }\n}\n";
}

bool takes_doubles(const DistributionInfo& row) { return row.type == "double"; }

// The bits of a number as the kernel's parameter has it.
std::uint64_t bits_of(const Scalar& value, bool as_double) {
  return std::visit(
      [&](auto x) -> std::uint64_t {
        using T = decltype(x);
        if constexpr (std::is_same_v<T, std::complex<double>>) {
          throw TypeError("random: a parameter must be real");
        } else {
          if (!as_double) return static_cast<std::uint64_t>(x);
          auto number = static_cast<double>(x);
          std::uint64_t bits;
          std::memcpy(&bits, &number, sizeof bits);
          return bits;
        }
      },
      value);
}

}  // namespace

Array draw(Distribution distribution, std::span<const Operand> parameters, const Shape& shape,
           DType dtype, std::uint64_t seed, std::uint64_t number) {
  const DistributionInfo& row = info(distribution);
  if (static_cast<int>(parameters.size()) != row.parameters)
    throw ValueError(
        cat("random: ", row.name, " has ", row.parameters, " parameters, not ", parameters.size()));
  char kind = td::info(dtype).kind;
  if (kind == 'c')
    throw TypeError(cat("random: ", row.name, " of a complex dtype is not supported"));
  Array out = empty(shape, dtype);
  if (out.size() == 0) return out;
  driver::DeviceState& device = *view_of(out).storage->device();
  std::string key = cat("draw", static_cast<int>(distribution), ' ', static_cast<int>(dtype), ' ');
  std::vector<Array> kept;
  for (const Operand& operand : parameters) {
    const Array* array = std::get_if<Array>(&operand);
    key += array ? 'a' : 's';
    if (!array) continue;
    DType wanted = takes_doubles(row) ? DType::float64 : DType::uint64;
    kept.push_back(array::packed(array->astype(wanted, false).broadcast_to(shape)));
  }
  fuse::Arguments arguments;
  arguments.add(static_cast<CUdeviceptr>(out.data()));
  arguments.add(out.size());
  arguments.add(seed);
  // Numbers of this draw start where those of no other can be, and apart from the blocks of
  // Generator, whose stream is 0.
  arguments.add((number + 1) << 24);
  std::size_t next = 0;
  for (const Operand& operand : parameters) {
    if (const auto* scalar = std::get_if<Scalar>(&operand))
      arguments.add(bits_of(*scalar, takes_doubles(row)));
    else
      arguments.add(static_cast<CUdeviceptr>(kept[next++].data()));
  }
  device.make_current();
  const auto& loaded =
      fuse::kernel(device, key, [&] { return kernel_text(row, dtype, parameters); }, "td_draw");
  std::int64_t blocks =
      std::min((out.size() + fuse::kBlock - 1) / fuse::kBlock, 8 * fuse::resident_blocks(device));
  fuse::launch(device, driver::current_stream(view_of(out).storage->device())->handle(), loaded,
               blocks, arguments);
  return out;
}

}  // namespace td::random
