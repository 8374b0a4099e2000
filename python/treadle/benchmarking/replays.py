"""Calls recorded in a graph: replayed, there is nothing of the host between their launches."""

import contextlib

from .. import cuda
from .guards import Refused

__all__ = ["Replay", "record"]


class Replay:
    """A graph of ``calls`` calls; `launch` replays them all on the current stream."""

    def __init__(self, graph, calls):
        self.graph, self.calls = graph, calls

    def launch(self):
        self.graph.launch(cuda.get_current_stream())


def record(call, calls, counts):
    """A `Replay` of so many calls. ``counts`` are those of one.

    `Refused` ("no-graph") for a call that a graph cannot hold whole: one that waits, moves data between host and
    device, calls a math library or launches a graph itself, or launches on another stream. What a graph would leave
    out would make it fast.
    """
    _check(counts)
    stream = cuda.Stream(non_blocking=True)
    cuda.synchronize()
    with stream:
        stream.begin_capture()
        try:
            for _ in range(calls):
                call()
        except Exception as error:
            _abandon(stream)
            raise Refused(
                "no-graph", f"the call cannot be recorded: {error}; leave the scope 'graph' out"
            ) from error
        try:
            graph = stream.end_capture()
        except Exception as error:
            raise Refused(
                "no-graph", f"the call cannot be recorded: {error}; leave the scope 'graph' out"
            ) from error
        if graph.node_count != calls * counts.launches:
            raise Refused(
                "no-graph",
                f"a graph of {calls} calls has {graph.node_count} nodes, and a call launches {counts.launches} "
                "kernels: part of them run on another stream; leave the scope 'graph' out",
            )
        graph.upload(stream)
    stream.synchronize()
    return Replay(graph, calls)


def _check(counts):
    if counts is None:
        raise Refused("no-graph", "what the call launches could not be counted")
    for number, what in (
        (counts.waits, "waits for the device"),
        (counts.uploaded_bytes + counts.downloaded_bytes, "moves data between host and device"),
        (counts.copied_bytes + counts.filled_bytes, "copies or fills memory outside of kernels"),
        (counts.library_calls, "calls a math library"),
        (counts.graph_launches, "launches a graph"),
        (not counts.launches, "launches no kernel"),
    ):
        if number:
            raise Refused(
                "no-graph",
                f"the call {what}, which the scope 'graph' does not hold; leave it out of scopes",
            )


def _abandon(stream):
    """Ends a capture that something spoilt; its own error is of no use."""
    with contextlib.suppress(Exception):
        stream.end_capture()
