"""Addresses of C functions of doubles: those of the C library, and the special ones of SciPy."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import NamedTuple


class CFunction(NamedTuple):
    """A C function that takes doubles, and maybe an integer after them, and returns a double."""

    address: int
    with_integer: bool


@cache
def c_library(name: str) -> CFunction:
    """Return a function of the C library's ``math.h``."""
    library = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)
    address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
    assert address is not None
    return CFunction(address, with_integer=False)


@cache
def scipy_special(name: str, arguments: int) -> CFunction:
    """Return a function of `scipy.special` of so many doubles, as machine code calls it."""
    from scipy.special import cython_special

    capsules = cython_special.__pyx_capi__
    signature = f"double ({'double, ' * arguments}int __pyx_skip_dispatch)".encode()
    api = ctypes.pythonapi
    name_of = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", api))
    pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", api)
    )
    # A function that takes other types too has one capsule for each.
    for candidate in (name, *(f"__pyx_fuse_{number}{name}" for number in range(4))):
        capsule = capsules.get(candidate)
        if capsule is not None and name_of(capsule) == signature:
            address = pointer_of(capsule, signature)
            assert address is not None
            return CFunction(address, with_integer=True)
    raise LookupError(f"SciPy publishes no {name} of {arguments} doubles")
