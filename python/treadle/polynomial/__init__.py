"""Polynomials with the lowest power first: ``treadle.polynomial.polynomial``, and helpers in ``polyutils``."""

from . import polynomial, polyutils

__all__ = ["polynomial", "polyutils"]
