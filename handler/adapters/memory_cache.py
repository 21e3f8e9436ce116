"""The nearest cache: this process's own memory."""

from __future__ import annotations

import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from handler.core.ports import CacheEntry

DEFAULT_MAX_BYTES = 16 * 1024 * 1024  # about 40,000 answers with one blank; small beside the model
_ENTRY_OVERHEAD_BYTES = 250  # dictionary slot, item and number objects


@dataclass(frozen=True, slots=True)
class _Item:
    payload: str
    expires_at: float
    size_bytes: int


class MemoryCache:
    """Keeps the most recently used payloads, within a number of bytes and for a number of seconds.

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
        self._items: OrderedDict[str, _Item] = OrderedDict()
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
                item = self._items.get(key)
                if item is None:
                    continue
                if item.expires_at <= now:
                    self._drop(key)
                    continue
                self._items.move_to_end(key)
                found[key] = item.payload
        return found

    def write(self, entries: Mapping[str, CacheEntry]) -> None:
        """See handler.core.ports.ResultCache."""
        expires_at = self._clock() + self._ttl_s
        with self._lock:
            for key, entry in entries.items():
                size = sys.getsizeof(key) + sys.getsizeof(entry.payload) + _ENTRY_OVERHEAD_BYTES
                self._drop(key)
                if size > self._max_bytes:
                    continue
                self._items[key] = _Item(entry.payload, expires_at, size)
                self._size_bytes += size
            while self._size_bytes > self._max_bytes:
                self._drop(next(iter(self._items)))

    def _drop(self, key: str) -> None:
        item = self._items.pop(key, None)
        if item is not None:
            self._size_bytes -= item.size_bytes
