"""What all tests share: a cache of their own, and one import of torch for all two-rank tests."""

import multiprocessing
from collections.abc import Iterator

import pytest

# Before the first fork server starts; it imports these once, and every rank is a fork of it.
multiprocessing.set_forkserver_preload(["tests.two_ranks"])


@pytest.fixture(autouse=True, scope="session")
def cache_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Nothing of the user's cache is read or written."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UNSHORTCUT_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Ray's tests come last: its threads stay in the process, and forks beside them may hang."""
    items.sort(key=lambda item: item.path.name == "test_ray.py")
