"""Claims of the papers as experiments that anyone can run: `unshortcut reproduce`."""

from unshortcut.reproduction.claim import all_claims
from unshortcut.reproduction.outcome import Reproduction
from unshortcut.reproduction.run import reproduce

__all__ = ["Reproduction", "all_claims", "reproduce"]
