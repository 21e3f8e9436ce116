"""What a cache keeps comes back exactly, or not at all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handler.core import payloads
from handler.core.errors import CacheRecordInvalidError
from handler.core.payloads import Expected, ExpectedRanking
from handler.core.types import JointFilling, JointSource, RankedFilling, RankedText

VOCABULARY = 100
SHARE = st.floats(0, 1)
JOINT = st.builds(
    JointFilling,
    token_ids=st.tuples(st.integers(0, VOCABULARY - 1), st.integers(0, VOCABULARY - 1)),
    score=SHARE,
    lexicon_score=st.none() | SHARE,
    source=st.sampled_from(JointSource),
)


@st.composite
def ranked_texts(draw: st.DrawFn) -> tuple[RankedText, Expected]:
    """Draw the rankings of a text of two blanks, and what is expected of them."""
    targets = draw(st.booleans())
    rankings = []
    for _ in range(2):
        ids = draw(st.lists(st.integers(0, VOCABULARY - 1), unique=True, max_size=6))
        scores = sorted((draw(SHARE) for _ in ids), reverse=True)
        rankings.append(
            tuple(
                RankedFilling(token_ids=(token_id,), score=score, target_score=draw(SHARE) if targets else None)
                for token_id, score in zip(ids, scores, strict=True)
            )
        )
    ranked = RankedText(rankings=tuple(rankings), joint=tuple(draw(st.lists(JOINT, max_size=3))))
    expected = Expected(
        rankings=[
            ExpectedRanking(entries=len(ranking), holds=lambda ids: 0 <= ids[0] < VOCABULARY, targets=targets)
            for ranking in rankings
        ],
        joint_top_k=3,
        vocabulary_size=VOCABULARY,
    )
    return ranked, expected


@given(ranked_texts())
def test_load_gives_back_what_dump_wrote(drawn: tuple[RankedText, Expected]) -> None:
    """The round trip changes no id and no digit of a score."""
    ranked, expected = drawn

    assert ranked == payloads.load(payloads.dump(ranked), expected)


ONE = Expected(
    rankings=[ExpectedRanking(entries=2, holds=lambda ids: len(ids) == 1 and ids[0] in range(10), targets=False)],
    joint_top_k=1,
    vocabulary_size=10,
)
TARGETS = Expected(
    rankings=[ExpectedRanking(entries=1, holds={(7,), (7, 8)}.__contains__, targets=True)],
    joint_top_k=0,
    vocabulary_size=10,
)
GOOD: Any = [[[[1], 0.75, None], [[2], 0.25, None]]]
FILLING: Any = [[1], 0.5, None, "model"]


def test_load_accepts_the_payloads_that_the_corrupt_ones_are_made_from() -> None:
    """The refusals below are about what was changed, nothing else."""
    assert payloads.load(json.dumps([GOOD, [FILLING]]), ONE).rankings[0][0].token_ids == (1,)
    assert payloads.load(json.dumps([[[[[7, 8], 0.5, 1.0]]], []]), TARGETS).rankings[0][0].target_score == 1.0


@pytest.mark.parametrize(
    "payload",
    [
        *("", " ", "null", "1", '"text"', "true", "{}", "[]", "[[]]", "[[],[]]", "[null,null]", "[1,2]", "]", "\x00"),
        *("[" * 100_000, "[" * 100_000 + "]" * 100_000, '{"a":1,"b":2}', '"ab"', json.dumps([GOOD])),
        json.dumps([GOOD, []])[:-1],
        json.dumps([GOOD * 2, []]),
        json.dumps([GOOD, {}]),
        json.dumps([GOOD, [], []]),
        json.dumps([[{}], []]),
        json.dumps([["ab"], []]),
        json.dumps([[[]], []]),
        json.dumps([[[[[1], 0.75, None]]], []]),
    ],
)
def test_load_refuses_another_shape(payload: str) -> None:
    """Whatever else may lie in a table, it is no answer."""
    with pytest.raises(CacheRecordInvalidError):
        payloads.load(payload, ONE)


@pytest.mark.parametrize(
    "entry",
    [
        *([], {}, None, "abc", [[1]], [[1], 0.25], [[1], 0.25, None, 0], [1, 0.25, None], [{"1": 2}, 0.25, None]),
        *([[-1], 0.25, None], [[10], 0.25, None], [[2.0], 0.25, None], [["2"], 0.25, None], [[True], 0.25, None]),
        *([[], 0.25, None], [[2, 3], 0.25, None]),
        *([[2], 1, None], [[2], "0.25", None], [[2], None, None], [[2], -0.1, None], [[2], 1.1, None]),
        *([[2], True, None], [[2], float("nan"), None], [[2], float("inf"), None], [[2], 10**400, None]),
        [[2], 0.25, 0.5],  # a share among targets that nobody named
        [[2], 0.8, None],  # better than the one before it
        [[1], 0.25, None],  # the same token again
    ],
)
def test_load_refuses_an_entry_that_no_ranking_has(entry: object) -> None:
    """An entry is an id that may stand there, a score, and no more."""
    with pytest.raises(CacheRecordInvalidError):
        payloads.load(json.dumps([[[GOOD[0][0], entry]], []]), ONE)


@pytest.mark.parametrize(
    "entry", [[[6], 0.5, 1.0], [[8, 7], 0.5, 1.0], [[7], 0.5, None], [[7], 0.5, 1], [[7], 0.5, 1.5], [[7], 0.5, "1.0"]]
)
def test_load_refuses_an_entry_of_other_targets(entry: object) -> None:
    """With targets an entry is one of them, and has its share."""
    with pytest.raises(CacheRecordInvalidError):
        payloads.load(json.dumps([[[entry]], []]), TARGETS)


@pytest.mark.parametrize(
    "joint",
    [
        [FILLING, FILLING],  # more than were asked for
        *([[]], [None], [[[1], 0.5, None]], [[1, 0.5, None, "model"]], [[[], 0.5, None, "model"]]),
        *([[[1, 2], 0.5, None, "model"]], [[[10], 0.5, None, "model"]], [[[True], 0.5, None, "model"]]),
        *(
            [[[1], 2.0, None, "model"]],
            [[[1], 0.5, "x", "model"]],
            [[[1], 0.5, None, "oracle"]],
            [[[1], 0.5, None, []]],
        ),
    ],
)
def test_load_refuses_a_joint_filling_that_fills_no_such_text(joint: object) -> None:
    """A filling is an id for each blank, its scores and a known source."""
    with pytest.raises(CacheRecordInvalidError):
        payloads.load(json.dumps([GOOD, joint]), ONE)
