"""Targets of several tokens against a plain reference: a mask for each token, a product of probabilities."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handler.core.errors import PassBudgetError
from handler.core.filling import Filling
from handler.core.requests import parse_native
from handler.core.types import FilledText, MaskedSequence
from tests.support import embedded
from tests.support.doubles import FakeModel
from tests.support.language import (
    LIMITS,
    TINY,
    plain_log_softmax,
    scattered,
    tiny_tokenizer,
    tiny_vocabulary,
    token_ids,
)

IDS = token_ids(TINY)
TARGETS = st.lists(st.text("一二心意", min_size=1, max_size=3), unique=True, min_size=1, max_size=6)


def fill(payload: dict[str, object], model: FakeModel, max_passes: int = 128) -> tuple[FilledText, int]:
    """Fill a text of the tiny world; return the passes as well."""
    limits = embedded.limits(max_tokens=LIMITS.max_tokens, max_passes=max_passes)
    filling = Filling(tokenizer=tiny_tokenizer(), vocabulary=tiny_vocabulary(), lexicon=None, limits=limits, digest="d")
    request = parse_native(payload, limits)
    job = filling.job(request.texts[0], request)
    value, passes = filling.compute(job, model)
    assert passes == len(model.sequences)
    assert sum(len(sequence.ids) for sequence in model.sequences) <= job.expected_tokens
    assert filling.load(filling.dump(value), job) == value
    return filling.compose(job, value, cached=False), passes


def plain_score(model: FakeModel, before: str, after: str, target: str) -> float:
    """Return the product of the probabilities of the target's characters, all of them hidden."""
    ids = [IDS["[CLS]"], *(IDS[own] for own in before), *[IDS["[MASK]"]] * len(target), *(IDS[own] for own in after)]
    positions = tuple(range(1 + len(before), 1 + len(before) + len(target)))
    sequence = MaskedSequence(ids=(*ids, IDS["[SEP]"]), mask_positions=positions)
    rows = plain_log_softmax(FakeModel(model._scores).logits([sequence])[0])
    return math.exp(sum(rows[at, IDS[own]] for at, own in enumerate(target)))


@settings(max_examples=60)
@given(st.text("一二马", max_size=4), st.text("兔，", max_size=4), TARGETS, st.integers(0, 99))
def test_targets_agree_with_the_plain_method(before: str, after: str, targets: list[str], seed: int) -> None:
    """Scores, shares and order are those of scoring every target for itself; a pass for each length of several."""
    model = scattered(2.0, seed)
    expected = {target: plain_score(model, before, after, target) for target in targets}

    result, passes = fill({"text": f"{before}[MASK]{after}", "targets": targets}, model)

    [mask] = result.masks
    assert {each.token for each in mask.candidates} == set(targets)
    for each in mask.candidates:
        assert each.score == pytest.approx(expected[each.token], rel=1e-3)
        assert each.target_score == pytest.approx(expected[each.token] / sum(expected.values()), rel=1e-3)
        assert each.text == before + each.token + after
    scores = [each.target_score or 0 for each in mask.candidates]
    assert scores == sorted(scores, reverse=True)
    assert passes == 1 + len({len(target) for target in targets if len(target) > 1})


def test_each_blank_has_its_own_lengths() -> None:
    """A pass for each blank and length; the other blanks stay open in it."""
    model = scattered(1.0)

    _, passes = fill({"text": "[MASK]马[MASK]", "targets": [["一心", "二意", "一"], ["心", "一二三"]]}, model)

    assert passes == 3
    assert [sequence.ids.count(IDS["[MASK]"]) for sequence in model.sequences] == [2, 3, 4]
    assert [sequence.mask_positions for sequence in model.sequences] == [(1, 3), (1, 2), (3, 4, 5)]


def test_a_long_text_is_cut_around_the_widened_blank() -> None:
    """The window holds all masks of the blank, however long the text and the target."""
    model = scattered(1.0)

    result, _ = fill({"text": "一" * 50 + "[MASK]" + "二" * 50, "targets": ["心" * 30, "心" * 31, "意" * 29]}, model)

    assert result.truncated
    assert [len(sequence.ids) for sequence in model.sequences] == [LIMITS.max_tokens] * 3
    assert [len(sequence.mask_positions) for sequence in model.sequences] == [1, 29, 30]
    assert [each.target for each in result.masks[0].unusable_targets or ()] == ["心" * 31]


def test_every_pass_counts_against_the_budget() -> None:
    """Five passes are allowed and used; a sixth length is refused before any work."""
    targets = ["一" * length for length in range(1, 6)]
    assert fill({"text": "[MASK]", "targets": targets}, scattered(1.0), max_passes=5)[1] == 5

    with pytest.raises(PassBudgetError):
        fill({"text": "[MASK]", "targets": [*targets, "一" * 6]}, scattered(1.0), max_passes=5)
