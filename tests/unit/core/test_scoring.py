"""Pseudo-log-likelihood against hiding one token after the other, and payloads."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handler.core.errors import CacheRecordInvalidError, PassBudgetError, TextEmptyError
from handler.core.requests import parse_score
from handler.core.scoring import Scoring
from handler.core.sentences import parts_of
from handler.core.types import MaskedSequence, ScoredText
from tests.support import embedded
from tests.support.doubles import FakeModel
from tests.support.language import LIMITS, TINY, plain_log_softmax, scattered, tiny_tokenizer, token_ids

IDS = token_ids(TINY)
REQUEST = parse_score({"text": "一"}, LIMITS)


def scoring(max_passes: int = 128) -> Scoring:
    """Return the operation on the tiny world."""
    limits = embedded.limits(max_tokens=LIMITS.max_tokens, max_passes=max_passes)
    return Scoring(tokenizer=tiny_tokenizer(), limits=limits, digest="d")


def scored(text: str, model: FakeModel) -> tuple[ScoredText, int]:
    """Score a text of the tiny world; return the passes as well."""
    operation = scoring()
    job = operation.job(text, REQUEST)
    value, passes = operation.compute(job, model)
    assert operation.load(operation.dump(value), job) == value
    assert passes == len(model.sequences)
    return operation.compose(job, value, cached=False), passes


@settings(max_examples=60)
@given(st.text("一二三心a，龘 。", max_size=40), st.integers(0, 99))
def test_score_agrees_with_hiding_one_token_after_the_other(text: str, seed: int) -> None:
    """Each known token has its log-probability with itself hidden, and the sum and the mean are of these."""
    model = scattered(2.0, seed)
    expected: list[float | None] = []
    for part in parts_of(text, tiny_tokenizer(), LIMITS.max_tokens - 2):
        for at, token_id in enumerate(part.ids):
            ids = (IDS["[CLS]"], *part.ids[:at], IDS["[MASK]"], *part.ids[at + 1 :], IDS["[SEP]"])
            sequence = MaskedSequence(ids=ids, mask_positions=(at + 1,))
            row = plain_log_softmax(FakeModel(model._scores).logits([sequence])[0])[0]
            expected.append(None if token_id == IDS["[UNK]"] else float(row[token_id]))
    known = [score for score in expected if score is not None]
    if not known:
        with pytest.raises(TextEmptyError):
            scored(text, model)
        return

    result, passes = scored(text, model)

    assert [piece.log_probability is None for piece in result.per_token] == [score is None for score in expected]
    own = [piece.log_probability for piece in result.per_token if piece.log_probability is not None]
    assert own == pytest.approx(known, rel=1e-4, abs=1e-5)
    assert result.pseudo_log_likelihood == pytest.approx(sum(known), rel=1e-4)
    assert result.mean_log_probability == pytest.approx(sum(known) / len(known), rel=1e-4)
    assert passes == len(known)
    assert [text[piece.start : piece.end] for piece in result.per_token] == [piece.token for piece in result.per_token]


@pytest.mark.parametrize("text", ["", " ", "\u200b", "龘", "🐶"])
def test_nothing_to_score_is_an_error(text: str) -> None:
    """A text of nothing that the model reads has no likelihood, not one of zero."""
    with pytest.raises(TextEmptyError):
        scoring().job(text, REQUEST)


def test_every_known_token_is_a_pass_and_the_budget_counts_them() -> None:
    """As many known tokens as passes are allowed; one more is refused; unknown ones cost nothing."""
    assert scoring(5).job("一二三，。龘龘", REQUEST)

    with pytest.raises(PassBudgetError):
        scoring(5).job("一二三，。一", REQUEST)


@pytest.mark.parametrize(
    "payload",
    [
        *("", "null", "[]", "[-1.0]", "[-1.0,-1.0]", "[null,null]", "[0.5,null]", "[-1,null]", '["-1.0",null]', "{}"),
        *("[NaN,null]", "[-Infinity,null]", "[-1.0,null,-1.0]", "[true,null]", "[" * 100_000),
    ],
)
def test_load_refuses_what_was_not_written(payload: str) -> None:
    """A payload is a log-probability for each known token, and null for each unknown one."""
    job = scoring().job("一龘", REQUEST)
    assert scoring().load(json.dumps([-1.5, None]), job) == (-1.5, None)

    with pytest.raises(CacheRecordInvalidError):
        scoring().load(payload, job)
