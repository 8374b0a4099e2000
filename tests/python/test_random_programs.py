"""Random programs of 20 statements, run by NumPy and by Treadle: every variable ends with the same bits.

Statements make values of several dtypes, views (strided, reversed, transposed, broadcast, new axes), write
through them in place, also onto memory that they read, reduce in the middle, and use what reductions gave.
Values stay small whole numbers, so that no result depends on an order of summation. Statements that NumPy
refuses must be refused. More of them: ``python tests/python/test_random_programs.py 2000``.
"""

import random
import sys

import numpy as np
import pytest
import treadle as td
from treadle import config

STATEMENTS, PROGRAMS = 20, 200
DTYPES = ["f8", "f4", "i4", "i8", "u1", "?", "i2", "f2"]
SHAPES = [(6,), (4, 6), (6, 6), (2, 4, 6), (1, 6), (4, 1), (40, 33), (3, 0), ()]
# The largest whole number that sums of a few hundred of them still hold exactly.
LIMITS = {"f2": 8, "f4": 1 << 11, "f8": 1 << 20, "c8": 1 << 8}
REFUSALS = (ValueError, TypeError, IndexError, OverflowError)


class Program:
    """Writes one program while NumPy runs it; ``lines`` is its text."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.fresh = [], 0
        self.host = {"xp": np}
        self.names = []
        self.errors = set()  # numbers of lines that NumPy refuses
        rng = np.random.default_rng(seed)
        self.inputs = {}
        shape = self.random.choice(SHAPES)
        for k in range(3):
            dtype = np.dtype(self.random.choice(DTYPES))
            mine = shape[self.random.randint(0, len(shape)) :] if k else shape
            low = 0 if dtype.kind in "ub" else -4
            self.inputs[f"v{k}"] = np.asarray(rng.integers(low, 5, mine)).astype(dtype)
        for name, value in self.inputs.items():
            self.host[name] = value.copy()
            self.names.append(name)
        self.fresh = 3
        for _ in range(STATEMENTS):
            self.statement()

    # ---- parts of statements ----

    def pick(self):
        return self.random.choice(self.names)

    def index(self, name):
        items = []
        for length in self.host[name].shape:
            kind = self.random.choice(["all", "all", "tail", "reverse", "step", "int", "stop"])
            if kind == "int" and length:
                items.append(str(self.random.randint(-length, length - 1)))
            elif kind == "int":
                items.append(":")
            else:
                items.append(
                    {"all": ":", "tail": "1:", "reverse": "::-1", "step": "::2", "stop": ":-1"}[
                        kind
                    ]
                )
            if self.random.random() < 0.1:
                items.append("None")
        items.insert(
            self.random.randint(0, len(items)), "..."
        )  # NumPy: without, an element is a scalar
        return f"[{', '.join(items)}]"

    def operand(self):
        chance = self.random.random()
        if chance < 0.15:
            return str(self.random.choice([0, 1, 2, -1, 3]))
        name = self.pick()
        return name + (self.index(name) if chance < 0.35 else ".T" if chance < 0.45 else "")

    def axis(self, name):
        ndim = self.host[name].ndim
        choices = ["None", *(str(k) for k in range(-ndim, ndim))]
        if ndim > 1:
            choices.append("(0, -1)")
        return self.random.choice(choices)

    def value(self):
        r = self.random
        a, b, name = self.operand(), self.operand(), self.pick()
        whole = r.choice(["True", "False"])
        return r.choice([
            lambda: f"xp.add({a}, {b})",
            lambda: f"{name} - {b}",
            lambda: f"{name} * {b}",
            lambda: f"xp.maximum({name}, {b})",
            lambda: f"xp.minimum({name}, {b}) + {a}",
            lambda: f"xp.where({name} > {b}, {a}, {name})",
            lambda: f"abs({name}) * 2 - {b}",
            lambda: f"xp.floor({name} / 2) + {a}",
            lambda: f"{name} < {b}",
            lambda: f"{name}.astype('{r.choice(DTYPES[:6])}')",
            lambda: f"{name}.{r.choice(['sum', 'max', 'min', 'any'])}(axis={self.axis(name)}, keepdims={whole})",
            lambda: f"({name} + 1).sum(axis={self.axis(name)})",
            lambda: f"{name} - {name}.max(axis={self.axis(name)}, keepdims=True)",
            lambda: f"({name} * {name}).sum(axis={self.axis(name)}, keepdims=True) + {name}",
            lambda: f"xp.maximum({name}.max(axis=-1, keepdims=True) - {name}.min(axis=-1, keepdims=True), {name})",
            lambda: f"xp.argmax({name}, axis=-1)",
            lambda: f"xp.floor({name}.mean(axis=-1, keepdims=True)) + {a}",
            lambda: f"{name}.copy()",
        ])()  # fmt: skip

    def view(self):
        name = self.pick()
        return self.random.choice([
            lambda: name + self.index(name),
            lambda: name + self.index(name),
            lambda: f"{name}.T",
            lambda: f"{name}.reshape(-1)",
            lambda: f"xp.broadcast_to({name}, (2, *{name}.shape))",
        ])()  # fmt: skip

    def write(self):
        name = self.pick()
        target = name + (self.index(name) if self.random.random() < 0.7 else "[...]")
        return self.random.choice([
            lambda: f"{target} = {self.operand()}",
            lambda: f"{target} = {self.value()}",
            lambda: f"{target} += {self.operand()}",
            lambda: f"{target} -= {self.value()}",
            lambda: f"{target} *= {self.operand()}",
            lambda: f"xp.add({self.operand()}, {self.operand()}, out={name})",
            lambda: f"{target} -= {name}.max(axis=-1, keepdims=True)",
            lambda: f"xp.maximum({name}, {self.operand()}, out={name})",
        ])()  # fmt: skip

    # ---- statements ----

    def statement(self):
        kind = self.random.choices(["value", "view", "write", "drop", "look"], [8, 4, 6, 1, 1])[0]
        if kind == "drop" and len(self.names) > 3:
            name = self.pick()
            self.names.remove(name)
            self.run(f"del {name}")
        elif kind == "look":
            self.run(f"look({self.pick()!r})")
        elif kind == "write":
            self.run(self.write())
        elif kind in ("value", "view"):
            name = f"v{self.fresh}"
            self.fresh += 1
            if self.run(f"{name} = {self.value() if kind == 'value' else self.view()}"):
                # What NumPy gives as a scalar is an array here and there.
                self.host[name] = np.asarray(self.host[name])
                self.names.append(name)

    def run(self, line):
        self.lines.append(line)
        if line.startswith("look"):
            return True
        kept = {name: self.host[name].copy() for name in self.names if name in self.host}
        try:
            with np.errstate(all="ignore"):
                exec(line, self.host)
        except REFUSALS:
            for name, value in kept.items():  # NumPy may have written some elements
                if not np.array_equal(self.host[name], value):
                    self.lines.pop()
                    self.host[name][...] = value
                    return False
            self.errors.add(len(self.lines) - 1)
            return False
        self.keep_small()
        return True

    def keep_small(self):
        for name in self.names:
            value = self.host.get(name)
            if value is None or value.dtype.kind not in "fc" or not value.size:
                continue
            limit = LIMITS[value.dtype.str[1:]]
            if np.abs(value).max() > limit and value.flags.writeable and value.base is None:
                line = f"xp.clip({name}, {-limit}, {limit}, out={name})"
                exec(line, self.host)
                self.lines.append(line)
            elif np.abs(value).max() > limit:
                # A view of something: give it memory of its own.
                self.host[name] = np.clip(value, -limit, limit)
                self.lines.append(f"{name} = xp.clip({name}, {-limit}, {limit})")

    def text(self):
        head = [f"{k} = array({v.tolist()}, '{v.dtype}')" for k, v in self.inputs.items()]
        return "\n".join([*head, *self.lines])


def replay(program):
    """Runs a program on the device; an AssertionError with its text where it differs from NumPy."""
    mine = {"xp": td}
    host = {"xp": np}
    for name, value in program.inputs.items():
        mine[name], host[name] = td.asarray(value), value.copy()

    def look(name):
        try:
            got, want = td.asnumpy(mine[name]), host[name]
            assert got.dtype == want.dtype and got.shape == want.shape, (got.dtype, got.shape)
            np.testing.assert_array_equal(got, want)
        except AssertionError as error:
            raise AssertionError(f"{name} differs in\n{program.text()}\n{error}") from None

    for number, line in enumerate(program.lines):
        if line.startswith("look"):
            look(line[6:-2])
            continue
        if number in program.errors:
            try:
                exec(line, mine)
            except REFUSALS:  # two may apply, and nobody promises which comes first
                continue
            except Exception as error:
                raise AssertionError(f"{line!r} raises {error!r} in\n{program.text()}") from error
            raise AssertionError(f"{line!r} raises nothing in\n{program.text()}")
        with np.errstate(all="ignore"):
            exec(line, host)
        try:
            exec(line, mine)
        except Exception as error:
            raise AssertionError(f"{line!r} raises {error!r} in\n{program.text()}") from error
        name = line.split(" ")[0]
        if name in host and name.isidentifier():
            host[name] = np.asarray(host[name])
    for name in program.names:
        look(name)


@pytest.mark.filterwarnings("ignore:Mean of empty slice")
@pytest.mark.parametrize("fusion", [True, False])
@pytest.mark.parametrize("block", range(10))
def test_random_programs(block, fusion):
    with config.set(fusion=fusion):
        for seed in range(block, PROGRAMS, 10):
            replay(Program(seed))


if __name__ == "__main__":
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    failures = 0
    for seed in range(first, first + int(sys.argv[1])):
        try:
            replay(Program(seed))
        except AssertionError as problem:
            failures += 1
            print(f"---- program {seed}\n{problem}\n", flush=True)
    print(f"{failures} of {sys.argv[1]} programs differ (fusion {config.fusion})")
    sys.exit(failures > 0)
