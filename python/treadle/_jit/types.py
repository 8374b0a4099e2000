"""Types of kernels written in Python: Numba's names, its promotion, and their C++ spellings.

A type is immutable and compares by its name. ``float32[:, ::1]`` is a two-dimensional array in C order,
``void(int32, float32[:])`` a signature.
"""

import zlib

import numpy as np

from .. import _treadle


class Type:
    """A type. ``name`` is Numba's spelling, ``cpp`` the C++ one (None for what has no run-time value)."""

    cpp = None

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return self.name

    def __reduce_ex__(self, protocol):
        if KNOWN.get(self.name) is self:  # none and numbers: there is one of each
            return _known, (self.name,)
        return super().__reduce_ex__(protocol)

    def __eq__(self, other):
        return isinstance(other, Type) and self.name == other.name

    def __hash__(self):
        return hash(self.name)

    def __call__(self, *args):
        """A signature that returns this type; of a number, the number as this type."""
        number = len(args) == 1 and isinstance(args[0], (int, float, complex, np.number))
        if number and isinstance(self, Scalar):
            return self.dtype.type(args[0])
        if len(args) == 1 and isinstance(args[0], tuple):
            args = args[0]
        for a in args:
            if not isinstance(a, Type):
                raise TypeError(
                    f"{self.name}(…) makes a signature and takes types, not {a!r}; a kernel that wants to convert "
                    f"a value calls "
                    f"numpy.{self.name}(value)"
                )
        return Signature(self, args)

    def __getitem__(self, index):
        """An array of this type: ``[:]`` any layout, ``[::1]`` contiguous, ``[:, ::1]`` C order, ``[::1, :]`` F
        order.
        """
        items = index if isinstance(index, tuple) else (index,)
        if any(not isinstance(i, slice) or i.start or i.stop for i in items):
            raise TypeError(f"{self.name}[…] takes slices such as [:] or [:, ::1], not {index!r}")
        if len(items) > 0 and items[-1].step == 1:
            layout = "C"
        elif items[0].step == 1:
            layout = "F"
        else:
            layout = "A"
        if sum(i.step == 1 for i in items) > 1 or any(i.step not in (None, 1) for i in items):
            raise TypeError(
                f"{self.name}[…]: ::1 stands on the first or the last axis, once, not {index!r}"
            )
        return Array(self, len(items), layout)

    # What an operand of a kernel can be asked.
    is_number = is_integer = is_float = is_complex = is_boolean = is_array = is_tuple = False
    is_half = False  # float16 and bfloat16: computed in float32 and rounded once


class Scalar(Type):
    """bool, integers, floats, complex numbers, by NumPy dtype."""

    def __init__(self, name, dtype, cpp):
        super().__init__(name)
        self.dtype, self.cpp = np.dtype(dtype), cpp
        self._measure(self.dtype.kind, self.dtype.itemsize)

    def _measure(self, kind, itemsize):
        self.kind = kind
        self.is_boolean = kind == "b"
        self.is_integer = kind in "iu"
        self.is_float = kind == "f"
        self.is_complex = kind == "c"
        self.is_number = not self.is_boolean
        self.signed = kind == "i"
        self.bitwidth = 1 if kind == "b" else itemsize * 8
        self.is_half = kind == "f" and itemsize == 2

    @property
    def underlying_float(self):
        """The type of the parts of a complex number."""
        return float32 if self.bitwidth == 64 else float64

    def __call__(self, *args):
        """A signature of types; a number as this type."""
        if len(args) == 1 and isinstance(args[0], (bool, int, float, complex, np.generic)):
            return self.dtype.type(args[0])
        return super().__call__(*args)

    @property
    def rank(self):
        return "biufc".index(self.kind)

    @property
    def code(self):
        return self.kind + str(self.bitwidth)

    def nearest(self, value):
        """A known number as the Python float that a value of this type has."""
        return float(self.dtype.type(value))


class Bfloat16(Scalar):
    """The upper half of a float32. Its NumPy dtype is that of the package ml_dtypes, asked for when it is needed."""

    code = "bf16"

    def __init__(self):
        Type.__init__(self, "bfloat16")
        self.cpp = "tdpy::bfloat16"
        self._measure("f", 2)

    @property
    def dtype(self):
        return _treadle._dtype("bfloat16")

    def bits(self, value):
        """The 16 bits of the nearest bfloat16, rounded once."""
        if (
            isinstance(value, int) and value.bit_length() > 40
        ):  # the last of 40 bits tells what was cut off
            cut = value.bit_length() - 40
            value = (value >> cut | (value % 2**cut != 0)) << cut
        value = float(value)
        if value != value:
            return 0x7FFF
        with np.errstate(all="ignore"):
            single = np.float32(value)
        word = int(single.view(np.uint32))
        if abs(single) != np.inf and float(single) != value:  # the last bit tells what was cut off
            word = (word - (abs(value) < abs(float(single)))) | 1
        return (word + 0x7FFF + (word >> 16 & 1)) >> 16

    def nearest(self, value):
        return float(np.uint32(self.bits(value) << 16).view(np.float32))


class Array(Type):
    """Arrays by dtype, number of axes and layout ("C", "F" or "A": any strides)."""

    is_array = True

    def __init__(self, dtype, ndim, layout, readonly=False, aligned=True, space="global"):
        self.dtype, self.ndim, self.layout, self.mutable = dtype, ndim, layout, not readonly
        self.aligned = aligned or isinstance(dtype, Record)
        name = f"array({dtype}, {ndim}d, {layout})"
        if readonly:
            name = f"Array({dtype}, {ndim}, {layout!r}, True, aligned={self.aligned})"
        super().__init__(name if self.aligned or readonly else f"unaligned {name}")
        # What lies in memory: bytes where an element may stand anywhere.
        self.item_cpp = dtype.cpp
        if isinstance(dtype, Record):
            self.item_cpp = f"tdpy::record_bytes<{dtype.dtype.itemsize}>"
        elif not self.aligned:
            self.item_cpp = f"tdpy::loose<{dtype.cpp}>"
        self.pointer = f"const {self.item_cpp}" if readonly else self.item_cpp
        self.cpp = f"tdpy::array<{self.pointer}, {ndim}, '{layout}'>"

    def __str__(self):
        return self.name

    def __repr__(self):  # Numba's second spelling, with all that makes the type
        mutable, aligned = self.mutable, self.aligned
        return (
            f"Array({self.dtype}, {self.ndim}, {self.layout!r}, {not mutable}, aligned={aligned})"
        )

    @property
    def code(self):
        return f"{'a' if self.aligned else 'l'}{self.ndim}{self.layout}{self.dtype.code}"

    def with_layout(self, layout, ndim=None):
        ndim = self.ndim if ndim is None else ndim
        return Array(self.dtype, ndim, layout, not self.mutable, self.aligned)


class Tuple(Type):
    """Tuples; a named tuple keeps its class."""

    is_tuple = True

    def __init__(self, items, cls=None):
        self.types, self.cls = tuple(items), cls
        self.uniform = len(set(self.types)) == 1
        if cls is not None:
            kind = "NamedUniTuple" if self.uniform else "NamedTuple"
            inner = (
                f"{self.types[0]} x {len(self.types)}"
                if self.uniform
                else ", ".join(map(str, self.types))
            )
            name = f"{kind}({inner}, {cls.__name__})"
        elif self.uniform:
            name = f"UniTuple({self.types[0]} x {len(self.types)})"
        else:
            name = f"Tuple({', '.join(map(str, self.types))})"
        super().__init__(name)
        if self.uniform:
            self.cpp = f"tdpy::row<{self.types[0].cpp}, {len(self.types)}>"
        else:
            self.cpp = f"tdpy::tuple<{', '.join(t.cpp or 'tdpy::none' for t in self.types)}>"

    @property
    def code(self):
        return "t" + "".join(t.code for t in self.types)

    def __len__(self):
        return len(self.types)

    def __iter__(self):
        return iter(self.types)


def UniTuple(dtype, count):
    """A tuple of ``count`` values of one type."""
    return Tuple([dtype] * count)


class Record(Type):
    """One element of a structured array: a reference to its bytes."""

    is_record = True

    def __init__(self, dtype):
        self.dtype = np.dtype((np.void, np.dtype(dtype)))  # the same for a recarray
        super().__init__(f"Record({self.dtype!r})")
        self.cpp = f"tdpy::record<{self.dtype.itemsize}>"

    @property
    def code(self):
        return f"r{zlib.crc32(repr(self.dtype).encode()):x}"


class CharSequence(Type):
    """Elements of the dtypes S and U: a fixed count of characters, filled up with zeros."""

    def __init__(self, dtype):
        self.dtype = np.dtype(dtype)
        self.wide = self.dtype.kind == "U"
        self.count = self.dtype.itemsize // (4 if self.wide else 1)
        super().__init__(f"[{'unichr' if self.wide else 'char'} x {self.count}]")
        self.cpp = f"tdpy::chars<{'unsigned' if self.wide else 'unsigned char'}, {self.count}>"

    @property
    def code(self):
        return f"{self.dtype.kind}{self.count}"


class Time(Type):
    """datetime64 and timedelta64 of a unit: a count of units, NaT the smallest."""

    cpp = "long long"

    def __init__(self, dtype):
        self.dtype = np.dtype(dtype)
        self.is_date = self.dtype.kind == "M"
        super().__init__(str(self.dtype))

    @property
    def code(self):
        return "".join(ch for ch in self.name if ch.isalnum())


class EnumMember(Type):
    """A member of an Enum: its place among the members."""

    cpp = "long long"

    def __init__(self, cls):
        self.cls = cls
        members = ", ".join(f"{m.name}={m.value!r}" for m in cls)
        super().__init__(f"Enum({cls.__module__}.{cls.__qualname__}: {members})")

    @property
    def code(self):
        return f"e{zlib.crc32(self.name.encode()):x}"

    def place(self, member):
        """The number that stands for a member."""
        return list(self.cls).index(member)


class CPointer(Type):
    """The address of elements of a type, without a length: what C calls a pointer."""

    def __init__(self, dtype):
        self.dtype = dtype
        super().__init__(f"{dtype}*")
        self.cpp = f"{dtype.cpp}*"

    @property
    def code(self):
        return f"p{self.dtype.code}"


class Optional(Type):
    """A number or None."""

    def __init__(self, inner):
        self.inner = inner
        super().__init__(f"OptionalType({inner})")
        self.cpp = f"tdpy::optional<{inner.cpp}>"

    @property
    def code(self):
        return f"n{self.inner.code}"


class Opaque(Type):
    """What exists at compile time only: modules, functions, dtypes, strings."""

    code = "o"


class NoneType(Type):
    cpp = "tdpy::none"
    code = "n"


class Signature:
    """A return type and argument types; ``void(int32)`` or ``int32(float32, float32)``."""

    def __init__(self, return_type, args):
        self.return_type, self.args = return_type, tuple(args)

    def __repr__(self):
        return f"({', '.join(map(str, self.args))}) -> {self.return_type}"

    def __eq__(self, other):
        return isinstance(other, Signature) and (self.return_type, self.args) == (
            other.return_type,
            other.args,
        )

    def __hash__(self):
        return hash((self.return_type, self.args))


boolean = Scalar("bool", np.bool_, "bool")
int8 = Scalar("int8", np.int8, "signed char")
int16 = Scalar("int16", np.int16, "short")
int32 = Scalar("int32", np.int32, "int")
int64 = Scalar("int64", np.int64, "long long")
uint8 = Scalar("uint8", np.uint8, "unsigned char")
uint16 = Scalar("uint16", np.uint16, "unsigned short")
uint32 = Scalar("uint32", np.uint32, "unsigned")
uint64 = Scalar("uint64", np.uint64, "unsigned long long")
float16 = Scalar("float16", np.float16, "tdpy::half")
bfloat16 = Bfloat16()
float32 = Scalar("float32", np.float32, "float")
float64 = Scalar("float64", np.float64, "double")
complex64 = Scalar("complex64", np.complex64, "tdpy::complex<float>")
complex128 = Scalar("complex128", np.complex128, "tdpy::complex<double>")
none = NoneType("none")
void = none
unset = Type("undefined")

SCALARS = (
    boolean, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
    float16, bfloat16, float32, float64, complex64, complex128,
)  # fmt: skip
_BY_DTYPE = {t.dtype: t for t in SCALARS if t is not bfloat16}
KNOWN = {t.name: t for t in (none, unset, *SCALARS)}


def _known(name):
    return KNOWN[name]


signed_domain = frozenset([int8, int16, int32, int64])
unsigned_domain = frozenset([uint8, uint16, uint32, uint64])
integer_domain = signed_domain | unsigned_domain
real_domain = frozenset([float32, float64])
complex_domain = frozenset([complex64, complex128])
number_domain = real_domain | integer_domain | complex_domain

bool_ = b1 = boolean
i1, i2, i4, i8 = int8, int16, int32, int64
u1, u2, u4, u8 = uint8, uint16, uint32, uint64
f2, f4, f8, c8, c16 = float16, float32, float64, complex64, complex128
float_, double, intc, uintc, intp, uintp, byte = (
    float32,
    float64,
    int32,
    uint32,
    int64,
    uint64,
    uint8,
)
int_, uint, short, ushort, char, uchar = int64, uint64, int16, uint16, int8, uint8
long_, ulong, longlong, ulonglong = int64, uint64, int64, uint64


def layout_of(array):
    """ "C", "F" or "A": the layout of an array by its flags."""
    flags = array.flags
    return "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"


def from_dtype(dtype):
    """The type of one element of a NumPy dtype; TypeError for what kernels do not have."""
    dtype = np.dtype(dtype)
    found = _BY_DTYPE.get(dtype.newbyteorder("="))
    if found is not None and dtype.isnative:
        return found
    if dtype.kind == "V" and dtype.name == "bfloat16":
        return bfloat16
    if dtype.names is not None:
        return Record(dtype)
    if dtype.isnative and dtype.itemsize and dtype.kind in "SU":
        return CharSequence(dtype)
    if dtype.isnative and dtype.kind in "mM" and np.datetime_data(dtype)[0] != "generic":
        return Time(dtype)
    raise TypeError(
        f"kernels cannot take values of dtype {dtype}; they take bool, integers, float16/32/64, bfloat16, "
        f"complex64/128, dates, characters and records of them"
    )


def as_dtype(type_):
    """The NumPy dtype of a type's elements."""
    if isinstance(type_, Array):
        type_ = type_.dtype
    return type_.dtype


def promote(a, b):
    """The number that both fit in, by NumPy's table; for bfloat16 the smallest float that holds both."""
    if a == b:
        return a
    if bfloat16 in (a, b):
        other = b if a == bfloat16 else a
        if other in (boolean, int8, uint8):
            return bfloat16
        a, b = float32, other
    return from_dtype(np.promote_types(a.dtype, b.dtype))


def _optional(a, b):
    """The type of a number or None."""
    a, b = (t.inner if isinstance(t, Optional) else t for t in (a, b))
    inner = b if a is none else a if b is none else unify(a, b)
    return Optional(inner) if isinstance(inner, Scalar) else None


def unify(a, b):
    """The type of a variable that has type ``a`` on one path and ``b`` on another, or None."""
    if a == b:
        return a
    if a is unset:
        return b
    if b is unset:
        return a
    if isinstance(a, Scalar) and isinstance(b, Scalar):
        return promote(a, b)
    if Optional in (type(a), type(b)) or none in (a, b):
        return _optional(a, b)
    same = isinstance(a, Array) and isinstance(b, Array) and a.aligned == b.aligned
    if same and (a.dtype, a.ndim) == (b.dtype, b.ndim):
        if a.mutable == b.mutable:
            return a.with_layout("A")
        return Array(a.dtype, a.ndim, a.layout if a.layout == b.layout else "A", True, a.aligned)
    if isinstance(a, Tuple) and isinstance(b, Tuple) and len(a) == len(b):
        items = [unify(x, y) for x, y in zip(a.types, b.types)]
        if None not in items:
            return Tuple(items, a.cls if a.cls is b.cls else None)
    return None


signed_domain = frozenset([int8, int16, int32, int64])
unsigned_domain = frozenset([uint8, uint16, uint32, uint64])
integer_domain = signed_domain | unsigned_domain
real_domain = frozenset([float32, float64])
complex_domain = frozenset([complex64, complex128])
number_domain = integer_domain | real_domain | complex_domain
