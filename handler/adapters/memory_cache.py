"""The nearest cache: this process's own memory."""

from __future__ import annotations

import sys
import threading
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from handler.core.ports import CacheEntry

DEFAULT_MAX_BYTES: Final = 16 * 1024 * 1024  # about 35,000 answers with one blank; small beside the model
_LONG: Final = 400  # characters of a payload that is worth compressing; five candidates for one blank take some 200
_ENTRY_OVERHEAD_BYTES: Final = 200  # a slot of the dictionary, a pair and the time


class MemoryCache:
    """Keeps the most recently used payloads, within a number of bytes and for a number of seconds.

    A plain dictionary keeps the order of insertion, which makes it a list by use when what is used is put in anew; with
    keys as bytes an entry takes 60 % of what it takes in an OrderedDict of strings and objects.

    Args:
        ttl_s: seconds that a payload lives.
        max_bytes: of all payloads and keys, with Python's own overhead; the least recently used go first.
        clock: seconds, monotonic.
    """

    def __init__(
        self, *, ttl_s: float, max_bytes: int = DEFAULT_MAX_BYTES, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._ttl_s = ttl_s
        self._max_bytes = max_bytes
        self._clock = clock
        # Payload, compressed if it is bytes, and when it expires; the least recently used first.
        self._items: dict[bytes, tuple[str | bytes, float]] = {}
        self._size_bytes = 0
        self._lock = threading.Lock()  # the local server answers from several threads

    @property
    def size_bytes(self) -> int:
        """What the entries take now."""
        return self._size_bytes

    def read(self, keys: Sequence[str]) -> Mapping[str, str]:
        """See handler.core.ports.ResultCache."""
        now = self._clock()
        found: dict[str, str] = {}
        with self._lock:
            for key in keys:
                item = self._take(key)
                if item is not None and item[1] > now:
                    self._put(key, item)
                    found[key] = _unpacked(item[0])
        return found

    def write(self, entries: Mapping[str, CacheEntry]) -> None:
        """See handler.core.ports.ResultCache."""
        expires_at = self._clock() + self._ttl_s
        packed = {key: _packed(entry.payload) for key, entry in entries.items()}
        with self._lock:
            for key, payload in packed.items():
                self._take(key)
                self._put(key, (payload, expires_at))
            while self._size_bytes > self._max_bytes:
                oldest = next(iter(self._items))
                self._size_bytes -= _size_bytes(oldest, self._items.pop(oldest)[0])

    def _take(self, key: str) -> tuple[str | bytes, float] | None:
        item = self._items.pop(key.encode(), None)
        if item is not None:
            self._size_bytes -= _size_bytes(key.encode(), item[0])
        return item

    def _put(self, key: str, item: tuple[str | bytes, float]) -> None:
        size = _size_bytes(key.encode(), item[0])
        if size <= self._max_bytes:
            self._items[key.encode()] = item
            self._size_bytes += size


def _packed(payload: str) -> str | bytes:
    """Compress what is long: a few such answers take more than all others, and shrink to less than half."""
    return payload if len(payload) < _LONG else zlib.compress(payload.encode("utf-8", "surrogatepass"), level=1)


def _unpacked(payload: str | bytes) -> str:
    return payload if isinstance(payload, str) else zlib.decompress(payload).decode("utf-8", "surrogatepass")


def _size_bytes(key: bytes, payload: str | bytes) -> int:
    return sys.getsizeof(key) + sys.getsizeof(payload) + _ENTRY_OVERHEAD_BYTES
