"""The caches in their order: what goes where, and when an answer is worth a write to the shared one."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handler.adapters.memory_cache import MemoryCache
from handler.core.cache_chain import CacheChain, SightCounter
from handler.core.ports import CacheEntry
from tests.support.doubles import FailingCache, RecordingCache

KEYS = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=60)


class Forgetful:
    """A process memory that a test can make forget, as if everything had been evicted."""

    def __init__(self) -> None:
        self.cache = MemoryCache(ttl_s=1000)

    def read(self, keys: Sequence[str]) -> Mapping[str, str]:
        """See handler.core.ports.ResultCache."""
        return self.cache.read(keys)

    def write(self, entries: Mapping[str, CacheEntry]) -> None:
        """See handler.core.ports.ResultCache."""
        self.cache.write(entries)


def memory() -> RecordingCache:
    """Return a cache of which the calls are noted."""
    return RecordingCache(MemoryCache(ttl_s=1000))


def ask(chain: CacheChain, key: str, passes: int = 1) -> str | None:
    """Look a key up as a request does, storing its payload on a miss; return what was found."""
    found = chain.lookup([key]).payloads.get(key)
    if found is None:
        chain.store({key: CacheEntry(payload=f"payload of {key}", passes=passes)})
    return found


@given(KEYS, st.integers(1, 5), st.sets(st.integers(0, 59)))
def test_chain_writes_single_pass_answers_to_the_shared_cache_on_the_nth_sight(
    keys: list[str], admit_after: int, forgotten: set[int]
) -> None:
    """Whether memory knew a key or had forgotten it, its payload is shared on just the sight that the setting names."""
    shared, local = memory(), Forgetful()
    chain = CacheChain(local=local, shared=shared, admit_after=admit_after)
    seen: Counter[str] = Counter()
    for at, key in enumerate(keys):
        if at in forgotten:
            local.cache = MemoryCache(ttl_s=1000)
        seen[key] += 1
        ask(chain, key)
        written = {name for write in shared.writes for name in write}

        assert (key in written) == (seen[key] >= admit_after)
    assert all(payload == f"payload of {key}" for write in shared.writes for key, payload in write.items())
    assert len(shared.writes) == len({name for write in shared.writes for name in write})


def test_chain_shares_answers_of_several_passes_at_once() -> None:
    """What was dear to compute is kept for everybody on the first sight."""
    shared = memory()
    ask(CacheChain(local=memory(), shared=shared, admit_after=2), "key", passes=2)

    assert shared.writes == [{"key": "payload of key"}]


@pytest.mark.parametrize("admit_after", [1, 2, 255])
def test_chain_writes_a_key_to_the_shared_cache_once(admit_after: int) -> None:
    """However often a template comes while memory holds it, the shared cache is written once."""
    shared = memory()
    chain = CacheChain(local=memory(), shared=shared, admit_after=admit_after)
    for _ in range(600):
        ask(chain, "key")

    assert len(shared.writes) == 1


def test_chain_does_not_write_back_what_the_shared_cache_gave() -> None:
    """A precomputed answer costs each environment one read and no write."""
    shared = memory()
    shared.write({"key": CacheEntry(payload="precomputed", passes=1)})
    shared.writes.clear()
    chain = CacheChain(local=memory(), shared=shared, admit_after=2)

    assert [ask(chain, "key") for _ in range(5)] == ["precomputed"] * 5
    assert shared.reads == [("key",)]
    assert shared.writes == []


def test_chain_asks_the_shared_cache_only_for_what_memory_lacks() -> None:
    """One lookup of several keys costs one shared read, of the unknown ones."""
    shared = memory()
    chain = CacheChain(local=memory(), shared=shared, admit_after=9)
    ask(chain, "known")

    chain.lookup(["known", "new", "newer"])

    assert shared.reads[-1] == ("new", "newer")


def test_chain_serves_another_environment_through_the_shared_cache() -> None:
    """What one environment shared another one reads."""
    shared = memory()
    ask(CacheChain(local=memory(), shared=shared, admit_after=1), "key")

    assert ask(CacheChain(local=memory(), shared=shared, admit_after=1), "key") == "payload of key"


def test_chain_retries_a_failed_write_on_the_next_sight() -> None:
    """An answer that the table did not take is offered again, as often as it is seen."""
    shared = FailingCache()
    chain = CacheChain(local=memory(), shared=shared, admit_after=1)
    for _ in range(3):
        ask(chain, "key")

    assert shared.calls == 1 + 3  # a read, and a write for each sight


def test_chain_counts_every_failure_and_answers() -> None:
    """Two caches that fail are two faults a step, never an exception."""
    chain = CacheChain(local=FailingCache(), shared=FailingCache(), admit_after=1)

    lookup = chain.lookup(["key"])

    assert (lookup.faults, dict(lookup.payloads)) == (2, {})
    assert chain.store({"key": CacheEntry(payload="payload", passes=1)}) == 2


def test_chain_without_caches_finds_and_keeps_nothing() -> None:
    """With the cache off nothing is looked up and nothing fails."""
    chain = CacheChain(local=None, shared=None, admit_after=1)

    assert chain.store({"key": CacheEntry(payload="payload", passes=1)}) == 0
    assert chain.lookup(["key"]).payloads == {}


def test_sight_counter_never_counts_too_low_and_never_grows() -> None:
    """In a fixed size, a key's count is at least its sights until the counter fades."""
    counter = SightCounter()
    before = len(pickle.dumps(counter))
    sights: Counter[str] = Counter()
    for at in range(20_000):
        key = str(at % 7000)
        sights[key] += 1

        assert counter.see(key) >= sights[key]
    assert all(counter.count(key) >= seen for key, seen in sights.items())
    for at in range(200_000):
        counter.see(f"other {at}")

    assert len(pickle.dumps(counter)) <= before + 8


def test_sight_counter_fades() -> None:
    """What was frequent long ago does not stay frequent for ever."""
    counter = SightCounter()
    for _ in range(8):
        counter.see("old")
    for at in range(20 * 65_536):
        counter.see(f"new {at % 50}")

    assert counter.count("old") < 8


def test_sight_counter_stops_at_its_top() -> None:
    """A key seen ten thousand times does not overflow its byte."""
    counter = SightCounter()

    assert [counter.see("key") for _ in range(10_000)][-3:] == [255] * 3
