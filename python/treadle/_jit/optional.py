"""Values that are a number or None: a name that one path sets to None and another to a number.

``is None`` and truth ask whether there is a number; every other use takes it as given.
"""

from . import types as ty
from .values import Value

_TEXT = """namespace tdpy {
// A number, or none.
template <class T>
struct optional {
  bool has;
  T value;
};
}  // namespace tdpy"""


def need(c, type_):
    """Puts the C++ type in front of the kernel, if it is one of these."""
    if isinstance(type_, ty.Optional):
        c.unit.need(_TEXT)


def given(value):
    """The number of a value that may be none."""
    if isinstance(value.type, ty.Optional):
        return Value(value.type.inner, f"{value.code}.value")
    return value


def present(value):
    """True when there is a number."""
    return Value(ty.boolean, f"{value.code}.has")


def made(c, value, type_):
    """A value of an optional type of a number, of None or of another optional value."""
    need(c, type_)
    if value.type is ty.none:
        return Value(type_, f"{type_.cpp}{{}}")
    value = c.keep(value)
    has = present(value).code if isinstance(value.type, ty.Optional) else "true"
    return Value(type_, f"{type_.cpp}{{{has}, {c.convert(given(value), type_.inner).code}}}")
