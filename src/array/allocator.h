// The allocator that new storages remember: arrays are allocated late, but where their creation
// said.
#pragma once

#include <memory>

#include "treadle/memory.h"

namespace td::array {

// Null: the device's own pool.
std::shared_ptr<const Allocator> current_allocator();

struct ForeignMemory {
  std::uint64_t address;
  std::shared_ptr<void> owner;
};
ForeignMemory allocate_with(const Allocator& allocator, std::size_t bytes);

}  // namespace td::array
