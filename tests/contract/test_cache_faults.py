"""Whatever the shared cache does, the answer is the uncached one, in time, and the fault is counted."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from moto import mock_aws

from handler.adapters.dynamodb_cache import EXPIRES_AT, KEY, PAYLOAD, DynamoDbCache, create_client
from handler.adapters.memory_cache import MemoryCache
from handler.core.breaker import GuardedCache
from handler.core.errors import CacheUnavailableError
from handler.core.ports import CacheEntry
from tests.contract.conftest import TABLE
from tests.support import embedded, ministack, servers
from tests.support.doubles import Clock, RecordingCache

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ONE: dict[str, Any] = {"text": "今天天气真[MASK]啊。"}
TWO: dict[str, Any] = {"texts": ["今天天气真[MASK]啊。", "床前明[MASK]光"]}
READ_MS = 10
BUDGET_S = 10.0  # what no failing server may cost: each call has 10 or 100 ms, and the machine may be busy
PATIENT_MS = 20_000
UNPROCESSED = json.dumps({"UnprocessedKeys": {TABLE: {"Keys": []}}, "UnprocessedItems": {TABLE: [{}]}}).encode()


def numbers(payload: dict[str, Any], cache: DynamoDbCache | GuardedCache | None = None) -> tuple[list[Any], int]:
    """Answer a request; return all scores and the number of faults that were counted."""
    # Every answer is worth a write, so that reading and writing are both tried.
    answer = embedded.fill(embedded.service(shared=cache, admit_after=1), payload)
    return [embedded.scores(result) for result in answer.results], answer.cache_faults


def cache_at(
    address: str, monkeypatch: pytest.MonkeyPatch, *, table: str = TABLE, patient: bool = False
) -> DynamoDbCache:
    """Return a cache on a server, with the budgets by default or, where calls are counted, with patience."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", address)
    if patient:
        return patient_cache(create_client(PATIENT_MS))
    return DynamoDbCache(create_client(READ_MS), table=table, ttl_s=60, read_ms=READ_MS)


def patient_cache(client: DynamoDBClient, clock: Callable[[], float] = time.time) -> DynamoDbCache:
    """Return a cache that waits as long as a busy machine may need."""
    return DynamoDbCache(client, table=TABLE, ttl_s=60, read_ms=PATIENT_MS, write_ms=PATIENT_MS, clock=clock)


@pytest.mark.parametrize("payload", [ONE, TWO], ids=["one text", "two texts"])
@pytest.mark.parametrize(
    "server",
    [
        servers.silent,
        servers.dripping,
        servers.refusing(400, "ProvisionedThroughputExceededException"),
        servers.refusing(400, "ResourceNotFoundException"),
        servers.refusing(500, "InternalServerError"),
        servers.replying(503, b""),
    ],
    ids=["silent", "dripping", "throttling", "no table", "broken", "overloaded"],
)
def test_answer_is_the_uncached_one_when_the_server_fails(
    server: servers.Server, payload: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that fails costs its budgets; the numbers are those without a cache, and both calls count as faults."""
    expected, _ = numbers(payload)
    with server() as listener:
        cache = cache_at(listener.address, monkeypatch)
        start = time.monotonic()
        actual, faults = numbers(payload, cache)
        elapsed_s = time.monotonic() - start

    assert expected == actual
    assert faults == 2
    assert elapsed_s < BUDGET_S


@pytest.mark.parametrize("payload", [ONE, TWO], ids=["one text", "two texts"])
@pytest.mark.parametrize(
    "body",
    [
        *(b"<html>not what you think</html>", b"{}", b"[]", b"", b'{"Item": 5}', b'{"Item": {}}'),
        b'{"Item": {"cache_key": {"N": "5"}}}',
        b'{"Item": {"cache_key": {"S": "another"}, "payload": {"S": "[]"}, "expires_at": {"N": "99999999999"}}}',
        b'{"Responses": {"any": [{}, {"cache_key": {"S": "another"}, "expires_at": {"N": "99999999999"}}]}}',
    ],
)
def test_answer_is_the_uncached_one_when_the_server_speaks_something_else(
    body: bytes, payload: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a server that is no DynamoDB says with a good status, nothing of it enters the answer."""
    with servers.replying(200, body)() as listener:
        actual, _ = numbers(payload, cache_at(listener.address, monkeypatch, patient=True))

        assert listener.connections == 2
    assert numbers(payload)[0] == actual


@pytest.mark.parametrize("address", ["refused", "http://no-such-host.invalid:8000"])
def test_answer_is_the_uncached_one_when_nobody_listens(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refused connection and a name that nobody knows are faults like any other."""
    expected, _ = numbers(ONE)
    target = f"http://127.0.0.1:{ministack.free_port()}" if address == "refused" else address

    assert (expected, 2) == numbers(ONE, cache_at(target, monkeypatch))


def test_answer_is_the_uncached_one_when_the_table_is_absent(
    ministack_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real server without the table refuses by name, which is a fault."""
    expected, _ = numbers(TWO)

    assert (expected, 2) == numbers(TWO, cache_at(ministack_address, monkeypatch, table="no-such-table"))


def test_answer_is_the_uncached_one_when_items_are_left_unprocessed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys that DynamoDB leaves out of a batch are misses; items that it leaves out are a fault, never a retry."""
    expected, _ = numbers(TWO)
    with servers.replying(200, UNPROCESSED)() as listener:
        actual = numbers(TWO, cache_at(listener.address, monkeypatch, patient=True))

        assert (expected, 1) == actual
        assert listener.connections == 2


ALIVE = {"N": "99999999999"}


@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {EXPIRES_AT: ALIVE},
        {PAYLOAD: {"S": "[[],[]]"}},
        {PAYLOAD: {"S": ""}, EXPIRES_AT: ALIVE},
        {PAYLOAD: {"S": "[[[[1,0.5,null]]],[]]"}, EXPIRES_AT: ALIVE},
        {PAYLOAD: {"S": "not ours"}, EXPIRES_AT: ALIVE},
        {PAYLOAD: {"S": "[[[[5,0.9"}, EXPIRES_AT: ALIVE},
        {PAYLOAD: {"N": "5"}, EXPIRES_AT: ALIVE},
        {PAYLOAD: {"B": b"[]"}, EXPIRES_AT: ALIVE},
        {PAYLOAD: {"M": {"S": {"S": "[]"}}}, EXPIRES_AT: ALIVE},
        {PAYLOAD: {"NULL": True}, EXPIRES_AT: ALIVE},
        {PAYLOAD: {"S": "[[],[]]"}, EXPIRES_AT: {"S": "tomorrow"}},
        {PAYLOAD: {"S": "[[],[]]"}, EXPIRES_AT: {"N": "-1"}},
        {PAYLOAD: {"S": "[[],[]]"}, EXPIRES_AT: {"N": "1.5"}},
        {PAYLOAD: {"S": "[[],[]]"}, EXPIRES_AT: {"L": []}},
    ],
)
@pytest.mark.parametrize("payload", [ONE, TWO], ids=["one text", "two texts"])
def test_answer_is_the_uncached_one_when_an_item_is_corrupt(
    payload: dict[str, Any], attributes: dict[str, Any], moto_client: DynamoDBClient
) -> None:
    """What this version did not write counts as a fault, is computed anew and put right."""
    expected, _ = numbers(payload)
    cache = RecordingCache(patient_cache(moto_client))
    service = embedded.service(shared=cache, admit_after=1)
    embedded.fill(service, payload)
    for key in cache.writes[0]:
        moto_client.put_item(TableName=TABLE, Item={KEY: {"S": key}, **attributes})

    answer = embedded.fill(service, payload)
    again = embedded.fill(service, payload)

    assert expected == [embedded.scores(result) for result in answer.results]
    assert answer.cache_faults == len(cache.writes[0])
    assert (0, len(again.results)) == (again.cache_faults, again.cache_hits)


def test_answer_is_the_uncached_one_when_the_item_has_expired(moto_client: DynamoDBClient) -> None:
    """An expired item that the server has not deleted yet is a miss, and no fault."""
    expected, _ = numbers(ONE)
    clock = Clock()
    cache = patient_cache(moto_client, clock)
    service = embedded.service(shared=cache, admit_after=1)
    embedded.fill(service, ONE)

    clock.now += 60
    answer = embedded.fill(service, ONE)

    assert expected == [embedded.scores(result) for result in answer.results]
    assert (answer.cache_faults, answer.cache_hits) == (0, 0)


def test_answer_from_the_table_equals_the_uncached_one(moto_client: DynamoDBClient) -> None:
    """Through the table and back no digit changes, in an environment that has not seen the text."""
    cache = patient_cache(moto_client)
    expected, _ = numbers(TWO)
    numbers(TWO, cache)
    answer = embedded.fill(embedded.service(shared=cache, local=MemoryCache(ttl_s=60)), TWO)

    assert expected == [embedded.scores(result) for result in answer.results]
    assert answer.cache_hits == 2


@pytest.mark.parametrize("server", [servers.silent, servers.dripping])
def test_read_takes_no_longer_than_its_budget(server: servers.Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """With 10 ms to answer, many reads in a row of a server that never does are over at once, connections or not."""
    with server() as listener:
        cache = cache_at(listener.address, monkeypatch)
        for _ in range(12):
            start = time.monotonic()
            with pytest.raises(CacheUnavailableError):
                cache.read(["key"])

            assert time.monotonic() - start < BUDGET_S
        assert listener.connections <= 4


def test_process_ends_while_a_call_still_hangs() -> None:
    """A server that never ends its answer cannot keep a process from ending."""
    program = (
        "from handler.adapters.dynamodb_cache import DynamoDbCache, create_client\n"
        "from handler.core.errors import CacheUnavailableError\n"
        "cache = DynamoDbCache(create_client(10), table='table', ttl_s=1, read_ms=10)\n"
        "try:\n    cache.read(['key'])\nexcept CacheUnavailableError:\n    print('fault')\n"
    )
    with servers.dripping() as listener:
        environment = {
            "AWS_ENDPOINT_URL_DYNAMODB": listener.address,
            "AWS_DEFAULT_REGION": "eu-central-1",
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
        }
        ended = subprocess.run(
            [sys.executable, "-c", program], env=environment, timeout=15, capture_output=True, text=True, check=False
        )

    assert (ended.returncode, ended.stdout) == (0, "fault\n")


def test_breaker_leaves_a_failing_table_alone_and_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three calls reach a table that fails; then none for the pause, and one after it."""
    clock = Clock()
    with servers.refusing(400, "ProvisionedThroughputExceededException")() as listener:
        guarded = GuardedCache(
            cache_at(listener.address, monkeypatch, patient=True), failures=3, pause_s=30, clock=clock
        )
        faults = [numbers(ONE, guarded)[1] for _ in range(5)]

        assert faults == [2, 1, 0, 0, 0]
        assert listener.connections == 3

        clock.now += 30

        assert numbers(ONE, guarded)[1] == 1
        assert numbers(ONE, guarded)[1] == 0
        assert listener.connections == 4


def test_breaker_uses_a_table_again_that_is_back() -> None:
    """A table that was absent and then made is read and written after the pause."""
    clock = Clock()
    with mock_aws():
        client = create_client(1000)
        cache = patient_cache(client)
        guarded = GuardedCache(cache, failures=2, pause_s=30, clock=clock)
        before = numbers(ONE, guarded)
        ministack.make_table(client, TABLE)
        paused = numbers(ONE, guarded)
        clock.now += 30
        numbers(ONE, guarded)
        answer = embedded.fill(embedded.service(shared=guarded), ONE)

    assert (before[1], paused[1]) == (2, 0)
    assert (answer.cache_hits, answer.cache_faults) == (1, 0)


def test_write_keeps_the_other_items_of_a_batch_with_an_oversize_one(moto_client: DynamoDBClient) -> None:
    """One item above DynamoDB's 400 KB would have its whole batch refused; it is left out instead."""
    cache = patient_cache(moto_client)
    cache.write({"small": CacheEntry(payload="[]", passes=1), "large": CacheEntry(payload="x" * 500_000, passes=1)})

    assert dict(cache.read(["small", "large"])) == {"small": "[]"}
