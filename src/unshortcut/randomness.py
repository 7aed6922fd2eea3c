"""Keyed randomness: every random choice comes from a generator named by its key.

Philox is counter-based, so a generator for (seed, epoch, sample index) costs microseconds and
depends on no numbers sampled before it: not on the number of workers, not on where a run
was interrupted.
"""

import hashlib
import struct

import numpy as np
import torch

Key = int | str
Rng = np.random.Generator


def key_bits(*key: Key) -> int:
    """128 bits that identify a key; ints and strings of any length, order and type matter."""
    digest = hashlib.blake2b(digest_size=16)
    for part in key:
        if isinstance(part, str):
            text = part.encode()
            digest.update(b"s" + struct.pack("<q", len(text)) + text)
        else:
            digest.update(b"i" + struct.pack("<q", part))
    return int.from_bytes(digest.digest(), "little")


def generator(*key: Key) -> Rng:
    """A NumPy generator for a key, e.g. `generator(seed, epoch, index, "query")`."""
    return np.random.Generator(np.random.Philox(key=key_bits(*key)))


def torch_seed(*key: Key) -> int:
    """A seed for torch's generators: the lower 63 bits of the key."""
    return key_bits(*key) & (2**63 - 1)


def torch_generator(*key: Key) -> torch.Generator:
    """A CPU generator for a key; the same numbers on every rank that asks with the same key."""
    return torch.Generator().manual_seed(torch_seed(*key))
