"""Kernels written in Python: ``cuda.jit``.

A Python function is read as a syntax tree, its types are followed statement by statement, and it is printed as CUDA C++
text (``tables`` of operations, one text for both devices) that goes through the one kernel pipeline. Python's meaning
of
an operation, corner cases first, stands in ``src/kernels/python.cuh``.

``types``      what values can be; Numba's names and rules of promotion
``capture``    the syntax tree and the frozen globals of a function
``compiler``   one function for one list of argument types -> text
``dispatcher`` ``jit``, signatures, launches
"""
