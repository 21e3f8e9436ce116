"""Stand-ins for what the real parts cannot be made to do on demand: prefer a token, fail, or run out of time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from handler.core.errors import CacheUnavailableError
from handler.core.ports import CacheEntry, ResultCache
from handler.core.types import FloatArray, MaskedSequence


class FakeModel:
    """Gives the scores that a test asks for, and counts the sequences it was run on.

    Args:
        scores: what it answers for one sequence: float32 (masks, vocab).
    """

    def __init__(self, scores: Callable[[MaskedSequence], FloatArray]) -> None:
        self._scores = scores
        self.sequences: list[MaskedSequence] = []

    def logits(self, sequences: Sequence[MaskedSequence]) -> list[FloatArray]:
        """See handler.core.ports.MaskedLanguageModel."""
        self.sequences += sequences
        return [self._scores(sequence) for sequence in sequences]


def descending(vocabulary_size: int) -> Callable[[MaskedSequence], FloatArray]:
    """Return scores that fall with the id, at every mask."""
    row = np.linspace(8, -8, vocabulary_size, dtype=np.float32)  # (vocab,)
    return lambda sequence: np.tile(row, (len(sequence.mask_positions), 1))  # (masks, vocab)


class Clock:
    """A clock that a test moves by hand."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        """Return the time."""
        return self.now


class FixedDeadline:
    """Always the same time left."""

    def __init__(self, remaining_ms: float = float("inf")) -> None:
        self._remaining_ms = remaining_ms

    def remaining_ms(self) -> float:
        """See handler.core.ports.Deadline."""
        return self._remaining_ms


class FallingDeadline:
    """Each look at it finds the next of these values, and the last one for ever."""

    def __init__(self, remaining_ms: Iterable[float]) -> None:
        self._remaining_ms = list(remaining_ms)

    def remaining_ms(self) -> float:
        """See handler.core.ports.Deadline."""
        return self._remaining_ms.pop(0) if len(self._remaining_ms) > 1 else self._remaining_ms[0]


class FailingCache:
    """Fails on every call."""

    def __init__(self) -> None:
        self.calls = 0

    def read(self, keys: Sequence[str]) -> Mapping[str, str]:
        """See handler.core.ports.ResultCache."""
        self.calls += 1
        raise CacheUnavailableError(problem="on purpose")

    def write(self, entries: Mapping[str, CacheEntry]) -> None:
        """See handler.core.ports.ResultCache."""
        self.calls += 1
        raise CacheUnavailableError(problem="on purpose")


class RecordingCache:
    """Notes what goes to the cache behind it."""

    def __init__(self, cache: ResultCache) -> None:
        self._cache = cache
        self.reads: list[tuple[str, ...]] = []
        self.writes: list[dict[str, str]] = []

    def read(self, keys: Sequence[str]) -> Mapping[str, str]:
        """See handler.core.ports.ResultCache."""
        self.reads.append(tuple(keys))
        return self._cache.read(keys)

    def write(self, entries: Mapping[str, CacheEntry]) -> None:
        """See handler.core.ports.ResultCache."""
        self.writes.append({key: entry.payload for key, entry in entries.items()})
        self._cache.write(entries)


class PlantedCache:
    """Answers every key with the same payload, whatever was written: a table that something else writes to."""

    def __init__(self, payload: str) -> None:
        self._payload = payload

    def read(self, keys: Sequence[str]) -> Mapping[str, str]:
        """See handler.core.ports.ResultCache."""
        return dict.fromkeys(keys, self._payload)

    def write(self, entries: Mapping[str, CacheEntry]) -> None:
        """See handler.core.ports.ResultCache."""
