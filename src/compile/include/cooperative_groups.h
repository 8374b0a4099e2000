// Cooperative groups: blocks, tiles, coalesced threads, the grid.
#pragma once
#pragma clang system_header
#include "td_mbarrier.h"

namespace cooperative_groups {

template <unsigned size, class Parent = void>
class thread_block_tile;
class coalesced_group;

class thread_group;
__TD_FN thread_group tiled_partition(const thread_group& parent, unsigned tile_size);

// Any group of at most a block, chosen at run time.
class thread_group {
 public:
  typedef unsigned rank_type;

  __TD_MEMBER_FN unsigned num_threads() const {
    return whole_block_ ? blockDim.x * blockDim.y * blockDim.z
                        : (unsigned)__builtin_popcount(mask_);
  }
  __TD_MEMBER_FN unsigned size() const { return num_threads(); }
  __TD_MEMBER_FN unsigned thread_rank() const {
    return whole_block_ ? block_rank() : (unsigned)__builtin_popcount(mask_ & __td_lanes_below());
  }
  __TD_MEMBER_FN bool is_valid() const { return true; }
  __TD_MEMBER_FN void sync() const {
    if (whole_block_)
      __syncthreads();
    else
      __syncwarp(mask_);
  }

 protected:
  __TD_MEMBER_FN thread_group(bool whole_block, unsigned mask, unsigned meta_rank,
                              unsigned meta_size)
      : whole_block_(whole_block), mask_(mask), meta_rank_(meta_rank), meta_size_(meta_size) {}
  __TD_MEMBER_FN static unsigned block_rank() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  }

  bool whole_block_;
  unsigned mask_;
  unsigned meta_rank_, meta_size_;
  __TD_C_FN friend thread_group tiled_partition(const thread_group& parent, unsigned tile_size);
};

class thread_block : public thread_group {
 public:
  struct arrival_token {};
  __TD_MEMBER_FN thread_block() : thread_group(true, ~0u, 0, 1) {}
  __TD_MEMBER_FN static void sync() { __syncthreads(); }
  __TD_MEMBER_FN static unsigned thread_rank() { return block_rank(); }
  __TD_MEMBER_FN static unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
  __TD_MEMBER_FN static unsigned size() { return num_threads(); }
  __TD_MEMBER_FN static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  __TD_MEMBER_FN static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  __TD_MEMBER_FN static dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  __TD_MEMBER_FN static dim3 dim_threads() { return group_dim(); }
  // The wait does all the work: a thread may do other things in between, but nobody waits less.
  __TD_MEMBER_FN arrival_token barrier_arrive() const { return {}; }
  __TD_MEMBER_FN void barrier_wait(arrival_token&&) const { __syncthreads(); }
};
__TD_FN thread_block this_thread_block() { return thread_block(); }

// Every block is a cluster of its own: clusters of more blocks are not launched here.
class cluster_group {
 public:
  struct arrival_token {};
  __TD_MEMBER_FN static void sync() { __syncthreads(); }
  __TD_MEMBER_FN static arrival_token barrier_arrive() { return {}; }
  __TD_MEMBER_FN static void barrier_wait() { __syncthreads(); }
  __TD_MEMBER_FN static void barrier_wait(arrival_token&&) { __syncthreads(); }
  __TD_MEMBER_FN static unsigned thread_rank() { return thread_block::thread_rank(); }
  __TD_MEMBER_FN static unsigned num_threads() { return thread_block::num_threads(); }
  __TD_MEMBER_FN static unsigned size() { return num_threads(); }
  __TD_MEMBER_FN static unsigned block_rank() { return 0; }
  __TD_MEMBER_FN static unsigned num_blocks() { return 1; }
  __TD_MEMBER_FN static dim3 block_index() { return dim3(0, 0, 0); }
  __TD_MEMBER_FN static dim3 dim_blocks() { return dim3(1, 1, 1); }
  __TD_MEMBER_FN static dim3 thread_index() { return thread_block::thread_index(); }
  __TD_MEMBER_FN static dim3 dim_threads() { return thread_block::dim_threads(); }
  template <class T>
  __TD_MEMBER_FN static T* map_shared_rank(T* address, int) {
    return address;
  }
  __TD_MEMBER_FN static unsigned query_shared_rank(const void*) { return 0; }
};
__TD_FN cluster_group this_cluster() { return {}; }

// All threads of a cooperative launch.
class grid_group {
 public:
  struct arrival_token {};
  __TD_MEMBER_FN static bool is_valid() { return true; }
  // Behind it every thread of the grid sees what the others have written before it.
  __TD_MEMBER_FN static void sync() { __td_grid_barrier(); }
  __TD_MEMBER_FN static arrival_token barrier_arrive() { return {}; }
  __TD_MEMBER_FN static void barrier_wait(arrival_token&&) { __td_grid_barrier(); }
  __TD_MEMBER_FN static unsigned long long block_rank() {
    return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  __TD_MEMBER_FN static unsigned long long num_blocks() {
    return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
  }
  __TD_MEMBER_FN static unsigned long long thread_rank() {
    return block_rank() * thread_block::num_threads() + thread_block::thread_rank();
  }
  __TD_MEMBER_FN static unsigned long long num_threads() {
    return num_blocks() * thread_block::num_threads();
  }
  __TD_MEMBER_FN static unsigned long long size() { return num_threads(); }
  __TD_MEMBER_FN static dim3 block_index() { return thread_block::group_index(); }
  __TD_MEMBER_FN static dim3 dim_blocks() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  __TD_MEMBER_FN static dim3 group_dim() { return dim_blocks(); }
};
__TD_FN grid_group this_grid() { return {}; }

// Lanes of one warp; the threads that run together where coalesced_threads() is called.
class coalesced_group : public thread_group {
 public:
  __TD_MEMBER_FN coalesced_group(unsigned mask, unsigned meta_rank, unsigned meta_size)
      : thread_group(false, mask, meta_rank, meta_size) {}
  __TD_MEMBER_FN unsigned num_threads() const { return (unsigned)__builtin_popcount(mask_); }
  __TD_MEMBER_FN unsigned size() const { return num_threads(); }
  __TD_MEMBER_FN unsigned thread_rank() const {
    return (unsigned)__builtin_popcount(mask_ & __td_lanes_below());
  }
  __TD_MEMBER_FN unsigned meta_group_rank() const { return meta_rank_; }
  __TD_MEMBER_FN unsigned meta_group_size() const { return meta_size_; }
  __TD_MEMBER_FN void sync() const { __syncwarp(mask_); }

  template <class T>
  __TD_MEMBER_FN T shfl(T value, int source) const {
    return __td_shfl(mask_, value, (int)lane_of((unsigned)source % num_threads()), 32);
  }
  template <class T>
  __TD_MEMBER_FN T shfl_up(T value, int delta) const {
    const int source = (int)thread_rank() - delta;
    return __td_shfl(mask_, value, (int)(source < 0 ? __td_lane() : lane_of((unsigned)source)), 32);
  }
  template <class T>
  __TD_MEMBER_FN T shfl_down(T value, int delta) const {
    const unsigned source = thread_rank() + (unsigned)delta;
    const bool inside = source < num_threads();
    return __td_shfl(mask_, value, (int)(inside ? lane_of(source) : __td_lane()), 32);
  }
  __TD_MEMBER_FN int any(int predicate) const { return __any_sync(mask_, predicate); }
  __TD_MEMBER_FN int all(int predicate) const { return __all_sync(mask_, predicate); }
  __TD_MEMBER_FN unsigned ballot(int predicate) const {
    return __td_pack_lanes(__ballot_sync(mask_, predicate), mask_);
  }
  template <class T>
  __TD_MEMBER_FN unsigned match_any(T value) const {
    return __td_pack_lanes(__match_any_sync(mask_, value), mask_);
  }
  template <class T>
  __TD_MEMBER_FN unsigned match_all(T value, int& all_equal) const {
    return __td_pack_lanes(__match_all_sync(mask_, value, &all_equal), mask_);
  }
  // Ours: the members as lanes.
  __TD_MEMBER_FN unsigned __td_mask() const { return mask_; }

 private:
  __TD_MEMBER_FN unsigned lane_of(unsigned rank) const {
    return mask_ == ~0u ? rank : __td_nth_lane(mask_, rank);
  }
};
__TD_FN coalesced_group coalesced_threads() { return coalesced_group(__activemask(), 0, 1); }

// A tile within a warp.
template <unsigned tile_size>
class __td_warp_tile : public thread_group {
 public:
  __TD_MEMBER_FN __td_warp_tile(unsigned meta_rank, unsigned meta_size)
      : thread_group(false, lanes(), meta_rank, meta_size) {}
  __TD_MEMBER_FN static constexpr unsigned num_threads() { return tile_size; }
  __TD_MEMBER_FN static constexpr unsigned size() { return tile_size; }
  __TD_MEMBER_FN static unsigned thread_rank() { return __td_lane() & (tile_size - 1); }
  __TD_MEMBER_FN unsigned meta_group_rank() const { return meta_rank_; }
  __TD_MEMBER_FN unsigned meta_group_size() const { return meta_size_; }
  __TD_MEMBER_FN void sync() const { __syncwarp(mask_); }

  template <class T>
  __TD_MEMBER_FN T shfl(T value, int source) const {
    return __td_shfl(mask_, value, source, (int)tile_size);
  }
  template <class T>
  __TD_MEMBER_FN T shfl_up(T value, unsigned delta) const {
    return __td_shfl_up(mask_, value, delta, (int)tile_size);
  }
  template <class T>
  __TD_MEMBER_FN T shfl_down(T value, unsigned delta) const {
    return __td_shfl_down(mask_, value, delta, (int)tile_size);
  }
  template <class T>
  __TD_MEMBER_FN T shfl_xor(T value, unsigned bits) const {
    return __td_shfl_xor(mask_, value, (int)bits, (int)tile_size);
  }
  __TD_MEMBER_FN int any(int predicate) const { return __any_sync(mask_, predicate); }
  // Threads of the tile that do not exist, at the end of a block, do not agree.
  __TD_MEMBER_FN int all(int predicate) const { return __ballot_sync(mask_, predicate) == mask_; }
  __TD_MEMBER_FN unsigned ballot(int predicate) const {
    return to_ranks(__ballot_sync(mask_, predicate));
  }
  template <class T>
  __TD_MEMBER_FN unsigned match_any(T value) const {
    return to_ranks(__match_any_sync(mask_, value));
  }
  template <class T>
  __TD_MEMBER_FN unsigned match_all(T value, int& all_equal) const {
    return to_ranks(__match_all_sync(mask_, value, &all_equal));
  }
  __TD_MEMBER_FN unsigned __td_mask() const { return mask_; }

 private:
  __TD_MEMBER_FN static unsigned first_lane() { return __td_lane() & ~(tile_size - 1) & 31u; }
  __TD_MEMBER_FN static unsigned lanes() { return (~0u >> (32 - tile_size)) << first_lane(); }
  __TD_MEMBER_FN static unsigned to_ranks(unsigned bits) { return bits >> first_lane(); }
};

// A tile of several warps. Its barrier, and what its warps tell one another, is shared memory of
// the block.
struct __td_tiles_memory {
  __td_mbarrier barriers[16];
  alignas(16) unsigned char by_warp[32][32];
};
__TD_FN __td_tiles_memory& __td_tiles() {
  static __shared__ __td_tiles_memory memory;
  return memory;
}
template <unsigned tile_size>
class __td_block_tile : public thread_group {
 public:
  __TD_MEMBER_FN __td_block_tile(unsigned meta_rank, unsigned meta_size)
      : thread_group(true, ~0u, meta_rank, meta_size) {}
  __TD_MEMBER_FN static constexpr unsigned num_threads() { return tile_size; }
  __TD_MEMBER_FN static constexpr unsigned size() { return tile_size; }
  __TD_MEMBER_FN static unsigned thread_rank() { return block_rank() % tile_size; }
  __TD_MEMBER_FN unsigned meta_group_rank() const { return meta_rank_; }
  __TD_MEMBER_FN unsigned meta_group_size() const { return meta_size_; }
  __TD_MEMBER_FN void sync() const {
    __td_mbarrier* barrier = __td_tiles().barriers + block_rank() / tile_size;
    __td_mbarrier_wait(barrier, __td_mbarrier_phase(__td_mbarrier_arrive(barrier, 1)));
  }
  __TD_MEMBER_FN int any(int predicate) const {
    return __td_combine(__any_sync(__activemask(), predicate), [](int a, int b) { return a | b; });
  }
  __TD_MEMBER_FN int all(int predicate) const {
    return __td_combine(__all_sync(__activemask(), predicate), [](int a, int b) { return a & b; });
  }

  // Combines one value of each warp, in ascending order; all threads get the result.
  template <class T, class Op>
  __TD_MEMBER_FN T __td_combine(T of_warp, Op op) const {
    return combine(of_warp, warps(), op);
  }
  // The same over the warps below the thread's own; only where there is one.
  template <class T, class Op>
  __TD_MEMBER_FN T __td_combine_below(T of_warp, Op op) const {
    return combine(of_warp, __td_warp_rank(), op);
  }
  __TD_MEMBER_FN static unsigned __td_warp_rank() { return block_rank() / 32 % (tile_size / 32); }
  // Once for all tiles, by all threads of the block.
  __TD_MEMBER_FN static void __td_set_up() {
    __syncthreads();
    const unsigned threads = thread_block::num_threads(), first = block_rank() * tile_size;
    const unsigned left = first < threads ? threads - first : 0;
    if (left > 0)
      __td_mbarrier_init(__td_tiles().barriers + block_rank(), left < tile_size ? left : tile_size);
    __syncthreads();
  }

 private:
  __TD_MEMBER_FN static unsigned first_warp() {
    return block_rank() / tile_size * (tile_size / 32);
  }
  __TD_MEMBER_FN static unsigned warps() {
    const unsigned left = (thread_block::num_threads() + 31) / 32 - first_warp();
    return left < tile_size / 32 ? left : tile_size / 32;
  }
  template <class T, class Op>
  __TD_MEMBER_FN T combine(T of_warp, unsigned count, Op op) const {
    static_assert(sizeof(T) <= 32, "values of at most 32 bytes can be combined");
    T* slots = (T*)__td_tiles().by_warp;
    constexpr unsigned stride = 32 / sizeof(T);
    if (block_rank() % 32 == 0) slots[block_rank() / 32 * stride] = of_warp;
    sync();
    T result = slots[first_warp() * stride];
    for (unsigned i = 1; i < count; ++i) result = op(result, slots[(first_warp() + i) * stride]);
    sync();
    return result;
  }
};

// A tile of `size` neighbouring threads of its parent; a power of two.
template <bool in_warp, unsigned size>
struct __td_tile_of {
  typedef __td_warp_tile<size> type;
};
template <unsigned size>
struct __td_tile_of<false, size> {
  typedef __td_block_tile<size> type;
};
template <unsigned size>
class thread_block_tile<size, void> : public __td_tile_of<(size <= 32), size>::type {
  static_assert((size & (size - 1)) == 0 && size > 0 && size <= 1024,
                "the size of a tile must be a power of two up to 1024");

 public:
  __TD_MEMBER_FN thread_block_tile(unsigned meta_rank, unsigned meta_size)
      : __td_tile_of<(size <= 32), size>::type(meta_rank, meta_size) {}
};
template <unsigned size, class Parent>
class thread_block_tile : public thread_block_tile<size, void> {
 public:
  using thread_block_tile<size, void>::thread_block_tile;
};

// Memory for tiles of several warps: not needed here.
template <unsigned threads>
struct block_tile_memory {
  char unused;
};
template <unsigned threads>
__TD_FN thread_block this_thread_block(block_tile_memory<threads>&) {
  return thread_block();
}

template <unsigned size, class Parent>
__TD_FN thread_block_tile<size, Parent> tiled_partition(const Parent& parent) {
  if constexpr (size > 32) __td_block_tile<size>::__td_set_up();
  const unsigned tiles = (parent.num_threads() + size - 1) / size;
  return thread_block_tile<size, Parent>(parent.thread_rank() / size, tiles);
}

// Of a tile or a coalesced group: tiles of neighbouring members. tile_size: a power of two up
// to 32.
__TD_FN coalesced_group __td_partition(unsigned mask, unsigned rank, unsigned members,
                                       unsigned tile_size) {
  const unsigned tile = rank / tile_size;
  unsigned lanes = 0;
  for (unsigned i = 0; i < tile_size; ++i) {
    const unsigned member = tile * tile_size + i;
    if (member < members) lanes |= 1u << __td_nth_lane(mask, member);
  }
  return coalesced_group(lanes, tile, (members + tile_size - 1) / tile_size);
}
__TD_FN coalesced_group tiled_partition(const coalesced_group& parent, unsigned tile_size) {
  return __td_partition(parent.__td_mask(), parent.thread_rank(), parent.num_threads(), tile_size);
}
__TD_FN thread_group tiled_partition(const thread_group& parent, unsigned tile_size) {
  if (!parent.whole_block_)
    return __td_partition(parent.mask_, parent.thread_rank(), parent.num_threads(), tile_size);
  const unsigned threads = parent.num_threads(), tile = parent.thread_rank() / tile_size;
  const unsigned left = threads - tile * tile_size, members = left < tile_size ? left : tile_size;
  const unsigned first = __td_lane() & ~(tile_size - 1) & 31u;
  return thread_group(false, (~0u >> (32 - members)) << first, tile,
                      (threads + tile_size - 1) / tile_size);
}

template <class Group>
__TD_FN coalesced_group binary_partition(const Group& group, bool predicate) {
  const unsigned yes = __ballot_sync(group.__td_mask(), predicate);
  const unsigned no = __ballot_sync(group.__td_mask(), !predicate);
  return coalesced_group(predicate ? yes : no, predicate, 2);
}
// Groups are numbered by their lowest lanes.
template <class Group, class Label>
__TD_FN coalesced_group labeled_partition(const Group& group, Label label) {
  static_assert(__is_integral(Label), "a label is an integer");
  unsigned mask;
  if constexpr (sizeof(Label) <= 4)
    mask = __match_any_sync(group.__td_mask(), (unsigned)label);
  else
    mask = __match_any_sync(group.__td_mask(), label);
  const unsigned first = mask & (0u - mask);
  const unsigned leaders = __ballot_sync(group.__td_mask(), first == 1u << __td_lane());
  return coalesced_group(mask, (unsigned)__builtin_popcount(leaders & (first - 1)),
                         (unsigned)__builtin_popcount(leaders));
}

template <class Group>
__TD_FN void sync(const Group& group) {
  group.sync();
}
template <class Group>
__TD_FN auto thread_rank(const Group& group) -> decltype(group.thread_rank()) {
  return group.thread_rank();
}
template <class Group>
__TD_FN auto group_size(const Group& group) -> decltype(group.num_threads()) {
  return group.num_threads();
}

// One thread of the group calls the function; all of them get its result in the second form.
template <class Group, class Function, class... Arguments>
__TD_FN void invoke_one(const Group& group, Function&& function, Arguments&&... arguments) {
  if (group.thread_rank() == 0) function(static_cast<Arguments&&>(arguments)...);
}
template <class Group, class Function, class... Arguments>
__TD_FN auto invoke_one_broadcast(const Group& group, Function&& function, Arguments&&... arguments)
    -> decltype(function(static_cast<Arguments&&>(arguments)...)) {
  typedef decltype(function(static_cast<Arguments&&>(arguments)...)) Result;
  __td_words<Result> words(Result{});
  if (group.thread_rank() == 0)
    words = __td_words<Result>(function(static_cast<Arguments&&>(arguments)...));
  return group.shfl(words.get(), 0);
}

}  // namespace cooperative_groups
