"""The caches in their order, and the only place where a cache's failure is met: it is counted and ignored."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from handler.core.errors import CacheError
from handler.core.ports import CacheEntry, ResultCache

_COUNTERS = 65_536  # one byte each
_TOP = 255

# First character of a payload in process memory: whether the shared cache has it as well.
_SHARED = "+"
_OWN = "-"


class SightCounter:
    """Counts how often keys were seen, in a fixed size.

    Keys share counters by hash, so a count may be too high (a template is then kept a sight earlier), never too low.
    When the sights outnumber the counters all are halved, so that what was frequent last week fades.
    """

    def __init__(self) -> None:
        self._counts = bytearray(_COUNTERS)
        self._sights = 0

    def see(self, key: str) -> int:
        """Take note of one sight and return how many there were, this one included."""
        slot = _slot(key)
        self._counts[slot] = min(_TOP, self._counts[slot] + 1)
        self._sights += 1
        if self._sights > _COUNTERS:
            self._counts = bytearray(count >> 1 for count in self._counts)
            self._sights = 0
        return self._counts[slot]

    def count(self, key: str) -> int:
        """Return the number of sights so far."""
        return self._counts[_slot(key)]


def _slot(key: str) -> int:
    return zlib.crc32(key.encode()) % _COUNTERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """What the caches knew, and how many of them failed on the way."""

    payloads: Mapping[str, str]
    faults: int


class CacheChain:
    """Process memory first, then the cache that all environments share.

    Args:
        local: costs nothing; takes everything.
        shared: costs a round trip; takes answers of several passes at once, others once they were seen often enough.
        admit_after: sights after which a single-pass answer is worth a write to the shared cache.
    """

    def __init__(self, *, local: ResultCache | None, shared: ResultCache | None, admit_after: int) -> None:
        self._local = local
        self._shared = shared
        self._admit_after = admit_after
        self._sights = SightCounter()

    @property
    def keeps(self) -> bool:
        """Whether there is any cache: without one, no payload need be written."""
        return self._local is not None or self._shared is not None

    def lookup(self, keys: Sequence[str]) -> Lookup:
        """Ask for the payloads of these keys, each key once."""
        sights = {key: self._sights.see(key) for key in keys} if self._shared else {}
        marked, faults = _read(self._local, keys)
        found = {key: payload[1:] for key, payload in marked.items()}
        missing = [key for key in keys if key not in found]
        from_shared, more_faults = _read(self._shared, missing) if missing else ({}, 0)
        # What only this process knows becomes everybody's when it turns out to be frequent.
        frequent = {
            key: found[key]
            for key, payload in marked.items()
            if payload.startswith(_OWN) and sights.get(key, 0) >= self._admit_after
        }
        write_faults = _write(self._shared, _entries(frequent))
        known = from_shared if write_faults else {**from_shared, **frequent}
        faults += more_faults + write_faults + _write(self._local, _entries(known, _SHARED))
        return Lookup(payloads={**found, **from_shared}, faults=faults)

    def store(self, entries: Mapping[str, CacheEntry]) -> int:
        """Keep new payloads where they are worth it; return the number of caches that failed."""
        worthy = {
            key: entry
            for key, entry in entries.items()
            if self._shared and (entry.passes > 1 or self._sights.count(key) >= self._admit_after)
        }
        faults = _write(self._shared, worthy)
        marks = dict.fromkeys(entries, _OWN) if faults else {key: _SHARED if key in worthy else _OWN for key in entries}
        local = {key: replace(entry, payload=marks[key] + entry.payload) for key, entry in entries.items()}
        return faults + _write(self._local, local)


def _entries(payloads: Mapping[str, str], mark: str = "") -> dict[str, CacheEntry]:
    return {key: CacheEntry(payload=mark + payload, passes=1) for key, payload in payloads.items()}


def _read(cache: ResultCache | None, keys: Sequence[str]) -> tuple[Mapping[str, str], int]:
    if cache is None:
        return {}, 0
    try:
        found = cache.read(keys)
        return {key: found[key] for key in keys if key in found}, 0  # and nothing that nobody asked for
    except CacheError:
        return {}, 1


def _write(cache: ResultCache | None, entries: Mapping[str, CacheEntry]) -> int:
    if cache is None or not entries:
        return 0
    try:
        cache.write(entries)
    except CacheError:
        return 1
    return 0
