"""Cooperative groups: ranks, collectives and partitions, with whole and partial warps and divergent callers."""

import numpy as np
import pytest
import treadle as td

RNG = np.random.default_rng(11)
HEAD = """
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
"""


def run(source, name, grid, block, *arrays, scalars=()):
    """Launches the kernel on copies of the arrays; returns them as the kernel left them."""
    on_device = [td.asarray(a) for a in arrays]
    td.RawKernel(HEAD + source, name)(grid, block, (*on_device, *scalars))
    return [td.asnumpy(a) for a in on_device]


def test_thread_block():
    source = """
    extern "C" __global__ void k(int* out) {
      cg::thread_block block = cg::this_thread_block();
      dim3 g = block.group_index(), t = block.thread_index(), d = block.dim_threads();
      __shared__ int seen[120];
      seen[block.thread_rank()] = block.thread_rank();
      block.sync();
      int* o = out + (g.x * block.size() + block.thread_rank()) * 4;
      o[0] = seen[block.num_threads() - 1 - block.thread_rank()];
      o[1] = t.x + 10 * t.y + 100 * t.z;
      o[2] = d.x + 10 * d.y + 100 * d.z;
      cg::thread_group any = block;
      any.sync();
      auto token = block.barrier_arrive();
      block.barrier_wait(static_cast<cg::thread_block::arrival_token&&>(token));
      o[3] = any.size() * 1000 + cg::thread_rank(any);
    }"""
    (out,) = run(source, "k", (2,), (5, 4, 6), np.zeros(2 * 120 * 4, np.int32))
    out = out.reshape(2, 120, 4)
    rank = np.arange(120)
    assert np.array_equal(out[0], out[1])
    assert np.array_equal(out[0, :, 0], 119 - rank)
    assert np.array_equal(out[0, :, 1], rank % 5 + 10 * (rank // 5 % 4) + 100 * (rank // 20))
    assert (out[0, :, 2] == 645).all()
    assert np.array_equal(out[0, :, 3], 120000 + rank)


TILE = """
template <unsigned N> __device__ void tile_kernel(const int* in, int* out, int n, int columns) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  auto tile = cg::tiled_partition<N>(cg::this_thread_block());
  cg::thread_block_tile<N> same = tile;
  int v = in[t];
  int* o = out + t * columns;
  o[0] = tile.thread_rank();
  o[1] = tile.meta_group_rank() * 1000 + tile.meta_group_size();
  o[2] = tile.shfl(v, 1);
  o[3] = tile.shfl_up(v, 1);
  o[4] = tile.shfl_down(v, 2);
  o[5] = tile.shfl_xor(v, 1);
  o[6] = tile.any(v % 5 == 0) + 10 * tile.all(v % 5 != 1);
  o[7] = (int)tile.ballot(v % 2);
  o[8] = (int)tile.match_any(v % 3);
  int all = 0;
  o[9] = (int)tile.match_all(v / 64, all); o[10] = all;
  o[11] = cg::reduce(tile, v, cg::plus<int>());
  o[12] = cg::reduce(tile, v, cg::less<int>());
  o[13] = (int)cg::reduce(tile, (double)v, cg::greater<double>());
  o[14] = cg::reduce(same, v, cg::bit_xor<int>());
  o[15] = cg::inclusive_scan(tile, v);
  o[16] = cg::exclusive_scan(tile, v, cg::plus<int>());
  o[17] = (int)cg::reduce(tile, (long long)v, [](long long a, long long b) { return (a + b) % 1000003; });
  o[18] = cg::inclusive_scan(same, v, cg::greater<int>());
  tile.sync();
  cg::sync(tile);
}
"""


def signed(x):
    return np.uint32(x).astype(np.int32)


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16, 32])
def test_tiles(size):
    names = f"""extern "C" __global__ void k(const int* in, int* out, int n, int c) {{
      tile_kernel<{size}>(in, out, n, c);
    }}"""
    columns, block, grid = 19, 96, 2
    n = block * grid
    values = RNG.integers(0, 200, n).astype(np.int32)
    _, out = run(
        TILE + names,
        "k",
        (grid,),
        (block,),
        values,
        np.zeros(n * columns, np.int32),
        scalars=(n, columns),
    )
    out = out.reshape(n, columns)
    for start in range(0, n, size):
        v = values[start : start + size]
        rank = np.arange(size)
        got = out[start : start + size].T
        assert np.array_equal(got[0], rank)
        assert (got[1] == (start % block // size) * 1000 + block // size).all()
        assert (got[2] == v[1 % size]).all()
        assert np.array_equal(got[3], v[np.maximum(rank - 1, 0)])
        assert np.array_equal(got[4], v[np.where(rank + 2 < size, rank + 2, rank)])
        assert size == 1 or np.array_equal(got[5], v[rank ^ 1])
        assert (got[6] == int((v % 5 == 0).any()) + 10 * int((v % 5 != 1).all())).all()
        assert (got[7] == signed(sum(1 << i for i in rank if v[i] % 2))).all()
        for r in rank:
            assert got[8][r] == signed(sum(1 << i for i in rank if v[i] % 3 == v[r] % 3))
        same = len(set(v // 64)) == 1
        assert (got[9] == (signed(2**size - 1) if same else 0)).all() and (got[10] == same).all()
        assert (
            (got[11] == v.sum()).all() and (got[12] == v.min()).all() and (got[13] == v.max()).all()
        )
        assert (got[14] == np.bitwise_xor.reduce(v)).all()
        assert np.array_equal(got[15], np.cumsum(v)) and np.array_equal(got[16], np.cumsum(v) - v)
        assert (got[17] == v.sum()).all()
        assert np.array_equal(got[18], np.maximum.accumulate(v))


def test_tiles_of_the_last_warp_and_of_tiles():
    """45 threads: the last tiles are partial or not there; tiles of a tile; sizes that are known at run time only."""
    source = """
    extern "C" __global__ void k(const int* in, int* out, int size) {
      int t = threadIdx.x;
      auto warp = cg::tiled_partition<32>(cg::this_thread_block());
      auto quad = cg::tiled_partition<4>(warp);
      out[t * 6] = quad.ballot(in[t] & 1);
      out[t * 6 + 1] = quad.meta_group_rank() * 100 + quad.meta_group_size();
      out[t * 6 + 2] = warp.any(in[t] == 1000) * 2 + warp.all(in[t] < 1000);
      cg::thread_group dynamic = cg::tiled_partition(cg::this_thread_block(), size);
      out[t * 6 + 3] = dynamic.size() * 100 + dynamic.thread_rank();
      dynamic.sync();
      cg::coalesced_group part = cg::tiled_partition(cg::coalesced_threads(), size);
      out[t * 6 + 4] = part.size() * 100 + part.thread_rank();
      out[t * 6 + 5] = cg::reduce(part, in[t], cg::plus<int>());
    }"""
    values = RNG.integers(0, 1000, 45).astype(np.int32)
    for size in (1, 4, 8, 16, 32):
        _, out = run(source, "k", (1,), (45,), values, np.zeros(45 * 6, np.int32), scalars=(size,))
        out = out.reshape(45, 6)
        for t in range(45):
            quad = range(t // 4 * 4, min(t // 4 * 4 + 4, 45))
            assert out[t, 0] == sum((values[i] & 1) << (i % 4) for i in quad)
            assert out[t, 1] == t % 32 // 4 * 100 + 8
            assert out[t, 2] == (t < 32)  # a warp that is not complete never agrees, as on a GPU
            members = range(t // size * size, min(t // size * size + size, 45))
            assert out[t, 3] == len(members) * 100 + t % size and out[t, 4] == out[t, 3]
            assert out[t, 5] == sum(values[i] for i in members)


def test_coalesced_groups_in_divergent_code():
    source = """
    struct Three { float a; int b; double c; };
    extern "C" __global__ void k(const int* in, int* out, int n) {
      int t = blockIdx.x * blockDim.x + threadIdx.x;
      if (t >= n) return;
      int v = in[t];
      int* o = out + t * 12;
      for (int round = 0; round < v % 3; ++round) {
        if (v % 7 < 4) {
          cg::coalesced_group g = cg::coalesced_threads();
          o[0] += g.size(); o[1] += g.thread_rank();
          o[2] += g.shfl(v, g.size() - 1);
          o[3] += g.shfl_up(v, 1);
          o[4] += g.shfl_down(v, 1);
          o[5] += (int)g.ballot(v & 1);
          o[6] += cg::reduce(g, v, cg::plus<int>());
          o[7] += cg::reduce(g, v, [](int a, int b) { return a > b ? a : b; });
          o[8] += cg::exclusive_scan(g, v);
          Three x = g.shfl(Three{(float)v, v + 1, v + 0.5}, 0);
          o[9] += (int)x.a + x.b + (int)(2 * x.c);
          o[10] += g.any(v % 5 == 0) + 2 * g.all(v % 5 > 0);
          o[11] += (int)g.match_any(v & 3);
        }
      }
    }"""
    block, grid, n = 75, 3, 211
    values = RNG.integers(0, 1000, block * grid).astype(np.int32)
    _, out = run(
        source, "k", (grid,), (block,), values, np.zeros(block * grid * 12, np.int32), scalars=(n,)
    )
    wanted = np.zeros((block * grid, 12), np.int64)
    for b in range(grid):
        for first in range(0, block, 32):
            lanes = [
                t for t in range(b * block + first, b * block + min(first + 32, block)) if t < n
            ]
            for rounds in (0, 1):
                group = [t for t in lanes if values[t] % 3 > rounds and values[t] % 7 < 4]
                v = [int(values[t]) for t in group]
                for r, t in enumerate(group):
                    last = len(group) - 1
                    wanted[t] += [
                        len(group), r, v[-1], v[max(r - 1, 0)], v[min(r + 1, last)],
                        sum((x & 1) << i for i, x in enumerate(v)), sum(v), max(v), sum(v[:r]),
                        v[0] + v[0] + 1 + 2 * v[0] + 1,
                        any(x % 5 == 0 for x in v) + 2 * all(x % 5 > 0 for x in v),
                        sum((x & 3 == v[r] & 3) << i for i, x in enumerate(v)),
                    ]  # fmt: skip
    assert np.array_equal(out.reshape(-1, 12), wanted.astype(np.uint32).view(np.int32))


def test_partitions_by_value():
    source = """
    extern "C" __global__ void k(const int* in, int* out) {
      int t = threadIdx.x;
      auto tile = cg::tiled_partition<16>(cg::this_thread_block());
      auto half = cg::binary_partition(tile, in[t] & 1);
      int* o = out + t * 6;
      o[0] = half.size() * 100 + half.thread_rank();
      o[1] = cg::reduce(half, in[t], cg::plus<int>());
      auto label = cg::labeled_partition(cg::coalesced_threads(), in[t] % 5);
      o[2] = label.size() * 100 + label.thread_rank();
      o[3] = label.meta_group_rank() * 100 + label.meta_group_size();
      o[4] = cg::inclusive_scan(label, in[t]);
      o[5] = (int)cg::reduce(label, (double)in[t], cg::less<double>());
    }"""
    n = 80
    values = RNG.integers(0, 100, n).astype(np.int32)
    _, out = run(source, "k", (1,), (n,), values, np.zeros(n * 6, np.int32))
    out = out.reshape(n, 6)
    for t in range(n):
        tile = range(t // 16 * 16, min(t // 16 * 16 + 16, n))
        half = [i for i in tile if values[i] % 2 == values[t] % 2]
        assert out[t, 0] == len(half) * 100 + half.index(t) and out[t, 1] == values[half].sum()
        warp = range(t // 32 * 32, min(t // 32 * 32 + 32, n))
        label = [i for i in warp if values[i] % 5 == values[t] % 5]
        order = list(dict.fromkeys(int(values[i] % 5) for i in warp))
        assert out[t, 2] == len(label) * 100 + label.index(t)
        assert out[t, 3] == order.index(values[t] % 5) * 100 + len(order)
        assert (
            out[t, 4] == sum(values[i] for i in label if i <= t)
            and out[t, 5] == values[label].min()
        )


def test_copies_and_invoke_one():
    source = """
    extern "C" __global__ void k(const float* in, float* out, int* count, int n) {
      extern __shared__ float room[];
      cg::thread_block block = cg::this_thread_block();
      int first = blockIdx.x * n;
      cg::memcpy_async(block, room, in + first, sizeof(float) * n);
      cg::wait(block);
      out[first + threadIdx.x] = room[n - 1 - threadIdx.x];
      auto tile = cg::tiled_partition<8>(block);
      cg::memcpy_async(tile, room + threadIdx.x / 8 * 8, 8, in + first + threadIdx.x / 8 * 8, 3);
      cg::wait_prior<0>(tile);
      cg::invoke_one(tile, [&] { atomicAdd(count, 1); });
      int at = cg::invoke_one_broadcast(tile, [&](int by) { return atomicAdd(count + 1, by); }, 8) + tile.thread_rank();
      if (room[threadIdx.x / 8 * 8 + 2] != in[first + threadIdx.x / 8 * 8 + 2]) atomicAdd(count + 2, 1);
      atomicAdd(count + 3, at);
    }"""
    block, grid = 80, 3
    values = RNG.standard_normal(block * grid).astype(np.float32)
    kernel = td.RawKernel(HEAD + source, "k")
    a, out, count = td.asarray(values), td.zeros(block * grid, np.float32), td.zeros(4, np.int32)
    kernel((grid,), (block,), (a, out, count, block), shared_mem=4 * block)
    assert np.array_equal(
        td.asnumpy(out).reshape(grid, block), values.reshape(grid, block)[:, ::-1]
    )
    assert td.asnumpy(count).tolist() == [30, 240, 0, sum(range(240))]


# ---- kernels as people write them ----


def test_warp_aggregated_counter_and_block_sum():
    source = """
    __device__ int add_one(int* counter) {
      auto g = cg::coalesced_threads();
      int base = 0;
      if (g.thread_rank() == 0) base = atomicAdd(counter, g.size());
      return g.shfl(base, 0) + g.thread_rank();
    }
    extern "C" __global__ void filter(const float* in, float* out, int* counter, int n) {
      for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (in[i] > 0.25f) out[add_one(counter)] = in[i];
    }
    extern "C" __global__ void block_sum(const int* in, int* out, int n) {
      __shared__ int parts[32];
      auto block = cg::this_thread_block();
      auto warp = cg::tiled_partition<32>(block);
      int sum = 0;
      for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
      sum = cg::reduce(warp, sum, cg::plus<int>());
      if (warp.thread_rank() == 0) parts[warp.meta_group_rank()] = sum;
      block.sync();
      if (warp.meta_group_rank() == 0) {
        sum = warp.thread_rank() < warp.meta_group_size() ? parts[warp.thread_rank()] : 0;
        sum = cg::reduce(warp, sum, cg::plus<int>());
        if (warp.thread_rank() == 0) atomicAdd(out, sum);
      }
    }"""
    n = 5003
    x = RNG.random(n).astype(np.float32)
    _, out, counter = run(
        source,
        "filter",
        (7,),
        (96,),
        x,
        np.zeros(n, np.float32),
        np.zeros(1, np.int32),
        scalars=(n,),
    )
    wanted = np.sort(x[x > 0.25])
    assert counter[0] == len(wanted) and np.array_equal(np.sort(out[: counter[0]]), wanted)
    y = RNG.integers(-1000, 1000, n).astype(np.int32)
    _, total = run(source, "block_sum", (5,), (224,), y, np.zeros(1, np.int32), scalars=(n,))
    assert total[0] == y.sum()


@pytest.mark.parametrize("block", [64, 200, 256])
@pytest.mark.parametrize("size", [64, 128, 1024])
def test_tiles_of_several_warps(size, block):
    source = f"""
    extern "C" __global__ void k(const int* in, long long* out) {{
      __shared__ cg::block_tile_memory<1024> memory;
      auto block = cg::this_thread_block(memory);
      auto tile = cg::tiled_partition<{size}>(block);
      int t = blockIdx.x * blockDim.x + threadIdx.x, v = in[t];
      __shared__ int room[1024];
      room[block.thread_rank()] = v;
      tile.sync();
      int last = block.thread_rank() - tile.thread_rank() + {size} - 1;
      long long* o = out + 8 * t;
      o[0] = tile.thread_rank() + 1000 * tile.meta_group_rank() + 1000000 * tile.meta_group_size();
      o[1] = room[last < (int)block.size() ? last : (int)block.size() - 1];
      o[2] = cg::reduce(tile, v, cg::plus<int>());
      o[3] = (long long)cg::reduce(tile, (double)v, cg::less<double>());
      o[4] = cg::inclusive_scan(tile, (long long)v);
      o[5] = cg::exclusive_scan(tile, v, cg::greater<int>());
      o[6] = tile.any(v == 3) + 10 * tile.all(v < 99);
    }}"""
    values = RNG.integers(0, 100, 2 * block).astype(np.int32)
    _, out = run(source, "k", (2,), (block,), values, np.zeros(2 * block * 8, np.int64))
    out = out.reshape(2, block, 8)
    for b in range(2):
        for first in range(0, block, size):
            v = values[b * block + first : b * block + min(first + size, block)].astype(np.int64)
            got = out[b, first : first + size].T
            n = len(v)
            assert np.array_equal(
                got[0], np.arange(n) + 1000 * (first // size) + 1000000 * -(-block // size)
            )
            assert (
                (got[1] == v[-1]).all() and (got[2] == v.sum()).all() and (got[3] == v.min()).all()
            )
            assert np.array_equal(got[4], np.cumsum(v))
            assert np.array_equal(got[5], [0, *np.maximum.accumulate(v)[:-1]])
            assert (got[6] == (v == 3).any() + 10 * (v < 99).all()).all()
