"""The breaker around a cache that fails."""

from __future__ import annotations

import pytest

from handler.adapters.memory_cache import MemoryCache
from handler.core.breaker import GuardedCache
from handler.core.errors import CacheUnavailableError
from handler.core.ports import CacheEntry, ResultCache
from tests.support.doubles import Clock, FailingCache, RecordingCache

ENTRY = {"key": CacheEntry(payload="[]", passes=1)}


def fail(guarded: GuardedCache, times: int) -> None:
    """Read so often, each time in vain."""
    for _ in range(times):
        with pytest.raises(CacheUnavailableError):
            guarded.read(["key"])


def guard(cache: ResultCache, clock: Clock) -> GuardedCache:
    """Return a breaker of three failures and thirty seconds."""
    return GuardedCache(cache, failures=3, pause_s=30, clock=clock)


def test_breaker_leaves_the_cache_alone_after_failures_in_a_row() -> None:
    """After the third failure no call reaches the cache, and reads are misses instead of errors."""
    cache, clock = FailingCache(), Clock()
    guarded = guard(cache, clock)
    fail(guarded, 3)

    clock.now += 29.9
    guarded.write(ENTRY)

    assert guarded.read(["key"]) == {}
    assert cache.calls == 3


def test_breaker_tries_once_after_the_pause_and_pauses_again_when_that_fails() -> None:
    """A table that is still down costs one call for each pause."""
    cache, clock = FailingCache(), Clock()
    guarded = guard(cache, clock)
    fail(guarded, 3)

    clock.now += 30
    fail(guarded, 1)
    clock.now += 29.9

    assert guarded.read(["key"]) == {}
    assert cache.calls == 4


def test_breaker_closes_when_the_call_after_the_pause_succeeds() -> None:
    """A table that is back is used again, and three new failures are needed to leave it alone."""
    inner, clock = RecordingCache(MemoryCache(ttl_s=1000)), Clock()
    guarded = guard(inner, clock)
    guarded.trip()
    guarded.write(ENTRY)

    clock.now += 30
    guarded.write(ENTRY)

    assert guarded.read(["key"]) == {"key": "[]"}
    assert len(inner.writes) == 1


def test_breaker_counts_only_failures_in_a_row() -> None:
    """A success in between starts the count anew."""

    class Flaky(FailingCache):
        def read(self, keys: object) -> dict[str, str]:
            self.calls += 1
            if self.calls % 3 == 0:
                return {}
            raise CacheUnavailableError(problem="on purpose")

    cache = Flaky()
    guarded = guard(cache, Clock())
    for _ in range(10):
        fail(guarded, 2)
        guarded.read(["key"])

    assert cache.calls == 30


def test_trip_leaves_the_cache_alone_at_once() -> None:
    """A table whose first connection failed during init does not cost the first requests their budget."""
    cache, clock = FailingCache(), Clock()
    guarded = guard(cache, clock)
    guarded.trip()

    assert guarded.read(["key"]) == {}
    assert cache.calls == 0

    clock.now += 30
    fail(guarded, 1)
    guarded.read(["key"])

    assert cache.calls == 1
