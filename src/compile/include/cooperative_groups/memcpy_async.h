// Copies by all threads of a group. They are done when memcpy_async returns; wait makes them
// visible to the whole group.
#pragma once
#pragma clang system_header
#include "../cooperative_groups.h"
#include "../td_aligned_size.h"

namespace cooperative_groups {

template <class Group, class T>
__TD_FN void memcpy_async(const Group& group, T* to, const T* from, size_t bytes) {
  __td_copy_part(to, from, bytes, group.thread_rank(), group.num_threads());
}
template <class Group>
__TD_FN void memcpy_async(const Group& group, void* to, const void* from, size_t bytes) {
  __td_copy_part(to, from, bytes, group.thread_rank(), group.num_threads());
}
template <class Group, class T, size_t alignment>
__TD_FN void memcpy_async(const Group& group, T* to, const T* from,
                          const cuda::aligned_size_t<alignment>& bytes) {
  __td_copy_part(to, from, bytes, group.thread_rank(), group.num_threads());
}
// Sizes in elements: as many as both sides have.
template <class Group, class T>
__TD_FN void memcpy_async(const Group& group, T* to, size_t to_count, const T* from,
                          size_t from_count) {
  __td_copy_part(to, from, (to_count < from_count ? to_count : from_count) * sizeof(T),
                 group.thread_rank(), group.num_threads());
}
template <class Group>
__TD_FN void wait(const Group& group) {
  group.sync();
}
template <unsigned stages, class Group>
__TD_FN void wait_prior(const Group& group) {
  group.sync();
}

}  // namespace cooperative_groups
