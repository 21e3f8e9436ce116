"""The time that the model will take, learnt from how long it took."""

from __future__ import annotations

import pytest

from handler.core.estimate import RunEstimate


def test_needed_ms_is_nothing_before_the_first_run() -> None:
    """A service that knows nothing yet refuses nothing."""
    assert RunEstimate().needed_ms([128] * 64) == 0


def test_needed_ms_grows_with_the_tokens() -> None:
    """After a run of 10 tokens in 20 ms, 7 tokens take 14 ms, in however many texts."""
    estimate = RunEstimate()
    estimate.record(10, 20.0)

    assert estimate.needed_ms([3, 4]) == pytest.approx(14)


def test_needed_ms_moves_a_tenth_of_the_way_to_a_new_rate() -> None:
    """One slow run counts, but does not refuse the next request: 2 and then 12 ms a token make 3."""
    estimate = RunEstimate()
    estimate.record(10, 20.0)
    estimate.record(10, 120.0)

    assert estimate.needed_ms([1]) == pytest.approx(3)


def test_needed_ms_forgets_a_slow_start() -> None:
    """The first run after a cold start is slow; a hundred quick ones later it no longer counts."""
    estimate = RunEstimate()
    estimate.record(4, 400.0)
    for _ in range(100):
        estimate.record(10, 10.0)

    assert estimate.needed_ms([1]) == pytest.approx(1, rel=0.01)
