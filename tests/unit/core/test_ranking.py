"""Rankings against a plain reference: Python's sort and numpy in float64."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from handler.core import ranking
from handler.core.errors import InferenceError
from handler.core.types import BoolArray, FloatArray, Ranking

SIZE = 40
LOGITS = arrays.arrays(
    np.float32,
    SIZE,
    # Few distinct values, so that ties are common.
    elements=st.one_of(st.integers(-4, 4).map(float), st.floats(-80, 80, width=32)),
)
ALLOWED = arrays.arrays(np.bool_, SIZE)


def bans(allowed: BoolArray) -> FloatArray:
    """Return what is added to the logits: minus infinity where a token may not be offered."""
    return np.where(allowed, 0, -np.inf).astype(np.float32)


def reference_softmax(logits: FloatArray) -> list[float]:
    """Return the softmax in float64."""
    exponentials = np.exp(logits.astype(np.float64) - float(logits.max()))
    return [float(value) for value in exponentials / exponentials.sum()]


def among(logits: FloatArray, targets: list[int], top_k: int) -> Ranking:
    """Rank targets of one token each."""
    return ranking.among({1: logits[None]}, [(target,) for target in targets], top_k)


@given(LOGITS)
def test_softmax_agrees_with_float64(logits: FloatArray) -> None:
    """The scores are the softmax over the whole vocabulary, in float32, and each lies between 0 and 1."""
    scores = ranking.softmax(logits)

    assert np.float32 == scores.dtype
    assert scores.tolist() == pytest.approx(reference_softmax(logits), rel=1e-5, abs=1e-38)
    assert ((scores >= 0) & (scores <= 1)).all()


@given(LOGITS, ALLOWED, st.integers(1, SIZE + 5))
def test_best_orders_the_allowed_by_score_and_then_by_id(logits: FloatArray, allowed: BoolArray, top_k: int) -> None:
    """The ranking is that of a full sort of what is allowed; fewer than top_k come only where fewer are allowed."""
    offered = [token_id for token_id in range(SIZE) if allowed[token_id]]
    expected = sorted(offered, key=lambda token_id: (-logits[token_id], token_id))[:top_k]

    assert expected == [entry.token_ids[0] for entry in ranking.best(logits, bans(allowed), top_k)]


@given(st.integers(0, 2**32 - 1), st.integers(500, 5000), st.floats(0, 1), st.integers(1, 600))
def test_best_orders_large_vocabularies_the_same_way(seed: int, size: int, share: float, top_k: int) -> None:
    """However many ties there are and however much is banned, where the vocabulary is looked at in groups as well."""
    rng = np.random.default_rng(seed)
    logits = rng.integers(-size // 4, size // 4, size).astype(np.float32)
    allowed = rng.random(size) < share
    expected = sorted(np.flatnonzero(allowed).tolist(), key=lambda token_id: (-logits[token_id], token_id))[:top_k]

    assert expected == [entry.token_ids[0] for entry in ranking.best(logits, bans(allowed), top_k)]


@given(LOGITS, ALLOWED)
def test_best_scores_over_the_whole_vocabulary(logits: FloatArray, allowed: BoolArray) -> None:
    """A ban takes a token out of the ranking, not out of the sum."""
    expected = reference_softmax(logits)
    for entry in ranking.best(logits, bans(allowed), SIZE):
        assert entry.score == pytest.approx(expected[entry.token_ids[0]], rel=1e-5, abs=1e-38)
        assert entry.target_score is None


@given(LOGITS, st.lists(st.integers(0, SIZE - 1), unique=True, max_size=SIZE), st.integers(1, SIZE + 5))
def test_among_ranks_the_targets_and_shares_out_one(logits: FloatArray, targets: list[int], top_k: int) -> None:
    """Targets keep their score over the vocabulary and get their share among the targets, all of them counted."""
    scores = reference_softmax(logits)
    total = sum(scores[target] for target in targets)
    best_first = sorted(targets, key=lambda token_id: (-logits[token_id], token_id))[:top_k]

    entries = among(logits, targets, top_k)

    assert best_first == [entry.token_ids[0] for entry in entries]
    for entry in entries:
        assert entry.score == pytest.approx(scores[entry.token_ids[0]], rel=1e-5, abs=1e-38)
        if total > 1e-30:
            assert entry.target_score == pytest.approx(scores[entry.token_ids[0]] / total, rel=1e-4, abs=1e-38)


def test_scores_of_several_tokens_fall_in_order_to_the_last_digit() -> None:
    """The same three factors in another order differ by one digit; a cache refuses what is not best first."""
    logits = np.zeros((6, 5), np.float32)
    logits[4, 4] = logits[5, 3] = 3

    found = ranking.among({3: logits[3:]}, [(0, 0, 3), (0, 4, 0)], 2)

    assert found[0].score >= found[1].score


@given(arrays.arrays(np.float32, (6, 5), elements=st.floats(-9, 9, width=32)), st.data())
def test_among_multiplies_the_probabilities_of_several_tokens(logits: FloatArray, data: st.DataObject) -> None:
    """A filling of several tokens has the product of theirs, each over the vocabulary, and its share among all."""
    rows = {1: logits[:1], 2: logits[1:3], 3: logits[3:]}
    filling = st.lists(st.integers(0, 4), min_size=1, max_size=3).map(tuple)
    targets = data.draw(st.lists(filling, unique=True, min_size=1, max_size=12))
    expected = {
        ids: math.prod(reference_softmax(rows[len(ids)][at])[token_id] for at, token_id in enumerate(ids))
        for ids in targets
    }

    found = ranking.among(rows, targets, len(targets))

    assert {entry.token_ids for entry in found} == set(targets)
    assert sorted((entry.score for entry in found), reverse=True) == [entry.score for entry in found]
    for entry in found:
        assert entry.score == pytest.approx(expected[entry.token_ids], rel=1e-4)
        assert entry.target_score == pytest.approx(expected[entry.token_ids] / sum(expected.values()), rel=1e-4)


@given(LOGITS, st.permutations(range(SIZE)), st.integers(1, SIZE))
def test_among_does_not_depend_on_the_order_of_the_targets(logits: FloatArray, targets: list[int], count: int) -> None:
    """Callers who name the same targets in another order share a cache entry, so they must get the same numbers."""
    chosen = targets[:count]

    assert among(logits, sorted(chosen), SIZE) == among(logits, chosen, SIZE)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("at", [0, 3])
def test_ranking_refuses_numbers_that_are_not_finite(value: float, at: int) -> None:
    """A model that answers NaN or infinity has failed, wherever in the vocabulary it does."""
    logits = np.zeros(4, dtype=np.float32)
    logits[at] = value

    with pytest.raises(InferenceError):
        ranking.best(logits, np.zeros(4, dtype=np.float32), 1)
    with pytest.raises(InferenceError):
        among(logits, [1], 1)


@given(st.floats(0, 1, width=32))
def test_shortest_survives_json_as_the_same_float32(value: float) -> None:
    """The number that goes out as text is the float32 that came in, and needs at most nine digits."""
    short = ranking.shortest(np.float32(value))
    text = json.dumps(short)

    assert np.float32(value) == np.float32(json.loads(text))
    assert short == json.loads(text)
    assert len(f"{short:e}".split("e")[0].replace(".", "").rstrip("0")) <= 9


@pytest.mark.parametrize(("value", "expected"), [(0.93, "0.93"), (0.1, "0.1"), (1 / 3, "0.33333334"), (1.0, "1.0")])
def test_shortest_shows_no_noise_digits(value: float, expected: str) -> None:
    """0.93 in float32 is 0.93 to a reader."""
    assert expected == json.dumps(ranking.shortest(np.float32(value)))
