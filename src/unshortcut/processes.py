"""Child processes that end with their parent, however it ends."""

import multiprocessing
import os
import threading


def end_with_parent() -> None:
    """Watch the parent from now on, in a thread, and exit at once when it has been killed."""
    threading.Thread(target=_watch, daemon=True).start()


def _watch() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
