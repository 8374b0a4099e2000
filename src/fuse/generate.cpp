// Kernels that make arrays from nothing: sequences and random numbers.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "fuse/kernel_cache.h"
#include "fuse/kernels_text.h"
#include "fuse/program.h"

namespace td {
namespace {

using base::cat;

std::string headers_for(DType dtype, bool philox) {
  return fuse::device_headers(is_half(dtype), info(dtype).kind == 'c', false, philox);
}

struct Target {
  driver::DeviceState& device;
  CUstream stream;
  CUdeviceptr address;
};

Target target_of(const Array& out) {
  const array::View& view = array::view_of(out);
  driver::DeviceState& device = *view.storage->device();
  device.make_current();
  return {device, driver::current_stream(view.storage->device())->handle(),
          view.storage->address() + static_cast<CUdeviceptr>(view.offset)};
}

// Blocks for `items` independent items, one a thread.
std::int64_t blocks_for(driver::DeviceState& device, std::int64_t items) {
  return std::min((items + fuse::kBlock - 1) / fuse::kBlock, 8 * fuse::resident_blocks(device));
}

// The grid-stride loop over `count` items.
std::string loop(const std::string& body) {
  return "  const long long step = (long long)gridDim.x * 256;\n"
         "  for (long long i = (long long)blockIdx.x * 256 + threadIdx.x; i < count; i += step) "
         "{\n" +
         body + "  }\n}\n";
}

std::string arange_text(DType dtype) {
  std::string type(fuse::cuda_name(dtype));
  std::string text = headers_for(dtype, false) +
                     "extern \"C\" __global__ void __launch_bounds__(256) td_arange(" + type +
                     "* out, long long count, double start, double step_, "
                     "unsigned long long whole_start, unsigned long long whole_step) {\n";
  char kind = info(dtype).kind;
  if (kind == 'i' || kind == 'u' || kind == 'b')
    return text +
           loop("    out[i] = td_cast<" + type + ">((long long)(whole_start + i * whole_step));\n");
  // As NumPy: the first two elements are rounded to the dtype, and their difference is the step.
  std::string part = dtype == DType::float64 || dtype == DType::complex128 ? "double" : "float";
  std::string rounded = is_half(dtype) ? "(float)td_cast<" + type + ">" : "(" + part + ")";
  return text + "  const " + part + " a = " + rounded + "(start), d = " + rounded +
         "(start + step_) - a;\n" +
         loop("    out[i] = td_cast<" + type + ">(a + (" + part + ")i * d);\n");
}

std::string linspace_text(DType dtype) {
  std::string type(fuse::cuda_name(dtype));
  char kind = info(dtype).kind;
  std::string value = kind == 'i' || kind == 'u' ? "floor(x)" : "x";
  return headers_for(dtype, false) +
         "extern \"C\" __global__ void __launch_bounds__(256) td_linspace(" + type +
         "* out, long long count, double start, double step_, double last) {\n" +
         loop(
             "    double x = (double)i * step_ + start;\n    if (i == count - 1 && last == last) x "
             "= last;\n"
             "    out[i] = td_cast<" +
             type + ">(" + value + ");\n");
}

// ---- random numbers ----

enum class Draw { uniform, normal, integers, wide_integers };

// Numbers of a block of the generator. Only 64-bit numbers take two words each.
int per_block(Draw draw, DType dtype) {
  if (draw == Draw::integers) return 4;
  return draw == Draw::wide_integers || dtype == DType::float64 ? 2 : 4;
}

constexpr int kRounds = 10;  // of Philox: see philox.cuh

// The parameters of the rounds' keys, each behind `before`.
std::string round_keys(const char* before) {
  std::string text;
  for (int round = 0; round < kRounds; ++round) text += cat(before, "key", round);
  return text;
}

std::string random_text(Draw draw, DType dtype) {
  std::string type(fuse::cuda_name(dtype));
  int count = per_block(draw, dtype);
  std::string body = "    const td_words r = td_philox(block, 0, TD_KEYED(seed, keys));\n";
  auto each = [&](const std::string& function, const std::string& more) {
    for (int k = 0; k < count; ++k)
      body += cat("    v[", k, "] = ", function, "(",
                  count == 4 ? cat("r.w[", k, "]") : cat("td_word64(r, ", k, ")"), more, ");\n");
  };
  std::string cast = "td_cast<" + type + ">(", from_low = "(" + type + ")(low + td_below";
  switch (draw) {
    case Draw::uniform:
      each(cast + "td_unit", ")");
      break;
    case Draw::integers:
      body +=
          "    unsigned below[4];\n    td_below(r, (unsigned)range, uneven, block, seed, below);\n";
      for (int k = 0; k < count; ++k)
        body += cat("    v[", k, "] = (", type, ")(low + below[", k, "]);\n");
      break;
    case Draw::wide_integers:
      each(from_low, ", range)");
      break;
    case Draw::normal:
      body += count == 4 ? "    float a[4];\n    td_normal_pair(r.w[0], r.w[1], a[0], a[1]);\n"
                           "    td_normal_pair(r.w[2], r.w[3], a[2], a[3]);\n"
                         : "    double a[2];\n    td_normal_pair(td_unit(td_word64(r, 0)), "
                           "td_unit(td_word64(r, 1)), a[0], a[1]);\n";
      for (int k = 0; k < count; ++k) body += cat("    v[", k, "] = ", cast, "a[", k, "]);\n");
  }
  return headers_for(dtype, true) + fuse::kText_fill +
         "extern \"C\" __global__ void __launch_bounds__(256) td_random(" + type +
         "* out, long long size, unsigned long long seed, unsigned long long offset, unsigned long "
         "long low, unsigned long long range, unsigned uneven" +
         round_keys(", unsigned long long ") + ") {\n  const td_keys keys{{" +
         round_keys(", ").substr(2) + "}};\n  td_fill_random<" + type + ", " +
         std::to_string(count) + ">(out, size, offset, [=](unsigned long long block, " + type +
         "* v) {\n" + body + "  });\n}\n";
}

// Fills `out`; returns how many blocks of the generator were used.
std::uint64_t draw_into(const Array& out, Draw draw, std::uint64_t seed, std::uint64_t offset,
                        std::uint64_t low, std::uint64_t range) {
  DType dtype = out.dtype();
  int count = per_block(draw, dtype);
  std::int64_t blocks = (out.size() + count - 1) / count;
  if (blocks == 0) return 0;
  Target target = target_of(out);
  std::string key = cat("random", static_cast<int>(draw), ' ', static_cast<int>(dtype));
  const auto& loaded =
      fuse::kernel(target.device, key, [&] { return random_text(draw, dtype); }, "td_random");
  fuse::Arguments arguments;
  arguments.add(target.address);
  arguments.add(out.size());
  arguments.add(seed);
  arguments.add(offset);
  arguments.add(low);
  arguments.add(range);
  bool divides = draw == Draw::integers;
  arguments.add(static_cast<std::uint32_t>(divides ? (std::uint64_t{1} << 32) % range : 0));
  auto low_key = static_cast<std::uint32_t>(seed),
       high_key = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < kRounds; ++round) {
    arguments.add(low_key | std::uint64_t{high_key} << 32);
    low_key += 0x9E3779B9u;
    high_key += 0xBB67AE85u;
  }
  fuse::launch(target.device, target.stream, loaded, blocks_for(target.device, blocks), arguments);
  return static_cast<std::uint64_t>(blocks);
}

void check_floating(const char* what, DType dtype) {
  if (info(dtype).kind != 'f')
    throw TypeError(cat("Generator.", what, ": dtype ", info(dtype).numpy,
                        " is not supported; use float16, bfloat16, float32 or float64"));
}

}  // namespace

void fuse::launch_arange(const Array& out, double start, double step, std::int64_t whole_start,
                         std::int64_t whole_step) {
  Target target = target_of(out);
  DType dtype = out.dtype();
  const auto& loaded = kernel(
      target.device, cat("arange", static_cast<int>(dtype)), [&] { return arange_text(dtype); },
      "td_arange");
  Arguments arguments;
  arguments.add(target.address);
  arguments.add(out.size());
  arguments.add(start);
  arguments.add(step);
  arguments.add(whole_start);
  arguments.add(whole_step);
  launch(target.device, target.stream, loaded, blocks_for(target.device, out.size()), arguments);
}

void fuse::launch_linspace(const Array& out, double start, double step, double last) {
  Target target = target_of(out);
  DType dtype = out.dtype();
  const auto& loaded = kernel(
      target.device, cat("linspace", static_cast<int>(dtype)), [&] { return linspace_text(dtype); },
      "td_linspace");
  Arguments arguments;
  arguments.add(target.address);
  arguments.add(out.size());
  arguments.add(start);
  arguments.add(step);
  arguments.add(last);
  launch(target.device, target.stream, loaded, blocks_for(target.device, out.size()), arguments);
}

Generator::Generator(std::uint64_t seed) : seed_(seed) {}

Array Generator::random(const Shape& shape, DType dtype) {
  check_floating("random", dtype);
  // 16 bits have too few digits for 2^-24: drawn as float32 and cut towards zero would bias;
  // rounding may give 1.
  if (is_half(dtype))
    throw TypeError(
        cat("Generator.random: ", info(dtype).numpy,
            " is not supported, since rounding could give 1; draw float32 and convert"));
  Array out = empty(shape, dtype);
  offset_ += draw_into(out, Draw::uniform, seed_, offset_, 0, 0);
  return out;
}

Array Generator::standard_normal(const Shape& shape, DType dtype) {
  check_floating("standard_normal", dtype);
  Array out = empty(shape, dtype);
  offset_ += draw_into(out, Draw::normal, seed_, offset_, 0, 0);
  return out;
}

Array Generator::integers(std::int64_t low, std::int64_t high, const Shape& shape, DType dtype) {
  char kind = info(dtype).kind;
  if (kind != 'i' && kind != 'u' && kind != 'b')
    throw TypeError(
        cat("Generator.integers: dtype ", info(dtype).numpy, " is not an integer type"));
  if (low >= high) throw ValueError("Generator.integers: low >= high");
  bool is_bool = kind == 'b';
  int bits = static_cast<int>(8 * itemsize(dtype));
  std::int64_t least = kind == 'i' ? (bits == 64 ? std::numeric_limits<std::int64_t>::min()
                                                 : -(std::int64_t{1} << (bits - 1)))
                                   : 0;
  std::int64_t most = is_bool      ? 1
                      : bits == 64 ? std::numeric_limits<std::int64_t>::max()
                                   : (std::int64_t{1} << (kind == 'i' ? bits - 1 : bits)) - 1;
  if (low < least)
    throw ValueError(cat("Generator.integers: low is out of bounds for ", info(dtype).numpy));
  if (high - 1 > most)
    throw ValueError(cat("Generator.integers: high is out of bounds for ", info(dtype).numpy));
  Array out = empty(shape, dtype);
  auto range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  bool narrow = range > 0 && range < std::uint64_t{1} << 32;
  offset_ += draw_into(out, narrow ? Draw::integers : Draw::wide_integers, seed_, offset_,
                       static_cast<std::uint64_t>(low), range);
  if (out.size() > 0) array::view_of(out).storage->know_range({dtype, low, high - 1, false});
  return out;
}

}  // namespace td
