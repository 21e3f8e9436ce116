"""What the contract of caches leaves open: bytes, the order of forgetting, and threads."""

from __future__ import annotations

import random
import string
import threading
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handler.adapters.memory_cache import MemoryCache
from handler.core.ports import CacheEntry
from tests.support.doubles import Clock


def entry(payload: str) -> CacheEntry:
    """Return an entry."""
    return CacheEntry(payload=payload, passes=1)


@given(st.lists(st.tuples(st.text(min_size=1, max_size=3), st.text(max_size=400)), max_size=60), st.integers(400, 5000))
def test_size_never_exceeds_the_bound(writes: list[tuple[str, str]], max_bytes: int) -> None:
    """After every write the cache is within its bytes, whatever was overwritten, and counts nothing that is gone."""
    cache = MemoryCache(ttl_s=60, max_bytes=max_bytes)
    for key, payload in writes:
        cache.write({key: entry(payload)})

        assert 0 <= cache.size_bytes <= max_bytes
    held = cache.read([key for key, _ in writes])

    assert (cache.size_bytes > 0) == bool(held)


def test_size_is_that_of_python_itself() -> None:
    """The bytes that are counted are at least those that the interpreter takes for 20,000 entries."""
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    cache = MemoryCache(ttl_s=60, max_bytes=10**9)
    for at in range(20_000):
        cache.write({f"{at:064d}": entry("".join(["-", str(at) * 60]))})
    taken = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()

    assert taken <= cache.size_bytes
    assert cache.size_bytes <= taken * 1.5


def test_least_recently_used_goes_first() -> None:
    """Reading and writing make an entry recent; the one that was neither for longest is forgotten."""
    one = MemoryCache(ttl_s=60)
    one.write({"a": entry("x" * 100)})
    cache = MemoryCache(ttl_s=60, max_bytes=3 * one.size_bytes)
    for key in "abc":
        cache.write({key: entry("x" * 100)})

    cache.read(["a"])
    cache.write({"b": entry("y" * 100)})
    cache.write({"d": entry("x" * 100)})

    assert {"a", "b", "d"} == set(cache.read(list("abcd")))


@pytest.mark.parametrize("payload", ["", "x" * 399, "x" * 400, '{"text": "好𠮷\ud800"}' * 100])
def test_payload_comes_back_as_it_was(payload: str) -> None:
    """Short or compressed."""
    cache = MemoryCache(ttl_s=60)

    cache.write({"key": entry(payload)})

    assert cache.read(["key"]) == {"key": payload}


@pytest.mark.parametrize("key", ["new", "old"])
def test_an_entry_above_the_bound_is_not_kept_and_drives_nothing_else_out(key: str) -> None:
    """One huge answer does not empty the cache; where it would replace an entry, that one goes."""
    cache = MemoryCache(ttl_s=60, max_bytes=2000)
    cache.write({"old": entry("x"), "other": entry("x")})

    # Long payloads are compressed, and this one hardly can be.
    cache.write({key: entry("".join(random.Random(1).choices(string.ascii_letters, k=4000)))})

    assert {"old", "other"} - {key} == set(cache.read(["old", "other", "new"]))


def test_expired_entries_give_their_bytes_back() -> None:
    """Reading an expired entry frees it."""
    clock = Clock()
    cache = MemoryCache(ttl_s=60, clock=clock)
    cache.write({"key": entry("x")})
    clock.now += 60
    cache.read(["key"])

    assert cache.size_bytes == 0


def test_threads_do_not_break_the_books() -> None:
    """Eight threads that read and write at once leave a cache within its bound, with only what was written."""
    cache = MemoryCache(ttl_s=60, max_bytes=20_000)
    faults: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            for at in range(2000):
                key = str((at * seed) % 97)
                cache.write({key: entry(key * 20)})
                found = cache.read([key, str(at % 97)])
                assert all(payload == each * 20 for each, payload in found.items())
        except BaseException as error:  # noqa: BLE001 - handed to the test
            faults.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    held = cache.read([str(at) for at in range(97)])
    rebuilt = MemoryCache(ttl_s=60, max_bytes=20_000)
    rebuilt.write({key: entry(payload) for key, payload in held.items()})

    assert faults == []
    assert rebuilt.size_bytes == cache.size_bytes <= 20_000
