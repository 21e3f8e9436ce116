"""Shares and means with their 95 % intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

_Z: Final = 1.959963984540054  # of the normal distribution, two-sided 95 %


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """How many of how many."""

    hits: int
    total: int

    @property
    def value(self) -> float:
        """The share itself, 0..1; of nothing it is 1, as nothing failed."""
        return self.hits / self.total if self.total else 1.0

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's score interval (Wilson 1927), which stays within 0..1 and holds near its ends."""
        if not self.total:
            return 0.0, 1.0
        n, p = self.total, self.value
        centre = (p + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
        half = _Z / (1 + _Z**2 / n) * math.sqrt(p * (1 - p) / n + _Z**2 / (4 * n**2))
        return max(0.0, centre - half), min(1.0, centre + half)

    def facts(self) -> dict[str, Any]:
        """Return value and interval as JSON."""
        low, high = self.interval
        return {
            "hits": self.hits,
            "total": self.total,
            "value": round(self.value, 5),
            "low": round(low, 5),
            "high": round(high, 5),
        }

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.value:.2%} ({low:.2%} to {high:.2%}, {self.hits} of {self.total})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """A mean, with the interval of the normal approximation."""

    value: float
    low: float
    high: float

    def facts(self) -> dict[str, float]:
        """Return value and interval as JSON."""
        return {"value": round(self.value, 5), "low": round(self.low, 5), "high": round(self.high, 5)}

    def __str__(self) -> str:
        return f"{self.value:.4f} ({self.low:.4f} to {self.high:.4f})"


def share_of(flags: npt.NDArray[np.bool_] | Sequence[bool]) -> Share:
    """Count the true among flags."""
    return Share(hits=int(np.sum(flags)), total=len(flags))


def mean_of(values: npt.NDArray[np.floating[Any]]) -> Mean:
    """Average values, at least one."""
    mean = float(values.mean())
    half = _Z * float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.inf
    return Mean(value=mean, low=mean - half, high=mean + half)
