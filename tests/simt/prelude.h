// Short names that the tests of the lowering use; put in front of each source.

using uint = unsigned int;
using uchar = unsigned char;
using ushort = unsigned short;
using ulong = unsigned long;
using size_t = unsigned long;

extern "C" __device__ uint __td_activemask() __attribute__((convergent));
extern "C" __device__ float __td_expf(float) __attribute__((const, nothrow));
extern "C" __device__ float __td_sinf(float) __attribute__((const, nothrow));
extern "C" __device__ float __td_fdimf(float, float) __attribute__((const, nothrow));
extern "C" __device__ int vprintf(const char*, const char*);

__device__ inline int sync_count(int p) { return __nvvm_bar0_popc(p); }
__device__ inline int sync_and(int p) { return __nvvm_bar0_and(p); }
__device__ inline int sync_or(int p) { return __nvvm_bar0_or(p); }
__device__ inline int control(int width, int clamp) { return ((32 - width) << 8) | clamp; }
__device__ inline int shfl(int v, int lane, int width = 32) {
  return __nvvm_shfl_sync_idx_i32(~0u, v, lane, control(width, 31));
}
__device__ inline int shfl_up(int v, int d, int width = 32) {
  return __nvvm_shfl_sync_up_i32(~0u, v, d, control(width, 0));
}
__device__ inline int shfl_down(int v, int d, int width = 32) {
  return __nvvm_shfl_sync_down_i32(~0u, v, d, control(width, 31));
}
__device__ inline int shfl_xor(int v, int d, int width = 32) {
  return __nvvm_shfl_sync_bfly_i32(~0u, v, d, control(width, 31));
}
__device__ inline float shfl_down(float v, int d, int width = 32) {
  return __nvvm_shfl_sync_down_f32(~0u, v, d, control(width, 31));
}
__device__ inline uint ballot(bool p) { return __nvvm_vote_ballot_sync(~0u, p); }

template <typename T>
__device__ T atomic_add(T* p, T v) {
  return __atomic_fetch_add(p, v, __ATOMIC_RELAXED);
}
__device__ inline float atomic_add(float* p, float v) { return __nvvm_atom_add_gen_f(p, v); }
