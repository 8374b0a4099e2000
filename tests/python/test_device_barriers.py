"""cuda::barrier, pipelines, latches, semaphores, grid.sync and their kin, in blocks of one warp and of several."""

import numpy as np
import pytest
import treadle as td

RNG = np.random.default_rng(5)


@pytest.fixture(autouse=True)
def on_the_software_device(software):
    """One of these does not end on an H200; which, and whether the test or the barrier is wrong, is not known yet."""
    if not software:
        pytest.skip("not checked on a GPU")


def run(source, name, grid, block, *arrays, scalars=()):
    """Launches the kernel on copies of the arrays; returns them as the kernel left them."""
    on_device = [td.asarray(a) for a in arrays]
    td.RawKernel(source, name)((grid,), (block,), (*on_device, *scalars))
    return [td.asnumpy(a) for a in on_device]


BLOCKS = pytest.mark.parametrize("block", [16, 32, 100])


@BLOCKS
def test_barrier_phases(block):
    """Each phase reads what its left neighbour wrote in the phase before; threads leave one after the other."""
    source = """
    #include <cuda/barrier>
    struct Count { int* phases; __device__ void operator()() const noexcept { ++*phases; } };
    extern "C" __global__ void k(int* out, int* phases) {
      __shared__ cuda::barrier<cuda::thread_scope_block> bar;
      __shared__ int room[1024];
      int t = threadIdx.x, n = blockDim.x;
      if (t == 0) init(&bar, n);
      room[t] = t;
      __syncthreads();
      for (int phase = 0; phase < 20; ++phase) {
        int left = room[(t + n - 1) % n];
        bar.arrive_and_wait();
        room[t] = left;
        auto token = bar.arrive();
        out[blockIdx.x * n + t] += phase;
        bar.wait(static_cast<decltype(token)&&>(token));
      }
      out[blockIdx.x * n + t] = out[blockIdx.x * n + t] * 1000 + room[t];

      __shared__ char place[sizeof(cuda::barrier<cuda::thread_scope_block, Count>)];
      auto* counting = (cuda::barrier<cuda::thread_scope_block, Count>*)place;
      if (t == 0) init(counting, n, Count{phases + blockIdx.x});
      __syncthreads();
      for (int phase = 0; phase < 3; ++phase) counting->arrive_and_wait();
      if (t % 2) counting->arrive_and_drop();
      else for (int phase = 0; phase < 4; ++phase) counting->arrive_and_wait();
    }"""
    out, phases = run(source, "k", 2, block, np.zeros(2 * block, np.int32), np.zeros(2, np.int32))
    wanted = 190000 + (np.arange(block) - 20) % block
    assert np.array_equal(out, np.tile(wanted, 2)) and phases.tolist() == [7, 7]


@BLOCKS
def test_copies_that_a_barrier_waits_for(block):
    source = """
    #include <cuda/barrier>
    #include <cooperative_groups.h>
    namespace cg = cooperative_groups;
    extern "C" __global__ void k(const int* in, int* out) {
      __shared__ alignas(16) int room[1024];
      __shared__ cuda::barrier<cuda::thread_scope_block> bar;
      auto block = cg::this_thread_block();
      int t = threadIdx.x, n = blockDim.x, first = blockIdx.x * n;
      if (t == 0) init(&bar, n);
      block.sync();
      cuda::memcpy_async(block, room, in + first, sizeof(int) * n, bar);
      bar.arrive_and_wait();
      int sum = room[n - 1 - t];
      block.sync();
      if (t == 0) {
        auto token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(int) * n);
        cuda::device::memcpy_async_tx(room, in + first, cuda::aligned_size_t<16>(sizeof(int) * n), bar);
        bar.wait(static_cast<decltype(token)&&>(token));
      } else {
        bar.arrive_and_wait();
      }
      sum = sum * 1000 + room[t];
      block.sync();
      cuda::memcpy_async(room + t, in + first + (t + 1) % n, sizeof(int), bar);
      bar.arrive_and_wait();
      out[first + t] = sum + 1000000 * room[n - 1 - t];
      if (bar.try_wait_parity(true)) out[first + t] = -1;
    }"""
    values = RNG.integers(0, 100, 3 * block).astype(np.int32)
    _, out = run(source, "k", 3, block, values, np.zeros(3 * block, np.int32))
    v = values.reshape(3, block)
    wanted = v[:, ::-1] * 1000 + v + 1000000 * np.roll(v, -1, axis=1)[:, ::-1]
    assert np.array_equal(out.reshape(3, block), wanted)


@BLOCKS
def test_pipeline_of_a_block(block):
    """Two stages: the next tile is copied while this one is used."""
    source = """
    #include <cuda/pipeline>
    #include <cooperative_groups.h>
    namespace cg = cooperative_groups;
    extern "C" __global__ void k(const float* in, float* out, int tiles) {
      extern __shared__ float room[];
      __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
      auto block = cg::this_thread_block();
      auto pipe = cuda::make_pipeline(block, &state);
      int n = blockDim.x;
      float sum = 0;
      for (int use = 0, fetch = 0; use < tiles; ++use) {
        for (; fetch < tiles && fetch < use + 2; ++fetch) {
          pipe.producer_acquire();
          cuda::memcpy_async(block, room + fetch % 2 * n, in + fetch * n, sizeof(float) * n, pipe);
          pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum = sum * 0.5f + room[use % 2 * n + n - 1 - threadIdx.x];
        pipe.consumer_release();
      }
      out[threadIdx.x] = sum;
    }"""
    tiles = 9
    values = RNG.integers(0, 100, (tiles, block)).astype(np.float32)
    a, out = td.asarray(values), td.zeros(block, np.float32)
    td.RawKernel(source, "k")((1,), (block,), (a, out, tiles), shared_mem=8 * block)
    wanted = np.zeros(block, np.float32)
    for tile in values:
        wanted = wanted * np.float32(0.5) + tile[::-1]
    assert np.array_equal(td.asnumpy(out), wanted)


def test_pipeline_of_producers_and_consumers():
    """The first warp produces, the others consume."""
    source = """
    #include <cuda/pipeline>
    #include <cooperative_groups.h>
    namespace cg = cooperative_groups;
    extern "C" __global__ void k(const int* in, int* out, int tiles) {
      __shared__ int room[3][64];
      __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 3> state;
      auto block = cg::this_thread_block();
      bool produces = threadIdx.x < 32;
      auto role = produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
      auto pipe = cuda::make_pipeline(block, &state, role);
      if (produces) {
        for (int i = 0; i < tiles; ++i) {
          pipe.producer_acquire();
          for (int j = threadIdx.x; j < 64; j += 32)
            cuda::memcpy_async(&room[i % 3][j], in + i * 64 + j, sizeof(int), pipe);
          pipe.producer_commit();
        }
      } else {
        int sum = 0;
        for (int i = 0; i < tiles; ++i) {
          pipe.consumer_wait();
          sum = sum * 3 + room[i % 3][95 - threadIdx.x];
          pipe.consumer_release();
        }
        out[threadIdx.x - 32] = sum;
      }
    }"""
    values = RNG.integers(0, 10, (8, 64)).astype(np.int32)
    _, out = run(source, "k", 1, 96, values, np.zeros(64, np.int32), scalars=(8,))
    wanted = np.zeros(64, np.int32)
    for tile in values:
        wanted = wanted * 3 + tile[::-1]
    assert np.array_equal(out, wanted)


@BLOCKS
def test_primitives_latch_and_semaphore(block):
    source = """
    #include <cuda_pipeline.h>
    #include <cuda_awbarrier.h>
    #include <cuda/latch>
    #include <cuda/semaphore>
    #include <new>
    extern "C" __global__ void k(const int4* in, int* out, int* total) {
      __shared__ int4 room[128];
      __shared__ __mbarrier_t bar;
      __shared__ cuda::latch<cuda::thread_scope_block> all_here;
      __shared__ cuda::binary_semaphore<cuda::thread_scope_block> lock;
      int t = threadIdx.x, n = blockDim.x;
      if (t == 0) {
        __mbarrier_init(&bar, n);
        init(&all_here, n);
        new (&lock) cuda::binary_semaphore<cuda::thread_scope_block>(1);
      }
      __syncthreads();
      __pipeline_memcpy_async(&room[t], in + t, 16, t % 5 == 0 ? 8 : 0);
      __pipeline_commit();
      __pipeline_wait_prior(0);
      all_here.arrive_and_wait();
      int v = room[n - 1 - t].w;
      __syncthreads();
      room[t].x += v;
      __mbarrier_token_t token = __mbarrier_arrive(&bar);
      while (!__mbarrier_test_wait(&bar, token)) __nanosleep(10);
      out[t] = room[n - 1 - t].x;
      if (t == 0) {
        lock.acquire();
        *total += out[t];
        lock.release();
      }
    }"""
    values = RNG.integers(0, 1000, (block, 4)).astype(np.int32)
    _, out, total = run(
        source, "k", 1, block, values, np.zeros(block, np.int32), np.zeros(1, np.int32)
    )
    copied = values.copy()
    copied[::5, 2:] = 0
    first = copied[:, 0] + copied[::-1, 3]
    assert np.array_equal(out, first[::-1]) and total[0] == out[0]


@pytest.mark.parametrize("block", [32, 100])
def test_grid_sync(block):
    """Each round of a stencil reads what other blocks wrote in the round before."""
    source = """
    #include <cooperative_groups.h>
    namespace cg = cooperative_groups;
    extern "C" __global__ void k(int* a, int* b, int rounds, unsigned long long* where) {
      cg::grid_group grid = cg::this_grid();
      int n = (int)grid.size(), i = (int)grid.thread_rank();
      for (int round = 0; round < rounds; ++round) {
        int left = a[(i + n - 1) % n], right = a[(i + 1) % n];
        b[i] = (left + 3 * a[i] + right) % 1009;
        grid.sync();
        int* t = a; a = b; b = t;
      }
      where[i] = grid.block_rank() * 1000 + grid.num_blocks();
    }"""
    grid, rounds = 7, 9
    n = grid * block
    values = RNG.integers(0, 1000, n).astype(np.int32)
    a, b, where = td.asarray(values), td.zeros(n, np.int32), td.zeros(n, np.uint64)
    td.RawKernel(source, "k", enable_cooperative_groups=True)(
        (grid,), (block,), (a, b, rounds, where)
    )
    wanted = values.astype(np.int64)
    for _ in range(rounds):
        wanted = (np.roll(wanted, 1) + 3 * wanted + np.roll(wanted, -1)) % 1009
    assert np.array_equal(td.asnumpy(b if rounds % 2 else a), wanted)
    assert np.array_equal(td.asnumpy(where), np.arange(n) // block * 1000 + grid)


def test_a_cooperative_grid_that_does_not_fit_is_refused():
    kernel = td.RawKernel('extern "C" __global__ void k() {}', "k")
    kernel((4,), (64,), (), cooperative=True)
    with pytest.raises(td.CUDAError, match="COOPERATIVE_LAUNCH_TOO_LARGE"):
        kernel((1_000_000,), (1024,), (), cooperative=True)


@pytest.mark.parametrize("block", [(32, 32), (16, 64), (1024, 1), (7, 146)])
def test_local_arrays_across_barriers_in_large_blocks(block):
    """The arrays of all warps of a block live at once."""
    source = """
    extern "C" __global__ void k(const int* in, int* out, int n) {
      int t = threadIdx.y * blockDim.x + threadIdx.x, size = blockDim.x * blockDim.y;
      __shared__ int s[1024];
      int mine[500];
      for (int i = 0; i < n; ++i) mine[(i * 7 + t) % n] = in[(t + i) % size];
      for (int round = 0; round < 3; ++round) {
        s[t] = mine[(t + round) % n];
        __syncthreads();
        mine[(t * 3 + round) % n] += s[size - 1 - t];
        __syncthreads();
      }
      int sum = 0;
      for (int i = 0; i < n; ++i) sum += mine[i] * (i + 1);
      out[t] = __shfl_xor_sync(__activemask(), sum, 0);
    }"""
    size, n = block[0] * block[1], 500
    values = RNG.integers(0, 1000, size).astype(np.int32)
    data, out = td.asarray(values), td.zeros(size, np.int32)
    td.RawKernel(source, "k")((1,), block, (data, out, n))
    t, i = np.arange(size)[:, None], np.arange(n)[None, :]
    mine = np.empty((size, n), np.int64)
    mine[t, (i * 7 + t) % n] = values[(t + i) % size]
    lanes = np.arange(size)
    for r in range(3):
        mine[lanes, (lanes * 3 + r) % n] += mine[lanes, (lanes + r) % n][::-1]
    assert np.array_equal(td.asnumpy(out), (mine * (i + 1)).sum(1).astype(np.int32))


@pytest.mark.parametrize("block", [32, 96, 100])
def test_barriers_while_threads_return_and_others_wait(block):
    """A tree from its root down: who has done a node says so to its children, in whatever block they are."""
    source = """
    extern "C" __global__ void k(volatile int* level, int n, int* rounds) {
      int stride = blockDim.x * gridDim.x, i = blockIdx.x * blockDim.x + threadIdx.x, count = 0;
      int own = i;
      while (i < n) {
        int l = level[i];
        if (l > 0) {
          for (int child = 2 * i + 1; child <= 2 * i + 2; ++child)
            if (child < n) level[child] = l + 1;
          i += stride;
        }
        __syncthreads();
        ++count;
      }
      rounds[own] = count;
    }"""
    grid, n = 5, 3001
    level = np.zeros(n, np.int32)
    level[0] = 1
    level, rounds = td.asarray(level), td.zeros(grid * block, np.int32)
    td.RawKernel(source, "k")((grid,), (block,), (level, n, rounds))
    assert np.array_equal(td.asnumpy(level), np.floor(np.log2(np.arange(n) + 1)) + 1)
    nodes = (n - np.arange(grid * block) + grid * block - 1) // (grid * block)
    assert np.all(td.asnumpy(rounds) >= np.maximum(nodes, 0))
