#include "softdev/jit/code_space.h"

#include <sys/mman.h>

#include <atomic>
#include <map>
#include <mutex>

#include "base/fork.h"

namespace td::softdev {

namespace {

constexpr std::size_t kSpaceBytes = std::size_t{1} << 30;
constexpr std::size_t kPage = 4096;

std::atomic<std::uintptr_t> space_begin{0};

struct Space {
  std::mutex mutex;
  std::uintptr_t begin = 0;
  std::map<std::uintptr_t, std::size_t> pieces;

  Space() {
    void* memory =
        mmap(nullptr, kSpaceBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED) begin = reinterpret_cast<std::uintptr_t>(memory);
    space_begin = begin;
    base::guard_across_fork(mutex, base::LockRank::code);
  }
};

Space& space() {
  static Space& instance = *new Space;
  return instance;
}

}  // namespace

bool code_space_holds(std::uintptr_t program_counter) {
  std::uintptr_t begin = space_begin.load(std::memory_order_relaxed);
  return begin && program_counter - begin < kSpaceBytes;
}

unsigned char* code_space_allocate(std::size_t bytes) {
  bytes = (bytes + kPage - 1) / kPage * kPage;
  Space& s = space();
  std::lock_guard lock(s.mutex);
  if (!s.begin || bytes == 0 || bytes > kSpaceBytes) return nullptr;
  std::uintptr_t at = s.begin;
  for (auto& [begin, size] : s.pieces) {
    // A page without rights stays between two pieces.
    if (at + bytes + kPage <= begin) break;
    at = begin + size + kPage;
  }
  if (at + bytes > s.begin + kSpaceBytes) return nullptr;
  void* memory = mmap(reinterpret_cast<void*>(at), bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  s.pieces[at] = bytes;
  return static_cast<unsigned char*>(memory);
}

bool code_space_protect(unsigned char* at, std::size_t bytes, Protection protection) {
  int flags = protection == Protection::read           ? PROT_READ
              : protection == Protection::read_execute ? PROT_READ | PROT_EXEC
                                                       : PROT_READ | PROT_WRITE;
  return bytes == 0 || mprotect(at, bytes, flags) == 0;
}

void code_space_free(unsigned char* piece) {
  Space& s = space();
  std::lock_guard lock(s.mutex);
  auto found = s.pieces.find(reinterpret_cast<std::uintptr_t>(piece));
  if (found == s.pieces.end()) return;
  mmap(piece, found->second, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
       0);
  s.pieces.erase(found);
}

}  // namespace td::softdev
