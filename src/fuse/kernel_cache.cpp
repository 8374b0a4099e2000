#include "fuse/kernel_cache.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <unordered_map>

#include "base/text.h"
#include "treadle/sorting.h"

namespace td::fuse {
namespace {

// An entry is never changed or destroyed while other threads may hold a pointer to it: one whose
// context was reset is put aside for good.
struct Cache {
  std::mutex mutex;
  std::unordered_map<std::string, std::unique_ptr<LoadedKernel>> kernels;
  std::vector<std::unique_ptr<LoadedKernel>> dead;
};

Cache& cache_of(driver::DeviceState& device) {
  thread_local driver::DeviceState* last = nullptr;
  thread_local Cache* cache = nullptr;
  if (last == &device) return *cache;
  // Never destroyed: arrays may be launched until the process ends.
  static auto* mutex = new std::mutex;
  static auto* caches = new std::unordered_map<driver::DeviceState*, Cache>;
  std::lock_guard lock(*mutex);
  last = &device;
  cache = &(*caches)[&device];
  return *cache;
}

constexpr int kMultiprocessorCount = 16, kMaxThreadsPerMultiprocessor = 39;  // CUdevice_attribute
constexpr int kComputeCapabilityMajor = 75, kComputeCapabilityMinor = 76;
constexpr int kMaxDynamicSharedSize = 8;  // CUfunction_attribute
constexpr unsigned kSharedWithoutAsking = 48 << 10;

std::atomic<int> launches{0};

// Set while kernels are only listed.
const KernelList* lister = nullptr;

double real_value(const Scalar& value) {
  return std::visit(
      [](const auto& v) -> double {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::complex<double>>)
          return v.real();
        else
          return static_cast<double>(v);
      },
      value);
}

// Integers keep all 64 bits; a float is truncated, and saturates like the device's casts.
std::uint64_t integer_bits(const Scalar& value) {
  if (const auto* b = std::get_if<bool>(&value)) return *b;
  if (const auto* i = std::get_if<std::int64_t>(&value)) return static_cast<std::uint64_t>(*i);
  if (const auto* u = std::get_if<std::uint64_t>(&value)) return *u;
  double x = real_value(value);
  if (!(x == x)) return 0;
  if (x >= 18446744073709551616.0) return ~std::uint64_t{0};
  if (x >= 9223372036854775808.0) return static_cast<std::uint64_t>(x);
  if (x <= -9223372036854775808.0) return std::uint64_t{1} << 63;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(x));
}

// IEEE binary16 with round to nearest even.
std::uint16_t half_bits(double x) {
  std::uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  auto sign = static_cast<std::uint16_t>(bits >> 48 & 0x8000u);
  std::uint64_t magnitude = bits & 0x7fffffffffffffffull;
  if (magnitude > 0x7ff0000000000000ull) return static_cast<std::uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x40effe0000000000ull)
    return static_cast<std::uint16_t>(sign | 0x7c00u);  // 65520 and more
  int exponent = static_cast<int>(magnitude >> 52) - 1023;
  if (exponent < -25) return sign;
  // The value in units of the result's last place, exactly: a 53-bit number shifted right.
  std::uint64_t significand = (magnitude & 0xfffffffffffffull) | 0x10000000000000ull;
  int shift = exponent < -14 ? 42 + (-14 - exponent) : 42;
  std::uint64_t rounded = significand >> shift,
                rest = significand & ((std::uint64_t{1} << shift) - 1);
  std::uint64_t half_unit = std::uint64_t{1} << (shift - 1);
  rounded += rest > half_unit || (rest == half_unit && (rounded & 1));
  // A normal number's leading bit adds 1 to the exponent field; a carry does the right thing by
  // itself.
  std::uint64_t field = exponent < -14 ? 0 : static_cast<std::uint64_t>(exponent + 14) << 10;
  return static_cast<std::uint16_t>(sign | (field + rounded));
}

// The upper half of a float, rounded to nearest even.
std::uint16_t bfloat_bits(float value) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  if (value != value) return static_cast<std::uint16_t>((bits >> 16 & 0x8000u) | 0x7fc0u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

}  // namespace

void Arguments::scalar(const Scalar& value, DType dtype) {
  switch (dtype) {
    case DType::float16:
      return add(half_bits(real_value(value)));
    case DType::bfloat16:
      return add(bfloat_bits(static_cast<float>(real_value(value))));
    case DType::float32:
      return add(static_cast<float>(real_value(value)));
    case DType::float64:
      return add(real_value(value));
    case DType::bool_:
      return add(static_cast<std::uint8_t>(
          std::visit([](const auto& v) { return v != std::decay_t<decltype(v)>(0); }, value)));
    case DType::complex64:
    case DType::complex128: {
      const auto* c = std::get_if<std::complex<double>>(&value);
      std::complex<double> z = c ? *c : std::complex<double>(real_value(value));
      if (dtype == DType::complex64) {
        add(static_cast<float>(z.real()));
        add(static_cast<float>(z.imag()));
      } else {
        add(z.real());
        add(z.imag());
      }
      return;
    }
    default:
      add(integer_bits(value));  // little endian: the low bytes are the narrower number
  }
}

const LoadedKernel* find_kernel(driver::DeviceState& device, const std::string& key) {
  Cache& cache = cache_of(device);
  std::lock_guard lock(cache.mutex);
  auto it = cache.kernels.find(key);
  return it != cache.kernels.end() && it->second->module->alive() ? it->second.get() : nullptr;
}

compile::Source generated_source(std::string text) {
  static const bool print = std::getenv("TREADLE_PRINT_KERNELS") != nullptr;
  if (print) std::fprintf(stderr, "%s\n", text.c_str());
  compile::Source source;
  source.text = std::move(text);
  source.options.file_name = "treadle_generated.cu";
  source.options.options = {"--fmad=false"};
  return source;
}

compile::Target image_target(driver::DeviceState& device) {
  return {device.provider().image_format, 10 * device.attribute(kComputeCapabilityMajor) +
                                              device.attribute(kComputeCapabilityMinor)};
}

const LoadedKernel& remember_kernel(driver::DeviceState& device, const std::string& key,
                                    std::shared_ptr<driver::LoadedModule> module,
                                    const char* name) {
  auto loaded = std::make_unique<LoadedKernel>();
  loaded->function = module->function(name);
  loaded->module = std::move(module);
  loaded->name = name;
  Cache& cache = cache_of(device);
  std::lock_guard lock(cache.mutex);
  std::unique_ptr<LoadedKernel>& slot = cache.kernels[key];
  if (slot && slot->module->alive()) return *slot;  // another thread was faster
  if (slot) cache.dead.push_back(std::move(slot));
  slot = std::move(loaded);
  return *slot;
}

const LoadedKernel& load_kernel(driver::DeviceState& device, const std::string& key,
                                const std::string& text, const char* name) {
  const compile::Source source = generated_source(text);
  const compile::Target target = image_target(device);
  if (lister) {
    static const LoadedKernel& nothing = *new LoadedKernel{};
    (*lister)(source, target, name);
    return nothing;
  }
  const compile::Image image = compile::compile(source, target);
  return remember_kernel(
      device, key, std::make_shared<driver::LoadedModule>(device.shared_from_this(), image.bytes),
      name);
}

void launch(driver::DeviceState& device, CUstream stream, const LoadedKernel& kernel,
            std::int64_t blocks, Arguments& arguments, unsigned threads, unsigned shared) {
  if (lister) return;
  launches.fetch_add(1, std::memory_order_relaxed);
  auto grid = static_cast<unsigned>(std::clamp<std::int64_t>(blocks, 1, 0x3fffff));
  device.launches().note(kernel.name, "");
  if (shared > kSharedWithoutAsking)
    TD_CALL(device, cuFuncSetAttribute, kernel.function, kMaxDynamicSharedSize,
            static_cast<int>(shared));
  TD_CALL(device, cuLaunchKernel, kernel.function, grid, 1, 1, threads, 1, 1, shared, stream,
          arguments.data(), nullptr);
}

void list_kernels(const KernelList* list) { lister = list; }

bool is_listing() { return lister != nullptr; }

int launch_count() { return launches.load(std::memory_order_relaxed); }

std::int64_t resident_blocks(driver::DeviceState& device) {
  return std::int64_t{device.attribute(kMultiprocessorCount)} *
         device.attribute(kMaxThreadsPerMultiprocessor) / kBlock;
}

static std::atomic<int> forced_way{-1};

bool holds_few_threads(driver::DeviceState& device) {
  constexpr std::int64_t few_blocks = 64;
  int forced = forced_way.load(std::memory_order_relaxed);
  return forced < 0 ? resident_blocks(device) <= few_blocks : forced == 1;
}

}  // namespace td::fuse

void td::work_as_if(std::optional<bool> few_threads) {
  td::fuse::forced_way.store(few_threads ? int{*few_threads} : -1, std::memory_order_relaxed);
}
