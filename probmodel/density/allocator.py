"""Keeping freed memory at hand between gradients.

A gradient allocates and frees the same few arrays at every call. The C library of Linux gives
freed memory beyond 128 KiB back to the system, so that every call pays for having its pages
mapped again: at 32 chains and 500 time steps that doubled the cost of a gradient. Letting the
process keep up to 64 MiB of freed memory removes it.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_KEPT = 64 * 1024 * 1024
_LARGEST = 16 * 1024 * 1024


@cache
def keep_freed_memory() -> bool:
    """Raise the allocator's thresholds, once a process; True if that was possible.

    Only the GNU C library has these settings; elsewhere nothing happens.
    """
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    return bool(mallopt(_M_TRIM_THRESHOLD, _KEPT)) and bool(mallopt(_M_MMAP_THRESHOLD, _LARGEST))
