"""How long the model will take, learnt from how long it took."""

from __future__ import annotations

from collections.abc import Iterable

RESERVE_MS = 150.0  # for what comes after the model: ranking, encoding, and a cache write at its own limit
_WEIGHT = 0.1  # of the newest run; a single slow run (a neighbour on the machine) must not refuse the next request


class RunEstimate:
    """A running mean of the milliseconds that a token costs.

    Short texts cost more per token than long ones, so the mean errs on the careful side for long batches.
    """

    def __init__(self) -> None:
        self._ms_per_token = 0.0

    def record(self, tokens: int, ms: float) -> None:
        """Take note of a run of so many tokens."""
        rate = ms / tokens
        self._ms_per_token = rate if not self._ms_per_token else self._ms_per_token * (1 - _WEIGHT) + rate * _WEIGHT

    def needed_ms(self, tokens: Iterable[int]) -> float:
        """Return the time that runs of these lengths will take together; 0 before the first run."""
        return self._ms_per_token * sum(tokens)
