"""A clock for benchmarks that no machine moves: host and device times are what the test says."""

import numpy as np


class MadeUpClock:
    """Device work is a queue: it begins when it is handed over and everything before it has finished.

    ``work(device_s, host_s)`` is a call that keeps the host for ``host_s`` and then hands ``device_s`` of work over;
    ``elsewhere_s`` of it go to a stream that the marks do not see.
    """

    cache_bytes, local = 1 << 20, False

    def __init__(self, mark_s=0.0, conditions=(), counts=None):
        self.host = self.busy_until = self.other_stream = 0.0
        self.counts = counts
        self.mark_s = mark_s
        self.flushes = self.uploads = self.downloads = self.delays = self.calls = self.compiles = 0
        self.read = iter(conditions)
        self.cold = False

    def now(self):
        return self.host

    def queue(self, seconds):
        self.busy_until = max(self.busy_until, self.host) + seconds

    def wait(self):
        self.host = max(self.host, self.busy_until, self.other_stream)

    def wait_for_compiles(self):
        self.compiles += 1

    def reach(self, mark):
        self.host = max(self.host, mark)

    def unfinished(self):
        return self.other_stream > self.host

    def count(self, call):
        call()
        self.wait()
        return self.counts

    def record(self, call, calls, counts):
        return Replayed(self, call, calls)

    def mark(self):
        self.queue(self.mark_s)
        return self.busy_until

    def passed(self, mark):
        return self.host >= mark

    def between(self, start, end):
        return end - start

    def delay(self, seconds):
        self.delays += 1
        self.queue(seconds)

    def flush_cache(self):
        self.flushes += 1
        self.cold = True
        self.queue(1e-5)

    def release(self):
        pass

    def conditions(self):
        return next(self.read, None)

    def upload(self, array):
        self.uploads += 1
        self.host += 1e-9 * array.nbytes
        return array

    def empty_like(self, array):
        return np.empty_like(array)

    def download(self, array):
        self.downloads += 1
        self.wait()
        self.host += 2e-9 * array.nbytes
        return array

    def work(self, device_s, host_s=1e-6, waits=False, cold_s=0.0, elsewhere_s=0.0):
        """A call. ``device_s``: seconds, or a function that gives those of the next call."""

        def call(*args):
            self.calls += 1
            self.host += host_s
            self.queue((device_s() if callable(device_s) else device_s) + cold_s * self.cold)
            self.cold = False
            if elsewhere_s:
                self.other_stream = max(self.other_stream, self.host) + elsewhere_s
            if waits:
                self.wait()
            return args[0] if args else None

        return call


class Replayed:
    """The recorded calls of a `MadeUpClock`: their work for the device, without the host's time."""

    def __init__(self, clock, call, calls):
        self.clock, self.call, self.calls = clock, call, calls

    def launch(self):
        before = self.clock.host
        for _ in range(self.calls):
            self.call()
        self.clock.host = before
