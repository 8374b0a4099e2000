"""The arguments and results of a measured call: where they are, how they get there and back."""

import numpy as np

from .. import _treadle

__all__ = ["Arguments", "arrays_in", "hand_over"]


def _is_device(value):
    return isinstance(value, _treadle.ndarray)


def _is_array(value):
    return _is_device(value) or isinstance(value, np.ndarray)


def arrays_in(value):
    """The arrays of a result: of nested tuples, lists and dictionaries, in order."""
    if _is_array(value):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (tuple, list)):
        return []
    return [array for part in value for array in arrays_in(part)]


def hand_over(result):
    """Launches what the arrays of a result still wait for, so that a value that nobody reads is computed too."""
    if result is None:
        return
    for array in arrays_in(result):
        if _is_device(array):
            array.flush()


class Arguments:
    """The arguments of a call in both places: ``host`` as NumPy arrays, ``resident`` where the work computes.

    Every NumPy array among them is uploaded once, here, for the resident scope; an array of the device is the caller's
    own, whose layout is part of what is measured, or a copy of it with ``own``. ``inputs`` and ``outputs`` are
    positions in ``args``: of the arrays that have to be uploaded before the work (default: all), and of those that
    hold its result (default: what the call returns, else the arrays that its first call changed).

    ValueError: a position that is no array's, or an array that is neither an input nor an output.
    """

    def __init__(self, args, clock, inputs=None, outputs=None, own=False):
        self.positions = tuple(i for i, value in enumerate(args) if _is_array(value))
        self.inputs = (
            self.positions if inputs is None else _checked(inputs, "inputs", self.positions)
        )
        self.outputs = None if outputs is None else _checked(outputs, "outputs", self.positions)
        for i in self.positions:
            if i not in self.inputs and i not in (self.outputs or ()):
                raise ValueError(
                    f"argument {i} is an array, but neither among inputs nor among outputs; "
                    "work that reads it would find no data"
                )
        self.host = tuple(
            value.get() if _is_device(value) else np.array(value, copy=True) if _is_array(value) else value
            for value in args
        )  # fmt: skip
        self.resident = tuple(
            self._resident(i, value, clock, own) if i in self.positions else value
            for i, value in enumerate(args)
        )

    def _resident(self, i, value, clock, own):
        if clock.local:
            return self.host[i].copy("K")
        if _is_device(value):
            return value.copy("K") if own else value
        return clock.upload(value)

    def uploaded(self, clock):
        """The arguments, with the inputs brought to the device anew and fresh memory for pure outputs.

        Work on the host has them in its memory already.
        """
        if clock.local:
            return self.resident
        return tuple(
            value if i not in self.positions
            else clock.upload(value) if i in self.inputs
            else clock.empty_like(value)
            for i, value in enumerate(self.host)
        )  # fmt: skip

    def find_outputs(self, returned, clock):
        """After the first call: work that returns no array has its result in the arguments that it changed."""
        if self.outputs is None and not arrays_in(returned):
            changed = [
                i for i in self.positions
                if not _same(clock.download(self.resident[i]), self.host[i])
            ]  # fmt: skip
            self.outputs = tuple(changed) or None

    def results(self, args, returned):
        """The arrays that hold the result of a call with ``args`` that returned ``returned``."""
        if self.outputs is not None:
            return [args[i] for i in self.outputs]
        return arrays_in(returned)

    @property
    def upload_bytes(self):
        """Bytes that an end-to-end call moves to the device."""
        return sum(self.host[i].nbytes for i in self.inputs)


def _same(one, other):
    """Equal bit for bit."""
    return np.ascontiguousarray(one).tobytes() == np.ascontiguousarray(other).tobytes()


def _checked(numbers, name, positions):
    found = tuple(numbers)
    for number in found:
        if number not in positions:
            have = ", ".join(map(str, positions)) or "none"
            raise ValueError(f"{name}: argument {number} is no array; arrays are at: {have}")
    return found
