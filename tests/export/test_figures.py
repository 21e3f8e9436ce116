"""Shares, means, their intervals, and agreement, against numbers worked out elsewhere."""

from __future__ import annotations

import math

import numpy as np
import pytest

from export.agreement import compare_logits
from export.statistics import Share, mean_of, share_of


@pytest.mark.parametrize(
    ("hits", "total", "low", "high"),
    # By hand: centre and half width of the score interval with z = 1.959964.
    [(0, 10, 0.0, 0.277533), (10, 10, 0.722467, 1.0), (81, 263, 0.255298, 0.366199), (15, 148, 0.062386, 0.160465)],
)
def test_interval_of_a_share_is_wilsons(hits: int, total: int, low: float, high: float) -> None:
    """The last two are Newcombe's examples (Statistics in Medicine 1998, table I): 0.2553-0.3662, 0.0624-0.1605."""
    assert Share(hits=hits, total=total).interval == pytest.approx((low, high), abs=5e-5)


def test_share_of_nothing_is_whole_and_unknown() -> None:
    """No clear position at all is no failure, and says nothing."""
    share = share_of(np.zeros(0, np.bool_))

    assert share.value == 1.0
    assert share.interval == (0.0, 1.0)


def test_interval_of_a_mean_is_two_standard_errors() -> None:
    """Mean 3, standard deviation sqrt(2.5), five values."""
    mean = mean_of(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))

    half = 1.959964 * math.sqrt(2.5) / math.sqrt(5)
    assert (mean.value, mean.low, mean.high) == pytest.approx((3.0, 3.0 - half, 3.0 + half))


def test_compare_logits_counts_first_answers_and_clear_ones() -> None:
    """Four positions: equal, a flipped near tie, a flipped clear one, and another order below the first."""
    expected = np.log(
        np.array(
            [
                [0.70, 0.10, 0.08, 0.05, 0.04, 0.03],
                [0.31, 0.30, 0.20, 0.10, 0.05, 0.04],
                [0.60, 0.20, 0.10, 0.05, 0.03, 0.02],
                [0.50, 0.20, 0.12, 0.08, 0.06, 0.04],
            ],
            np.float32,
        )
    )
    actual = expected.copy()
    actual[1, [0, 1]] = actual[1, [1, 0]]
    actual[2, [0, 1]] = actual[2, [1, 0]]
    actual[3, [4, 5]] = actual[3, [5, 4]]

    agreement = compare_logits(expected, actual, 0.05)

    assert (agreement.first.hits, agreement.first.total) == (2, 4)
    assert (agreement.clear.hits, agreement.clear.total) == (2, 3)
    assert agreement.five.value == pytest.approx((1 + 1 + 1 + 0.8) / 4)
    assert agreement.probability.value == pytest.approx((0 + 0.01 + 0.40 + 0.02) / 4, abs=1e-6)
