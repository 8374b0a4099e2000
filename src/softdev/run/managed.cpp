#include "softdev/run/managed.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "softdev/run/device.h"
#include "softdev/run/memory.h"

namespace td::softdev {

namespace {

using namespace td::cuda;

constexpr std::uintptr_t kPage = 4096;
constexpr CUmemLocation kNowhere{LOCATION_NONE, 0};

struct Advice {
  bool read_mostly = false;
  CUmemLocation preferred = kNowhere, prefetched = kNowhere;
  std::vector<CUdevice> accessed_by;
};

// Advice of an allocation, in pieces: each entry holds from its address to the next entry's.
struct Pieces {
  std::uint64_t id = 0;  // of the allocation: a new one at the same address starts anew
  std::map<std::uintptr_t, Advice> at;
};
struct Book {
  std::mutex mutex;
  std::map<std::uintptr_t, Pieces> allocations;
};
Book& book() { return base::guarded_instance<Book>(); }

bool same(CUmemLocation a, CUmemLocation b) { return a.type == b.type && a.id == b.id; }

bool valid(CUmemLocation location) {
  switch (location.type) {
    case LOCATION_DEVICE:
      return location.id >= 0 && location.id < device_count();
    case LOCATION_HOST:
    case LOCATION_HOST_NUMA_CURRENT:
      return true;
    case LOCATION_HOST_NUMA:
      return location.id >= 0;
    default:
      return false;
  }
}

CUdevice as_device(CUmemLocation location) {
  return location.type == LOCATION_DEVICE ? location.id
         : location.type == LOCATION_NONE ? DEVICE_INVALID
                                          : DEVICE_CPU;
}

// Whole pages of managed memory.
bool managed_range(std::uintptr_t address, std::size_t bytes, Allocation* out) {
  return bytes > 0 && Arena::get().find(address, out) && out->kind == MemoryKind::managed &&
         bytes <= out->end() - address;
}

std::map<std::uintptr_t, Advice>& pieces_of(const Allocation& allocation) {
  Pieces& pieces = book().allocations[allocation.base];
  if (pieces.id != allocation.id) {
    pieces.id = allocation.id;
    pieces.at = {{0, Advice{}}};
  }
  return pieces.at;
}

void split(std::map<std::uintptr_t, Advice>& pieces, std::uintptr_t address) {
  Advice before = std::prev(pieces.upper_bound(address))->second;
  pieces.emplace(address, std::move(before));
}

template <class Change>
void change_range(const Allocation& allocation, std::uintptr_t address, std::size_t bytes,
                  const Change& change) {
  std::lock_guard lock(book().mutex);
  auto& pieces = pieces_of(allocation);
  std::uintptr_t first = address / kPage * kPage,
                 end = (address + bytes + kPage - 1) / kPage * kPage;
  split(pieces, first);
  split(pieces, end);
  for (auto it = pieces.find(first); it->first != end; ++it) change(it->second);
}

// The pieces that the range touches.
std::vector<Advice> pieces_in(const Allocation& allocation, std::uintptr_t address,
                              std::size_t bytes) {
  std::lock_guard lock(book().mutex);
  auto& pieces = pieces_of(allocation);
  std::vector<Advice> found;
  for (auto it = std::prev(pieces.upper_bound(address));
       it != pieces.end() && it->first < address + bytes; ++it)
    found.push_back(it->second);
  return found;
}

// The location that all pieces share, else none.
CUmemLocation common(const std::vector<Advice>& pieces, CUmemLocation Advice::* which) {
  CUmemLocation first = pieces.front().*which;
  for (const Advice& piece : pieces)
    if (!same(piece.*which, first)) return kNowhere;
  return first;
}

CUresult give(void* value, std::size_t bytes, int answer) {
  if (bytes != sizeof answer) return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(value, &answer, sizeof answer);
  return CUDA_SUCCESS;
}

CUresult give_accessors(const std::vector<Advice>& pieces, void* value, std::size_t bytes) {
  if (bytes == 0 || bytes % sizeof(int) != 0) return CUDA_ERROR_INVALID_VALUE;
  std::vector<int> devices = pieces.front().accessed_by;
  std::erase_if(devices, [&](int device) {
    return !std::all_of(pieces.begin(), pieces.end(), [&](const Advice& piece) {
      return std::count(piece.accessed_by.begin(), piece.accessed_by.end(), device) > 0;
    });
  });
  devices.resize(bytes / sizeof(int), DEVICE_INVALID);
  std::memcpy(value, devices.data(), bytes);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult advise(std::uintptr_t address, std::size_t bytes, int advice, CUmemLocation location) {
  Allocation allocation;
  if (!managed_range(address, bytes, &allocation)) return CUDA_ERROR_INVALID_VALUE;
  if (advice < ADVISE_SET_READ_MOSTLY || advice > ADVISE_UNSET_ACCESSED_BY)
    return CUDA_ERROR_INVALID_VALUE;
  bool placed = advice == ADVISE_SET_PREFERRED_LOCATION || advice >= ADVISE_SET_ACCESSED_BY;
  if (placed && !valid(location)) return CUDA_ERROR_INVALID_VALUE;
  change_range(allocation, address, bytes, [&](Advice& piece) {
    auto& accessors = piece.accessed_by;
    switch (advice) {
      case ADVISE_SET_READ_MOSTLY:
      case ADVISE_UNSET_READ_MOSTLY:
        piece.read_mostly = advice == ADVISE_SET_READ_MOSTLY;
        break;
      case ADVISE_SET_PREFERRED_LOCATION:
      case ADVISE_UNSET_PREFERRED_LOCATION:
        piece.preferred = advice == ADVISE_SET_PREFERRED_LOCATION ? location : kNowhere;
        break;
      default:
        std::erase(accessors, as_device(location));
        if (advice == ADVISE_SET_ACCESSED_BY) accessors.push_back(as_device(location));
    }
  });
  return CUDA_SUCCESS;
}

CUresult note_prefetch(std::uintptr_t address, std::size_t bytes, CUmemLocation location) {
  Allocation allocation;
  if (!managed_range(address, bytes, &allocation) || !valid(location))
    return CUDA_ERROR_INVALID_VALUE;
  change_range(allocation, address, bytes, [&](Advice& piece) { piece.prefetched = location; });
  return CUDA_SUCCESS;
}

CUresult range_attribute(std::uintptr_t address, std::size_t bytes, int attribute, void* value,
                         std::size_t value_bytes) {
  Allocation allocation;
  if (!value || !managed_range(address, bytes, &allocation)) return CUDA_ERROR_INVALID_VALUE;
  std::vector<Advice> pieces = pieces_in(allocation, address, bytes);
  switch (attribute) {
    case RANGE_READ_MOSTLY:
      return give(value, value_bytes,
                  std::all_of(pieces.begin(), pieces.end(),
                              [](const Advice& piece) { return piece.read_mostly; }));
    case RANGE_PREFERRED_LOCATION:
      return give(value, value_bytes, as_device(common(pieces, &Advice::preferred)));
    case RANGE_ACCESSED_BY:
      return give_accessors(pieces, value, value_bytes);
    case RANGE_LAST_PREFETCH_LOCATION:
      return give(value, value_bytes, as_device(common(pieces, &Advice::prefetched)));
    case RANGE_PREFERRED_LOCATION_TYPE:
      return give(value, value_bytes, common(pieces, &Advice::preferred).type);
    case RANGE_PREFERRED_LOCATION_ID:
      return give(value, value_bytes, common(pieces, &Advice::preferred).id);
    case RANGE_LAST_PREFETCH_LOCATION_TYPE:
      return give(value, value_bytes, common(pieces, &Advice::prefetched).type);
    case RANGE_LAST_PREFETCH_LOCATION_ID:
      return give(value, value_bytes, common(pieces, &Advice::prefetched).id);
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace td::softdev
