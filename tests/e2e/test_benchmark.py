"""The benchmark's own parts: what it asks, how it counts, and that this project's contenders answer it."""

from __future__ import annotations

import random

import pytest

from tests.benchmarks import measure, report
from tests.benchmarks.contenders import DIRECT, HTTP, SESSION, Running
from tests.benchmarks.texts import text_of
from tests.support import embedded

FOLDERS = {"artifact": embedded.artifact().folder}


@pytest.mark.parametrize("tokens", [8, 16, 128])
def test_texts_have_the_tokens_that_they_are_asked_for(tokens: int) -> None:
    """With [CLS] and [SEP], on the embedded vocabulary."""
    chance = random.Random(0)

    lengths = {len(embedded.preparer().prepare(text_of(tokens, chance)).sequence.ids) for _ in range(20)}

    assert lengths == {tokens}


def test_contenders_of_this_project_take_turns() -> None:
    """Every one is timed at every length, once a round, and tells its memory."""
    contenders = (DIRECT, HTTP, SESSION)

    times, memory = measure.warm(contenders, FOLDERS, 1, [8, 16], 2)

    assert {label: {length: len(took) for length, took in each.items()} for label, each in times.items()} == {
        each.label: {8: 2, 16: 2} for each in contenders
    }
    assert all(ms > 0 for each in times.values() for took in each.values() for ms in took)
    assert all(each["peak_mib"] >= each["rss_mib"] > 20 for each in memory.values())


def test_direct_and_http_event_have_the_same_best_candidate() -> None:
    """They are the same function; what loading took is told in parts."""
    texts = ["今天天气真[MASK]啊。", "他买了一[MASK]书。"]
    found = []
    for contender in (DIRECT, HTTP):
        with Running(contender, FOLDERS, 1) as running:
            took, best = running.answers(texts)
            found.append(best)
            assert len(took) == 2
            assert {"handler", "init session", "init first_run"} <= set(running.parts)

    assert found[0] == found[1]


def test_contender_that_ends_is_named() -> None:
    """A folder without a model ends the session's contender, not the benchmark with a riddle."""
    with pytest.raises(RuntimeError, match="Tiankong, session alone ended before it answered"):  # noqa: SIM117
        with Running(SESSION, {"artifact": FOLDERS["artifact"].parent}, 1):
            pass


def test_ratios_are_taken_turn_by_turn() -> None:
    """A slow second slows both sides of a ratio."""
    assert report.ratio([10, 20, 40], [5, 10, 10]) == (2.0, 2.0, 4.0)
    assert report.ratio([10], [4]) == (2.5, 2.5, 2.5)


def test_operations_and_dollars_by_arithmetic() -> None:
    """84,934,656 products a token in twelve whole layers; 1769 MB for a second, a million times."""
    assert report.operations(16) == 2 * (84_934_656 * 16 - 12 * 768**2 * 0.75 * 15)
    assert report.cost_per_million(1000, 1) == pytest.approx(1_000_000 * 1769 / 1024 * 0.0000166667 + 0.2)
