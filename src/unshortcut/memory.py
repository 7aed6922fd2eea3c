"""Memory that stays with the process between the batches of a training or an inference.

glibc gives large blocks back to the system when they are freed, and a network frees and allocates
the same blocks for every batch, so that the system clears every page again. Keeping them doubles
the speed of a ResNet-50 at 224 px (7.1 to 15.1 images a second on two cores).
"""

import ctypes
import os
from functools import cache

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # from glibc's malloc.h
_SETTINGS = ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "GLIBC_TUNABLES", "LD_PRELOAD")


@cache
def keep_freed_memory() -> bool:
    """Tell glibc to keep freed blocks of up to 1 GiB, once; returns whether it does.

    Nothing changes with another C library, another allocator, or settings of the user's own.
    """
    if any(name in os.environ for name in _SETTINGS):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):
        return False
    return bool(mallopt(_M_MMAP_THRESHOLD, 1 << 30) and mallopt(_M_TRIM_THRESHOLD, 2**31 - 1))
