"""DynamoDB as the cache that all environments share. Every call has a budget; every fault becomes a CacheError."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from itertools import islice
from threading import BoundedSemaphore, Thread
from typing import TYPE_CHECKING, Any, Final, TypeVar

from handler.core.errors import CacheUnavailableError
from handler.core.ports import CacheEntry

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

KEY: Final = "cache_key"
PAYLOAD: Final = "payload"
EXPIRES_AT: Final = "expires_at"  # seconds since 1970, the table's TTL attribute

WRITE_MS: Final = 100
_BATCH_GET: Final = 100  # DynamoDB's own limits for one call
_BATCH_WRITE: Final = 25
_ITEM_BYTES: Final = 400 * 1024 - 1024  # DynamoDB's limit for an item, less its other attributes

_Result = TypeVar("_Result")


def create_client(read_ms: int) -> DynamoDBClient:
    """Return a client that tries once and never outlives the budgets by much.

    Imports boto3 here, so that a function without a table never pays for it.

    Raises:
        CacheUnavailableError: there is no boto3, no region or no credentials.
    """
    try:
        import boto3
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError
    except ImportError as error:
        raise CacheUnavailableError(problem="boto3 is not installed") from error
    timeout_s = max(read_ms, WRITE_MS) / 1000
    config = Config(
        connect_timeout=timeout_s,
        read_timeout=timeout_s,
        retries={"total_max_attempts": 1},
        tcp_keepalive=True,
        max_pool_connections=_CALLS,
    )
    try:
        session = boto3.session.Session()
        if session.get_credentials() is None:
            raise CacheUnavailableError(problem="there are no AWS credentials")
        return session.client("dynamodb", config=config)
    except (BotoCoreError, ValueError) as error:  # ValueError: an endpoint that is no URL
        raise CacheUnavailableError(problem=f"no DynamoDB client ({type(error).__name__})") from error


_CALLS: Final = 4  # at a time. Lambda needs one, and another while a late call runs out; the local server a few more


class DynamoDbCache:
    """Reads and writes items of three attributes: key, payload (one JSON string) and expiry.

    Each call has a thread of its own, because a socket's timeout bounds each wait but not their sum, and no timeout
    bounds a name look-up: the caller waits for the budget and not a millisecond longer. The threads are daemons, so a
    server that never ends its answer cannot keep the process from ending.

    Args:
        client: a DynamoDB client.
        table: name or ARN.
        ttl_s: seconds that an item lives. DynamoDB deletes late, so the expiry is compared on every read.
        read_ms: budget of one read round trip.
        write_ms: budget of one write round trip.
        clock: seconds since 1970.
    """

    def __init__(
        self,
        client: DynamoDBClient,
        *,
        table: str,
        ttl_s: int,
        read_ms: int,
        write_ms: int = WRITE_MS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._client = client
        self._table = table
        self._ttl_s = ttl_s
        self._read_s = read_ms / 1000
        self._write_s = write_ms / 1000
        self._clock = clock
        self._free = BoundedSemaphore(_CALLS)

    def connect(self, budget_s: float) -> None:
        """Open the connection before the first request: one read of a key that nobody writes.

        Raises:
            CacheUnavailableError: the table did not answer within the budget.
        """
        self._within(budget_s, lambda: self._client.get_item(TableName=self._table, Key={KEY: {"S": "connect"}}))

    def read(self, keys: Sequence[str]) -> Mapping[str, str]:
        """See handler.core.ports.ResultCache. An item that this version did not write reads as an empty payload."""
        if len(keys) == 1:
            answer = self._within(
                self._read_s, lambda: self._client.get_item(TableName=self._table, Key={KEY: {"S": keys[0]}})
            )
            return self._alive([answer["Item"]] if "Item" in answer else [])
        found: dict[str, str] = {}
        for chunk in _chunks(keys, _BATCH_GET):
            request: Any = {self._table: {"Keys": [{KEY: {"S": key}} for key in chunk]}}
            batch = self._within(self._read_s, lambda: self._client.batch_get_item(RequestItems=request))  # noqa: B023
            # What DynamoDB left unprocessed is a miss: computing it again is cheaper than waiting.
            for items in batch.get("Responses", {}).values():
                found.update(self._alive(items))
        return found

    def write(self, entries: Mapping[str, CacheEntry]) -> None:
        """See handler.core.ports.ResultCache."""
        expires_at = str(int(self._clock()) + self._ttl_s)
        items: list[Any] = [
            {KEY: {"S": key}, PAYLOAD: {"S": entry.payload}, EXPIRES_AT: {"N": expires_at}}
            for key, entry in entries.items()
            if len(entry.payload.encode()) <= _ITEM_BYTES  # a larger one would have its whole batch refused
        ]
        if len(items) == 1:
            self._within(self._write_s, lambda: self._client.put_item(TableName=self._table, Item=items[0]))
            return
        for chunk in _chunks(items, _BATCH_WRITE):
            request: Any = {self._table: [{"PutRequest": {"Item": item}} for item in chunk]}
            answer = self._within(self._write_s, lambda: self._client.batch_write_item(RequestItems=request))  # noqa: B023
            if answer.get("UnprocessedItems"):
                raise CacheUnavailableError(problem="DynamoDB left items unwritten (throttled)")

    def _alive(self, items: Sequence[Mapping[str, Any]]) -> dict[str, str]:
        now = self._clock()
        alive: dict[str, str] = {}
        for item in items:
            key = item.get(KEY, {}).get("S")
            expires_at = item.get(EXPIRES_AT, {}).get("N", "")
            payload = item.get(PAYLOAD, {}).get("S", "")
            if not isinstance(key, str):
                continue
            if not expires_at.isdecimal():
                payload = ""  # not written by us: the reader of payloads counts it as a fault
            elif int(expires_at) <= now:
                continue
            alive[key] = payload
        return alive

    def _within(self, budget_s: float, call: Callable[[], _Result]) -> _Result:
        try:
            return self._started(call).result(timeout=budget_s)
        except Exception as error:
            # Everything, on purpose: whatever a cache does must end as a counted fault, never in an answer. That is
            # botocore's own errors, those of the code for HTTP, DNS and credentials beneath it, and the budget's end.
            raise CacheUnavailableError(problem=f"DynamoDB: {type(error).__name__}: {error}") from error

    def _started(self, call: Callable[[], _Result]) -> Future[_Result]:
        if not self._free.acquire(blocking=False):
            raise TimeoutError("earlier calls are still waiting")
        future: Future[_Result] = Future()

        def run() -> None:
            try:
                future.set_result(call())
            except BaseException as error:  # noqa: BLE001 - handed to whoever waits
                future.set_exception(error)
            finally:
                self._free.release()

        Thread(target=run, name="dynamodb", daemon=True).start()
        return future


_Item = TypeVar("_Item")


def _chunks(items: Sequence[_Item], size: int) -> Iterator[list[_Item]]:
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk
