"""Forward progress and calls: what threads do that wait for one another, and functions that stay functions.

Each kernel either gives what its own text says for every order of its threads, or an error that names the place. The
oracle is the same computation in Python.
"""

import os
import subprocess
import sys

import numpy as np
import pytest
import treadle as td
from treadle import cuda

WAITING = r"""
__device__ int global_lock;

// Each lane for itself, the lock given back in the loop.
extern "C" __global__ void spin_good(int* lock, int* sum) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      int old = *(volatile int*)sum;
      *(volatile int*)sum = old + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}
// Dead-locks on devices before Volta: the winner waits for the losers at the end of the loop.
extern "C" __global__ void spin_bad(int* lock, int* sum) {
  while (atomicCAS(lock, 0, 1) != 0)
    ;
  int old = *(volatile int*)sum;
  *(volatile int*)sum = old + 1;
  __threadfence();
  atomicExch(lock, 0);
}
extern "C" __global__ void spin_shared(int* out) {
  __shared__ int lock, sum;
  if (threadIdx.x == 0) lock = sum = 0;
  __syncthreads();
  while (atomicExch(&lock, 1) != 0)
    ;
  *(volatile int*)&sum = *(volatile int*)&sum + (int)threadIdx.x;
  __threadfence_block();
  atomicExch(&lock, 0);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
extern "C" __global__ void ticket(int* next, int* serving, int* order, int* count) {
  int mine = atomicAdd(next, 1);
  while (*(volatile int*)serving != mine)
    ;
  order[(*count)++] = blockIdx.x * blockDim.x + threadIdx.x;
  __threadfence();
  atomicAdd(serving, 1);
}
// One lane of a warp takes the lock for all of it.
extern "C" __global__ void warp_mutex(int* lock, int* data) {
  int lane = threadIdx.x % 32;
  if (lane == 0)
    while (atomicCAS(lock, 0, 1) != 0)
      ;
  __syncwarp();
  int old = ((volatile int*)data)[lane];
  ((volatile int*)data)[lane] = old + 1;
  __threadfence();
  __syncwarp();
  if (lane == 0) atomicExch(lock, 0);
}
extern "C" __global__ void warp_mutex_shared(int* out) {
  __shared__ int lock, data[32];
  int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) data[lane] = 0;
  if (threadIdx.x == 0) lock = 0;
  __syncthreads();
  if (lane == 0)
    while (atomicCAS(&lock, 0, 1) != 0)
      ;
  __syncwarp();
  ((volatile int*)data)[lane] += 1 + lane;
  __syncwarp();
  if (lane == 0) atomicExch(&lock, 0);
  __syncthreads();
  if (threadIdx.x < 32) out[lane] = data[lane];
}
// Odd lanes hand values to even ones, in both orders of the arms.
extern "C" __global__ void lanes(int* out, int rounds) {
  __shared__ volatile int box[16], full[16];
  int pair = threadIdx.x / 2;
  if (threadIdx.x % 2 == 0) full[pair] = 0;
  __syncthreads();
  int sum = 0;
  if (threadIdx.x % 2 == 0) {
    for (int i = 0; i < rounds; ++i) {
      while (!full[pair])
        ;
      sum = sum * 3 + box[pair];
      __threadfence_block();
      full[pair] = 0;
    }
  } else {
    for (int i = 0; i < rounds; ++i) {
      while (full[pair])
        ;
      box[pair] = pair * 100 + i;
      __threadfence_block();
      full[pair] = 1;
    }
  }
  out[threadIdx.x] = sum;
}
// Each block waits for the one behind it, so that all must be resident.
extern "C" __global__ void backwards(volatile int* flags, int* out) {
  if (threadIdx.x == 0) {
    if (blockIdx.x + 1 < gridDim.x)
      while (flags[blockIdx.x + 1] == 0)
        ;
    __threadfence();
    out[blockIdx.x] = blockIdx.x + 1 < gridDim.x ? ((volatile int*)out)[blockIdx.x + 1] + 1 : 0;
    __threadfence();
    flags[blockIdx.x] = 1;
  }
}
// A barrier over the grid as people write it.
extern "C" __global__ void software_barrier(int* count, int* data, int* out, int rounds) {
  for (int r = 0; r < rounds; ++r) {
    data[blockIdx.x * blockDim.x + threadIdx.x] = r + blockIdx.x;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
      atomicAdd(count, 1);
      while (atomicAdd(count, 0) < (2 * r + 1) * gridDim.x)
        ;
    }
    __syncthreads();
    int from = (blockIdx.x + 1) % gridDim.x * blockDim.x + threadIdx.x;
    out[blockIdx.x * blockDim.x + threadIdx.x] += ((volatile int*)data)[from];
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(count, 1);
      while (*(volatile int*)count < (2 * r + 2) * gridDim.x)
        ;
    }
    __syncthreads();
  }
}
// Decoupled look-back: the sum of all blocks before.
extern "C" __global__ void look_back(const int* in, volatile int* state, volatile int* sums, int* out) {
  __shared__ int before;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int total = __syncthreads_count(in[i] != 0);
  if (threadIdx.x == 0) {
    int sum = 0;
    if (blockIdx.x > 0) {
      while (state[blockIdx.x - 1] == 0)
        ;
      __threadfence();
      sum = sums[blockIdx.x - 1];
    }
    before = sum;
    sums[blockIdx.x] = sum + total;
    __threadfence();
    state[blockIdx.x] = 1;
  }
  __syncthreads();
  out[i] = before;
}
"""


@pytest.fixture(scope="module")
def waiting():
    return td.RawModule(code=WAITING)


def zeros(n=1):
    return td.zeros(n, np.int32)


@pytest.mark.parametrize("grid, block", [(1, 32), (3, 96), (4, 70)])
@pytest.mark.parametrize("name", ["spin_good", "spin_bad"])
def test_each_lane_takes_the_lock(waiting, name, grid, block):
    total = zeros()
    waiting.get_function(name)((grid,), (block,), (zeros(), total))
    assert int(total[0]) == grid * block


def test_lock_in_shared_memory(waiting):
    out = zeros(5)
    waiting.get_function("spin_shared")((5,), (128,), (out,))
    assert td.asnumpy(out).tolist() == [128 * 127 // 2] * 5


def test_ticket_lock_serves_each_thread_once(waiting):
    order = zeros(256)
    waiting.get_function("ticket")((4,), (64,), (zeros(), zeros(), order, zeros()))
    assert sorted(td.asnumpy(order).tolist()) == list(range(256))


def test_mutex_of_a_warp(waiting):
    data = zeros(32)
    waiting.get_function("warp_mutex")((4,), (256,), (zeros(), data))
    assert td.asnumpy(data).tolist() == [32] * 32
    waiting.get_function("warp_mutex_shared")((1,), (256,), (data,))
    assert td.asnumpy(data).tolist() == [8 * (1 + lane) for lane in range(32)]


def test_lanes_hand_values_to_one_another(waiting):
    out, rounds = zeros(32), 7
    waiting.get_function("lanes")((1,), (32,), (out, rounds))
    for pair in range(16):
        expected = 0
        for i in range(rounds):
            expected = expected * 3 + pair * 100 + i
        assert int(out[2 * pair]) == expected and int(out[2 * pair + 1]) == 0


@pytest.mark.parametrize("blocks", [1, 2, 40, 500])
def test_blocks_wait_for_later_blocks(waiting, blocks):
    out = zeros(blocks)
    waiting.get_function("backwards")((blocks,), (64,), (zeros(blocks), out))
    assert td.asnumpy(out).tolist() == list(range(blocks))[::-1]


@pytest.mark.parametrize("blocks, threads", [(2, 32), (20, 64), (132, 128)])
def test_barrier_over_the_grid_in_software(waiting, blocks, threads):
    rounds = 3
    out = zeros(blocks * threads)
    waiting.get_function("software_barrier")(
        (blocks,), (threads,), (zeros(), zeros(blocks * threads), out, rounds)
    )
    expected = [sum(r + (b + 1) % blocks for r in range(rounds)) for b in range(blocks)]
    assert np.array_equal(td.asnumpy(out).reshape(blocks, threads)[:, 0], expected)
    assert np.array_equal(td.asnumpy(out), np.repeat(expected, threads))


def test_decoupled_look_back(waiting):
    blocks, threads = 300, 128
    data = np.random.default_rng(1).integers(0, 2, blocks * threads).astype(np.int32)
    out = zeros(blocks * threads)
    waiting.get_function("look_back")(
        (blocks,), (threads,), (td.asarray(data), zeros(blocks), zeros(blocks), out)
    )
    sums = data.reshape(blocks, threads).sum(axis=1)
    assert np.array_equal(td.asnumpy(out).reshape(blocks, threads)[:, 5], np.cumsum(sums) - sums)


MEETING = r"""
// Both arms have a barrier: threads count, not places.
extern "C" __global__ void both_arms(int* out) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = t;
  if (t % 3 == 0) {
    __syncthreads();
    out[t] = s[127 - t] + 1000;
    __syncthreads();
  } else {
    __syncthreads();
    out[t] = s[127 - t];
    __syncthreads();
  }
  __syncthreads();
  out[t] += s[(t + 1) % 128] * 10000;
}
extern "C" __global__ void named(int* out) {
  __shared__ int s[128];
  int t = threadIdx.x, half = t / 64;
  s[t] = t * t;
  __nvvm_barrier_sync_cnt(half + 1, 64);
  out[t] = s[half * 64 + (t + 17) % 64];
}
extern "C" __global__ void named_by_lanes(int* out) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = t * t;
  if (t % 2) __nvvm_barrier_sync_cnt(3, 64);
  else __nvvm_barrier_sync_cnt(4, 64);
  out[t] = s[(t + 64) % 128];
}
// Those that do not come have ended, or come later.
extern "C" __global__ void some_leave(int* out, int n) {
  __shared__ int s[96];
  int t = threadIdx.x;
  s[t] = 0;
  __syncthreads();
  if (t < n) {
    s[t] = t + 1;
    __syncthreads();
    out[t] = s[n - 1 - t];
  } else {
    out[t] = -1;
  }
}
extern "C" __global__ void early_return(int* out, const int* quits) {
  __shared__ int s[96];
  int t = threadIdx.x;
  s[t] = 5;
  for (int round = 0; round < 8; ++round) {
    if (quits[t] == round) return;
    __syncthreads();
    if (t == 0) s[round] = round * 7;
    __syncthreads();
    out[t] += s[round];
  }
}
extern "C" __global__ void uneven_loops(int* out) {
  int t = threadIdx.x;
  for (int i = 0; i < t % 4; ++i) {
    out[t] += 1;
    __syncthreads();
  }
  out[t] += 10;
}
extern "C" __global__ void arms_shuffle(int* out) {
  int lane = threadIdx.x;
  if (lane < 16) {
    int v = __shfl_xor_sync(0x0000ffff, lane, 5);
    if (lane % 4 < 2) v += __shfl_xor_sync(0x00003333, lane * 100, 1);
    else v += __shfl_xor_sync(0x0000cccc, lane * 1000, 1);
    out[lane] = v;
  } else {
    out[lane] = __shfl_xor_sync(0xffff0000, lane, 3) + __popc(__ballot_sync(0xffff0000, lane & 4));
  }
}
// All lanes call the same operation, from two places.
extern "C" __global__ void meet_from_two_places(int* out) {
  int lane = threadIdx.x;
  int v;
  if (lane & 1) v = __shfl_sync(0xffffffff, lane * 10, (lane + 1) % 32);
  else v = __shfl_sync(0xffffffff, lane * 10, (lane + 3) % 32) + 1;
  out[lane] = v;
}
extern "C" __global__ void partial_syncwarp(int* out) {
  __shared__ volatile int s[32];
  int lane = threadIdx.x;
  s[lane] = 0;
  __syncwarp();
  if (lane >= 8 && lane < 24) {
    s[lane] = lane;
    __syncwarp(0x00ffff00);
    out[lane] = s[31 - lane];
    __syncwarp(0x00ffff00);
  }
}
extern "C" __global__ void counts(int* out) {
  int t = threadIdx.x;
  if (t % 2) out[t] = __syncthreads_count(t % 4 == 1);
  else out[t] = __syncthreads_count(t % 4 == 0);
  out[t] += 1000 * __syncthreads_and(1) + 2000 * __syncthreads_or(t == 3);
}
"""


@pytest.fixture(scope="module")
def meeting():
    return td.RawModule(code=MEETING)


def test_barriers_in_both_arms(meeting):
    out = zeros(128)
    meeting.get_function("both_arms")((1,), (128,), (out,))
    t = np.arange(128)
    assert np.array_equal(td.asnumpy(out), 127 - t + 1000 * (t % 3 == 0) + (t + 1) % 128 * 10000)


@pytest.mark.parametrize("n", [1, 7, 32, 50, 96])
def test_barrier_that_ended_threads_do_not_reach(meeting, n):
    out = zeros(96)
    meeting.get_function("some_leave")((1,), (96,), (out, n))
    t = np.arange(96)
    assert np.array_equal(td.asnumpy(out), np.where(t < n, n - t, -1))


def test_lanes_that_return_are_not_waited_for(meeting):
    quits = np.random.default_rng(2).integers(0, 9, 96).astype(np.int32)
    quits[0] = 8
    out = zeros(96)
    meeting.get_function("early_return")((1,), (96,), (out, td.asarray(quits)))
    assert np.array_equal(td.asnumpy(out), [sum(7 * r for r in range(min(q, 8))) for q in quits])


def test_barriers_in_loops_of_different_length(meeting):
    out = zeros(96)
    meeting.get_function("uneven_loops")((1,), (96,), (out,))
    assert np.array_equal(td.asnumpy(out), np.arange(96) % 4 + 10)


@pytest.mark.skipif(cuda.Device().name.startswith("cuda"), reason="names of Clang's builtins")
def test_named_barriers(meeting):
    out, t = zeros(128), np.arange(128)
    meeting.get_function("named")((1,), (128,), (out,))
    assert np.array_equal(td.asnumpy(out), (t // 64 * 64 + (t + 17) % 64) ** 2)
    meeting.get_function("named_by_lanes")((1,), (128,), (out,))
    assert np.array_equal(td.asnumpy(out), ((t + 64) % 128) ** 2)


def test_warp_operations_in_arms(meeting):
    out = zeros(32)
    meeting.get_function("arms_shuffle")((1,), (32,), (out,))
    expected = [
        (lane ^ 5) + (lane ^ 1) * (100 if lane % 4 < 2 else 1000) if lane < 16 else (lane ^ 3) + 8
        for lane in range(32)
    ]
    assert td.asnumpy(out).tolist() == expected


def test_one_warp_operation_from_two_places(meeting):
    out = zeros(32)
    meeting.get_function("meet_from_two_places")((1,), (32,), (out,))
    expected = [
        (lane + 1) % 32 * 10 if lane & 1 else (lane + 3) % 32 * 10 + 1 for lane in range(32)
    ]
    assert td.asnumpy(out).tolist() == expected


def test_syncwarp_of_some_lanes(meeting):
    out = zeros(32)
    meeting.get_function("partial_syncwarp")((1,), (32,), (out,))
    assert td.asnumpy(out).tolist() == [31 - i if 8 <= i < 24 else 0 for i in range(32)]


@pytest.mark.skipif(cuda.Device().name.startswith("cuda"), reason="an H200 does not end this")
def test_barrier_reductions_from_two_places(meeting):
    out = zeros(64)
    meeting.get_function("counts")((1,), (64,), (out,))
    assert td.asnumpy(out).tolist() == [32 + 1000 + 2000] * 64


GRID = r"""
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void relax(int* a, int* b, int rounds) {
  __shared__ int s[64];
  int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int r = 0; r < rounds; ++r) {
    s[threadIdx.x] = a[(i + 1) % n];
    __syncthreads();
    b[i] = s[threadIdx.x] + r;
    cg::this_grid().sync();
    a[i] = b[(i + 3) % n] * 3 % 1000;
    cg::this_grid().sync();
  }
}
extern "C" __global__ void leaves(int* out) {
  if (blockIdx.x == 2) return;
  cg::this_grid().sync();
  out[threadIdx.x] = 1;
}
"""

soft_only = pytest.mark.skipif(
    not cuda.Device().name.startswith("soft"), reason="the software device's own launch and text"
)


@soft_only
@pytest.mark.parametrize("blocks", [1, 3, 150])
def test_grid_barrier(blocks):
    module, rounds = td.RawModule(code=GRID), 5
    a = np.random.default_rng(5).integers(0, 1000, blocks * 64).astype(np.int32)
    device = td.asarray(a.copy())
    module.get_function("relax")((blocks,), (64,), (device, zeros(blocks * 64), rounds))
    for r in range(rounds):
        a = np.roll(np.roll(a, -1) + r, -3) * 3 % 1000
    assert np.array_equal(td.asnumpy(device), a)


CALLS = r"""
typedef int (*Binary)(int, int);
__device__ int add(int a, int b) { return a + b; }
__device__ int subtract(int a, int b) { return a - b; }
__device__ __noinline__ int power(int a, int b) {
  int r = 1;
  for (int i = 0; i < b; ++i) r *= a;
  return r;
}
__device__ Binary table[3] = {add, subtract, power};
__constant__ Binary fixed[3] = {power, add, subtract};
__device__ Binary chosen = subtract;

extern "C" __global__ void by_table(int* out, int shift) {
  int i = threadIdx.x;
  out[i] = table[i % 3](i, i % 5) * 1000 + fixed[(i + shift) % 3](i % 7, 3);
}
extern "C" __global__ void uniform(int* out, int which) { out[threadIdx.x] = table[which](threadIdx.x, 2); }
extern "C" __global__ void by_number(int* out, unsigned long long f) {
  out[threadIdx.x] = ((Binary)f)(threadIdx.x, 3);
}
extern "C" __global__ void address(unsigned long long* out) { *out = (unsigned long long)chosen; }

struct Shape {
  __device__ virtual float area() const = 0;
  __device__ virtual int sides() const { return 0; }
};
struct Square : Shape {
  float a;
  __device__ Square(float a) : a(a) {}
  __device__ float area() const override { return a * a; }
  __device__ int sides() const override { return 4; }
};
struct Circle : Shape {
  float r;
  __device__ Circle(float r) : r(r) {}
  __device__ float area() const override { return 3.0f * r * r; }
};
extern "C" __global__ void shapes(float* out) {
  Square square(threadIdx.x);
  Circle circle(threadIdx.x);
  Shape* shape = threadIdx.x % 2 ? (Shape*)&square : (Shape*)&circle;
  out[threadIdx.x] = shape->area() + 10000 * shape->sides();
}

__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}
__device__ bool odd(int n);
__device__ bool even(int n) { return n == 0 ? true : odd(n - 1); }
__device__ bool odd(int n) { return n == 0 ? false : even(n - 1); }
__device__ void quicksort(float* data, int low, int high) {
  if (low >= high) return;
  float pivot = data[(low + high) / 2];
  int i = low, j = high;
  while (i <= j) {
    while (data[i] < pivot) ++i;
    while (data[j] > pivot) --j;
    if (i <= j) {
      float t = data[i];
      data[i++] = data[j];
      data[j--] = t;
    }
  }
  quicksort(data, low, j);
  quicksort(data, i, high);
}
extern "C" __global__ void recursion(int* out) {
  int i = threadIdx.x;
  out[i] = fibonacci(i % 16) + 10000 * ackermann(i % 3, i % 4) + 10000000 * even(i);
}
extern "C" __global__ void sort_rows(float* data, int n) {
  quicksort(data + (blockIdx.x * blockDim.x + threadIdx.x) * n, 0, n - 1);
}
extern "C" __global__ void sort_in_shared(float* data) {
  __shared__ float row[64];
  row[threadIdx.x] = data[blockIdx.x * 64 + threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) quicksort(row, 0, 63);
  __syncthreads();
  data[blockIdx.x * 64 + threadIdx.x] = row[threadIdx.x];
}
__device__ int depth(volatile int* p, int n) { return n == 0 ? 0 : 1 + depth(p, n - *p); }
extern "C" __global__ void deep(int* out, int* step, int n) { out[threadIdx.x] = depth(step, n); }
struct Pair { long long a; float b; };
__device__ Pair chain(Pair p, bool twice, int n) {
  if (n == 0) return p;
  Pair q = chain({p.a + n, p.b * 2}, !twice, n - 1);
  return {twice ? q.a * 2 : q.a, q.b + 1};
}
extern "C" __global__ void pairs(long long* a, float* b) {
  int i = threadIdx.x;
  Pair p = chain({i, (float)i}, i % 2, i % 6);
  a[i] = p.a;
  b[i] = p.b;
}
"""


@pytest.fixture(scope="module")
def calls():
    return td.RawModule(code=CALLS)


BINARY = [lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a**b]


def test_calls_through_tables(calls):
    out = zeros(96)
    calls.get_function("by_table")((1,), (96,), (out, 1))
    fixed = [BINARY[2], BINARY[0], BINARY[1]]
    expected = np.array(
        [BINARY[i % 3](i, i % 5) * 1000 + fixed[(i + 1) % 3](i % 7, 3) for i in range(96)]
    )
    assert np.array_equal(td.asnumpy(out), expected.astype(np.int64).astype(np.int32))
    for which in range(3):
        calls.get_function("uniform")((1,), (96,), (out, which))
        assert td.asnumpy(out).tolist() == [BINARY[which](i, 2) for i in range(96)]


def test_address_of_a_function_as_an_argument(calls):
    address, out = td.zeros(1, np.uint64), zeros(64)
    calls.get_function("address")((1,), (1,), (address,))
    calls.get_function("by_number")((1,), (64,), (out, np.uint64(td.asnumpy(address)[0])))
    assert td.asnumpy(out).tolist() == [i - 3 for i in range(64)]


def test_arrays_whose_size_is_known_when_they_are_made(software):
    if not software:
        pytest.skip("nvcc takes alloca, NVRTC does not")
    source = r"""
extern "C" __global__ void arrays_of_any_size(int* out) {
  int n = threadIdx.x + 1;
  int* room = (int*)alloca(n * sizeof(int));
  for (int i = 0; i < n; ++i) room[i] = i * i;
  int sum = 0;
  for (int i = n - 1; i >= 0; --i) sum += room[i];
  out[threadIdx.x] = sum;
}"""
    out = zeros(96)
    td.RawKernel(source, "arrays_of_any_size")((1,), (96,), (out,))
    assert td.asnumpy(out).tolist() == [sum(i * i for i in range(n + 1)) for n in range(96)]


def test_virtual_functions(calls):
    out = td.zeros(64, np.float32)
    calls.get_function("shapes")((1,), (64,), (out,))
    i = np.arange(64)
    assert np.array_equal(td.asnumpy(out), np.where(i % 2, i * i + 40000.0, 3.0 * i * i))


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def ackermann(m, n):
    if m == 0:
        return n + 1
    return ackermann(m - 1, ackermann(m, n - 1) if n else 1)


@pytest.fixture
def deep_stack(software):
    if not software:
        pytest.skip("needs more than the 1 KiB of stack that a thread of a GPU has at first")


def test_recursion(calls, deep_stack):
    out = zeros(96)
    calls.get_function("recursion")((1,), (96,), (out,))
    expected = [
        fibonacci(i % 16) + 10000 * ackermann(i % 3, i % 4) + 10000000 * (i % 2 == 0)
        for i in range(96)
    ]
    assert td.asnumpy(out).tolist() == expected


def test_recursive_sort(calls, deep_stack):
    data = np.random.default_rng(3).random((64, 50)).astype(np.float32)
    device = td.asarray(data.copy())
    calls.get_function("sort_rows")((2,), (32,), (device, 50))
    assert np.array_equal(td.asnumpy(device), np.sort(data, axis=1))
    data = np.random.default_rng(4).random((5, 64)).astype(np.float32)
    device = td.asarray(data.copy())
    calls.get_function("sort_in_shared")((5,), (64,), (device,))
    assert np.array_equal(td.asnumpy(device), np.sort(data, axis=1))


def test_recursion_with_structures_and_booleans(calls, deep_stack):
    a, b = td.zeros(64, np.int64), td.zeros(64, np.float32)
    calls.get_function("pairs")((1,), (64,), (a, b))

    def chain(p, twice, n):
        if n == 0:
            return p
        q = chain((p[0] + n, p[1] * 2), not twice, n - 1)
        return (q[0] * 2 if twice else q[0], q[1] + 1)

    expected = [chain((i, float(i)), i % 2 == 1, i % 6) for i in range(64)]
    assert td.asnumpy(a).tolist() == [p[0] for p in expected]
    assert td.asnumpy(b).tolist() == [p[1] for p in expected]


# ---- errors: in a process of its own, since a context that has failed stays so ----


def run_alone(body, **environment):
    program = "import numpy as np, treadle as td\nfrom treadle import cuda\n" + body
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
    )


def message_of(source, arguments="", block=64, grid=1, **environment):
    """What the launch of kernel k says."""
    result = run_alone(
        f"""
k = td.RawKernel({source!r}, "k")
out = td.zeros(1024, np.int32)
try:
    k(({grid},), ({block},), (out,{arguments}))
    cuda.synchronize()
except Exception as error:
    print(error)
else:
    print("no error", td.asnumpy(out)[:4])
""",
        **environment,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


@soft_only
def test_threads_that_wait_for_one_another_for_ever():
    text = message_of(r"""
extern "C" __global__ void k(int* out) {
  if (threadIdx.x < 5) {
    __syncthreads();
  } else {
    __syncwarp(0xffffffff);
  }
  out[threadIdx.x] = 1;
}""")
    assert "LAUNCH_FAILED" in text and "for ever" in text
    assert ":4 (k) is waited at by threads (0, 0, 0) to (4, 0, 0)" in text
    assert ":6 (k) with mask 0xffffffff is waited at by threads (5, 0, 0)" in text


@soft_only
def test_trap_and_assert_name_place_block_and_thread():
    text = message_of(
        r"""
__device__ void check(int v) {
  if (v == 77) __trap();
}
extern "C" __global__ void k(int* out) {
  check(blockIdx.x * 64 + threadIdx.x);
}""",
        grid=3,
    )
    assert "LAUNCH_FAILED" in text
    assert ":3 (check), thread (13, 0, 0)" in text and "block (1, 0, 0)" in text
    text = message_of(
        """
#include <cassert>
extern "C" __global__ void k(int* out) {
  assert(threadIdx.x + 64 * blockIdx.x != 70);
}""",
        grid=2,
    )
    assert "ASSERT" in text and ":4 (" in text
    assert "thread (6, 0, 0)" in text and "block (1, 0, 0)" in text


@soft_only
def test_endless_loops_end_with_the_time_limit():
    for source in [
        'extern "C" __global__ void k(int* out) { while (*(volatile int*)out == 0); }',
        'extern "C" __global__ void k(int* out) { while (atomicCAS(out, 1, 2) == 0); atomicExch(out, 1); }',
        'extern "C" __global__ void k(int* out) { for (unsigned i = 0; i < 1; i += 2 * (out[5] == 1)); }',
    ]:
        text = message_of(source, TREADLE_LAUNCH_TIMEOUT="0.3")
        assert "TIMEOUT" in text, source


@soft_only
def test_recursion_without_end_is_an_error():
    for block in (1, 64):
        text = message_of(
            """
__device__ int f(volatile int* p, int n) { return *p == 7 ? n : 1 + f(p, n + 1) + f(p, n); }
extern "C" __global__ void k(int* out) { out[threadIdx.x + 1] = f(out, 1); }""",
            block=block,
        )
        assert "STACK" in text and "CU_LIMIT_STACK_SIZE" in text


@soft_only
def test_a_call_of_no_function():
    text = message_of("""
typedef void (*F)(int*);
__device__ F f;
extern "C" __global__ void k(int* out) { f(out); }""")
    assert "INVALID_PC" in text


@soft_only
def test_grid_barrier_that_blocks_do_not_reach():
    source = GRID.replace("void leaves", "void k")
    assert "ended without reaching it" in message_of(source, grid=5)
    text = message_of(source, grid=100000)
    assert "launch fewer blocks" in text or "ended without reaching it" in text
