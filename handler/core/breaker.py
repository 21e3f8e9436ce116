"""A cache that fails is left alone for a while (the circuit breaker of M. Nygard, Release It!, 2007)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from handler.core.errors import CacheError
from handler.core.ports import CacheEntry, ResultCache

_Result = TypeVar("_Result")


class GuardedCache:
    """Passes calls through until several fail in a row; then answers as an empty cache until a pause is over.

    After the pause one call is let through: its success closes the breaker, its failure begins the next pause.

    Args:
        cache: the cache that may fail.
        failures: how many in a row are enough.
        pause_s: seconds for which it is left alone.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        cache: ResultCache,
        *,
        failures: int = 3,
        pause_s: float = 30.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._cache = cache
        self._failures = failures
        self._pause_s = pause_s
        self._clock = clock
        self._failed_in_a_row = 0
        self._left_alone_until = 0.0

    def read(self, keys: Sequence[str]) -> Mapping[str, str]:
        """See handler.core.ports.ResultCache."""
        return self._guarded(lambda: self._cache.read(keys)) or {}

    def write(self, entries: Mapping[str, CacheEntry]) -> None:
        """See handler.core.ports.ResultCache."""
        self._guarded(lambda: self._cache.write(entries))

    def trip(self) -> None:
        """Leave the cache alone from now on, as after its failures: its first connection did not come about."""
        self._failed_in_a_row = self._failures
        self._left_alone_until = self._clock() + self._pause_s

    def _guarded(self, call: Callable[[], _Result]) -> _Result | None:
        if self._clock() < self._left_alone_until:
            return None
        try:
            result = call()
        except CacheError:
            self._failed_in_a_row += 1
            if self._failed_in_a_row >= self._failures:
                self._left_alone_until = self._clock() + self._pause_s
            raise
        self._failed_in_a_row = 0
        return result
