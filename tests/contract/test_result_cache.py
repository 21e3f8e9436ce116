"""The contract of handler.core.ports.ResultCache, over every cache that ships, bare and guarded."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from handler.adapters.dynamodb_cache import DynamoDbCache
from handler.adapters.memory_cache import MemoryCache
from handler.core.breaker import GuardedCache
from handler.core.ports import CacheEntry, ResultCache
from tests.contract.conftest import TABLE
from tests.support.doubles import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

TTL_S = 60
PAYLOADS = (
    "[]",
    "[[[1,0.5,null]],[]]",
    '"quotes" and \\ back\\slashes',
    "守株待兔 👍 𠮷 é",
    "\n\t\u2028\x7f",
    "x" * 50_000,
)


@pytest.fixture
def clock() -> Clock:
    """The cache's own clock."""
    return Clock()


@pytest.fixture(params=["memory", "dynamodb on moto", "dynamodb on ministack"])
def bare(request: pytest.FixtureRequest, clock: Clock) -> ResultCache:
    """Each cache, empty."""
    if request.param == "memory":
        return MemoryCache(ttl_s=TTL_S, clock=clock)
    name = "moto_client" if "moto" in request.param else "ministack_client"
    client: DynamoDBClient = request.getfixturevalue(name)
    # Budgets of a busy machine: what they do is for the tests of faults.
    return DynamoDbCache(client, table=TABLE, ttl_s=TTL_S, read_ms=20_000, write_ms=20_000, clock=clock)


@pytest.fixture(params=[lambda cache: cache, GuardedCache], ids=["bare", "guarded"])
def cache(request: pytest.FixtureRequest, bare: ResultCache) -> ResultCache:
    """Each cache, as it is and behind the breaker."""
    wrap: Callable[[ResultCache], ResultCache] = request.param
    return wrap(bare)


def entries(count: int) -> dict[str, CacheEntry]:
    """Return so many entries, each with a payload of its own."""
    return {f"key {at}": CacheEntry(payload=f"[[[{at},0.5,null]],[]]", passes=1) for at in range(count)}


def payloads(written: dict[str, CacheEntry]) -> dict[str, str]:
    """Return what a read must give back."""
    return {key: entry.payload for key, entry in written.items()}


@pytest.mark.parametrize("count", [1, 2, 30, 130])
def test_read_gives_back_what_was_written(cache: ResultCache, count: int) -> None:
    """One entry, a few, and more than one call of any vendor takes."""
    written = entries(count)
    cache.write(written)

    assert payloads(written) == dict(cache.read(list(written)))


@pytest.mark.parametrize("payload", PAYLOADS)
def test_payload_comes_back_intact(cache: ResultCache, payload: str) -> None:
    """Quotes, Chinese, control characters and long payloads are kept to the character."""
    cache.write({"key": CacheEntry(payload=payload, passes=1)})

    assert {"key": payload} == dict(cache.read(["key"]))


@pytest.mark.parametrize("count", [1, 2, 130])
def test_read_leaves_out_unknown_keys(cache: ResultCache, count: int) -> None:
    """An unknown key is absent, whether asked for alone or among known ones."""
    cache.write(entries(1))

    assert dict(cache.read([f"unknown {at}" for at in range(count)])) == {}
    assert payloads(entries(1)) == dict(cache.read(["key 0", *(f"unknown {at}" for at in range(count))]))


@pytest.mark.parametrize("count", [1, 30])
def test_read_leaves_out_what_has_expired(cache: ResultCache, clock: Clock, count: int) -> None:
    """The expiry is compared on read: no server deletes in time."""
    written = entries(count)
    cache.write(written)

    clock.now += TTL_S - 1
    before = dict(cache.read(list(written)))
    clock.now += 1

    assert payloads(written) == before
    assert dict(cache.read(list(written))) == {}


def test_write_replaces_payload_and_expiry(cache: ResultCache, clock: Clock) -> None:
    """The last write counts, with a life of its own."""
    cache.write(entries(2))
    clock.now += TTL_S - 1
    cache.write({"key 1": CacheEntry(payload="new", passes=1)})
    clock.now += TTL_S - 1

    assert dict(cache.read(["key 0", "key 1"])) == {"key 1": "new"}


def test_write_and_read_of_nothing_do_nothing(cache: ResultCache) -> None:
    """An empty request is no call."""
    cache.write({})

    assert dict(cache.read([])) == {}


def test_an_oversize_entry_is_left_out_and_its_neighbours_are_kept(cache: ResultCache) -> None:
    """What no vendor takes (DynamoDB stops at 400 KB) is not kept, or kept whole, and harms nobody."""
    huge = "人" * 5_000_000
    cache.write({**entries(1), "huge": CacheEntry(payload=huge, passes=1)})
    found = dict(cache.read(["key 0", "huge"]))

    assert payloads(entries(1)) == {key: found[key] for key in found if key != "huge"}
    assert found.get("huge") in {None, huge}
