"""Memory that is kept between the steps of a training on the CPU.

glibc gives large blocks back to the system when they are freed, and a training step frees and
asks for the same blocks again and again: the system then clears every page anew, which is a good
part of the step of a small network.
"""

import ctypes
import os

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # of glibc's malloc.h
_SETTINGS = ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "GLIBC_TUNABLES", "LD_PRELOAD")


def keep_freed_memory() -> bool:
    """Ask glibc to keep freed blocks of up to 1 GiB; whether it does.

    Another C library, another allocator, or a user's own settings are left as they are.
    """
    if any(name in os.environ for name in _SETTINGS):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):
        return False
    return bool(mallopt(_M_MMAP_THRESHOLD, 1 << 30) and mallopt(_M_TRIM_THRESHOLD, 2**31 - 1))
