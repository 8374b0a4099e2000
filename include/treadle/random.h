// Random numbers of any distribution: element i of a draw is a function of the generator's seed,
// the number of the draw and i alone, so it repeats on every device (floating-point values to
// within the rounding of the device's functions).
#pragma once

#include <span>
#include <string_view>

#include "treadle/array.h"

namespace [[gnu::visibility("default")]] td {
namespace random {

enum class Distribution : std::uint8_t {
#define TD_DISTRIBUTION(name, type, parameters, body) name,
#include "distributions.def"
};

struct DistributionInfo {
  Distribution distribution;
  std::string_view name;
  std::string_view type;  // of the parameters, as CUDA C++ spells it
  int parameters;
  std::string_view body;
};

inline constexpr DistributionInfo kDistributions[] = {
#define TD_DISTRIBUTION(name, type, parameters, body) \
  {Distribution::name, #name, #type, parameters, body},
#include "distributions.def"
};
constexpr const DistributionInfo& info(Distribution d) {
  return kDistributions[static_cast<std::size_t>(d)];
}
inline constexpr std::span<const DistributionInfo> distributions() { return kDistributions; }

// One draw. Parameters are numbers, or arrays that broadcast to `shape`; their values are not
// checked. ValueError for a wrong count or shape.
Array draw(Distribution distribution, std::span<const Operand> parameters, const Shape& shape,
           DType dtype, std::uint64_t seed, std::uint64_t number);

}  // namespace random
}  // namespace td
