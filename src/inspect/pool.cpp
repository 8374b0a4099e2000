#include "treadle/pool.h"

#include "driver/state.h"

namespace td {

Pool Pool::of(const Device& device) { return Pool(device); }

PoolInfo Pool::info() const {
  driver::PoolStatistics s = device_.state()->pool().statistics();
  return {s.used, s.cached, s.limit};
}

void Pool::free_all_blocks() const {
  device_.state()->make_current();
  device_.state()->pool().free_all_blocks();
}

void Pool::set_limit(std::size_t bytes) const { device_.state()->pool().set_limit(bytes); }

}  // namespace td
