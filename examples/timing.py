"""Two honest ways to time: events around work whose data are on the device, and wall clock with the transfers."""

import time

import numpy as np
import treadle as td
from treadle import cuda

host = np.random.default_rng(0).random((1024, 1024), dtype=np.float32)
a = td.asarray(host, blocking=True)

for _ in range(3):  # the first calls compile and allocate
    (a @ a).flush()
start, end = cuda.Event(), cuda.Event()
start.record()
products = [a @ a for _ in range(10)]
end.record()
end.synchronize()
evidence = cuda.Device().evidence
print(
    f"product, data on the device: {cuda.get_elapsed_time(start, end) / 10:.3f} ms ({evidence} time)"
)

begin = time.perf_counter()
result = td.asnumpy(td.asarray(host) @ td.asarray(host))
print(f"upload, product and download: {1e3 * (time.perf_counter() - begin):.3f} ms (wall clock)")
np.testing.assert_allclose(result, host @ host, rtol=1e-3)
