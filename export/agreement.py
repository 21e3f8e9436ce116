"""How far two models' answers agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from export.statistics import Mean, Share, mean_of, share_of
from handler.core.types import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Figures over the same masked positions of two models, each with its 95 % interval."""

    first: Share  # the same best entry
    clear: Share  # the same, where the expected best two differ by the margin
    five: Mean  # share of the best five that both have
    probability: Mean  # mean over positions of the largest difference of an entry's probability

    def facts(self) -> dict[str, Any]:
        """Return the figures as JSON."""
        return {
            "first": self.first.facts(),
            "first_where_clear": self.clear.facts(),
            "five_in_common": self.five.facts(),
            "probability_difference": self.probability.facts(),
        }


def compare_logits(expected: FloatArray, actual: FloatArray, clear_margin: float) -> Agreement:
    """Compare raw scores row by row.

    Args:
        expected: of the reference, (positions, vocab).
        actual: of the other, the same positions.
        clear_margin: difference of the two best expected probabilities from which a first answer counts as clear.
    """
    wanted, given = probabilities(expected), probabilities(actual)
    same = expected.argmax(axis=1) == actual.argmax(axis=1)
    best_two = np.partition(wanted, -2, axis=1)[:, -2:]  # (positions, 2), ascending
    clear = best_two[:, 1] - best_two[:, 0] >= clear_margin
    five = min(5, expected.shape[1])
    wanted_five = np.argpartition(expected, -five, axis=1)[:, -five:]
    given_five = np.argpartition(actual, -five, axis=1)[:, -five:]
    common = np.array([len(np.intersect1d(a, b)) / five for a, b in zip(wanted_five, given_five, strict=True)])
    return Agreement(
        first=share_of(same),
        clear=share_of(same[clear]),
        five=mean_of(common),
        probability=mean_of(np.abs(wanted - given).max(axis=1).astype(np.float64)),
    )


def probabilities(logits: FloatArray) -> FloatArray:
    """Softmax over the last axis."""
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=-1, keepdims=True), np.float32)
