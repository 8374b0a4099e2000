"""Lanes that take different ways, and meet again."""

import numpy as np
import pytest
import treadle as td

UNIFORM_BRANCH = r"""
// Lanes of two ways meet in the atomic: those of a divergent branch, and all others or none of them by `same[0]`.
extern "C" __global__ void meeting(const int* way, const int* same, int* counter, int* out) {
  const int lane = threadIdx.x % 32;
  int got = 0;
  if (way[threadIdx.x] == 0) {
    if (lane < 27 || same[0] > 0) {
      atomicOr(counter, 1);
      got = 1;
    } else {
      got = 1000 + threadIdx.x;
    }
  } else if (way[threadIdx.x] == 1) {
    got = 2;
  }
  out[threadIdx.x] = got;
}
"""


@pytest.mark.parametrize("same", [0, 1])
def test_a_uniform_branch_between_lanes_that_went_elsewhere(same):
    way = np.arange(128, dtype=np.int32) * 7 // 5 % 3
    out, counter = td.zeros(128, np.int32), td.zeros(1, np.int32)
    kernel = td.RawKernel(UNIFORM_BRANCH, "meeting")
    kernel((1,), (128,), (td.asarray(way), td.asarray(np.full(1, same, np.int32)), counter, out))
    thread = np.arange(128)
    first = np.where((thread % 32 < 27) | (same > 0), 1, 1000 + thread)
    expected = np.where(way == 0, first, np.where(way == 1, 2, 0))
    np.testing.assert_array_equal(td.asnumpy(out), expected)
