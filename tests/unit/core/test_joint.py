"""Joint filling against plain references in float64, and the passes that it takes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handler.core import joint
from handler.core.passes import Passes
from handler.core.types import JointFilling, JointSource, MaskedSequence, PreparedText
from tests.support.doubles import FakeModel
from tests.support.language import TINY, lexicon_of, plain_log_softmax, scattered, tiny_text, tiny_vocabulary, token_ids

WORDS = {"一心一意": 9, "一心二意": 3, "三心二意": 4, "四心二地": 1, "一马一兔": 2, "二马二兔": 7, "三马四兔": 5}
LEXICON = lexicon_of(WORDS, TINY)
IDS = token_ids(TINY)


def decode(
    text: PreparedText, model: FakeModel, *, lexicon: bool = True, top_k: int = 20, beam: int = 1
) -> tuple[tuple[JointFilling, ...], int]:
    """Fill a text; return the fillings and the passes, the first included."""
    [logits] = model.logits([text.sequence])
    passes = Passes(model, text, 128)
    found = joint.decode(text, tiny_vocabulary(), LEXICON if lexicon else None, logits, passes, top_k=top_k, beam=beam)
    assert passes.spent == len(model.sequences)
    return found, passes.spent


def log_p(model: FakeModel, text: PreparedText, filled: dict[int, str], slot: int, token: str) -> float:
    """Return log p of a token in a blank, with some others filled, straight from the model."""
    ids = list(text.sequence.ids)
    for other, own in filled.items():
        ids[text.sequence.mask_positions[other]] = IDS[own]
    sequence = MaskedSequence(ids=tuple(ids), mask_positions=(text.sequence.mask_positions[slot],))
    [row] = FakeModel(model._scores).logits([sequence])
    return float(plain_log_softmax(row)[0, IDS[token]])


def plain_ranking(model: FakeModel, text: PreparedText, entries: dict[str, int]) -> list[tuple[str, float, float]]:
    """Return (filling, probability, share) of the entries, best first: the whole method, slowly."""

    def shares(scores: dict[str, float]) -> dict[str, float]:
        weights = {
            entry: math.exp(score + LEXICON.prior_weight * math.log(1 + entries[entry]))
            for entry, score in scores.items()
        }
        return {entry: weight / sum(weights.values()) for entry, weight in weights.items()}

    scores = {entry: sum(log_p(model, text, {}, slot, token) for slot, token in enumerate(entry)) for entry in entries}
    share = shares(scores)
    order = sorted(share, key=lambda entry: -share[entry])
    some = order[: joint.RESCORED_ENTRIES]
    if len(text.masks) > 1 and len(some) > 1 and share[some[0]] - share[some[1]] < joint.RESCORE_MARGIN:
        for entry in some:
            scores[entry] = sum(
                log_p(model, text, dict(enumerate(entry[:slot])), slot, token) for slot, token in enumerate(entry)
            )
        together = sum(share[entry] for entry in some)
        share |= {entry: together * part for entry, part in shares({entry: scores[entry] for entry in some}).items()}
    order = sorted(share, key=lambda entry: -share[entry])
    return [(entry, math.exp(scores[entry]), share[entry]) for entry in order]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("scale", [0.3, 3.0])
@pytest.mark.parametrize(
    ("text", "shown"),
    [("[MASK]心[MASK][MASK]", "_心__"), ("[MASK][MASK][MASK][MASK]", "____"), ("[MASK]马[MASK]兔，", "_马_兔")],
)
def test_decode_agrees_with_the_plain_method(text: str, shown: str, scale: float, seed: int) -> None:
    """Order, probability and share of every entry are those of the method done slowly, close margins or not."""
    prepared, model = tiny_text(text), scattered(scale, seed)
    entries = {
        "".join(own for own, cell in zip(word, shown, strict=True) if cell == "_"): count
        for word, count in WORDS.items()
        if all(cell in ("_", own) for own, cell in zip(word, shown, strict=True))
    }
    expected = plain_ranking(model, prepared, entries)

    found, _ = decode(prepared, model)

    assert [filling for filling, _, _ in expected] == [
        "".join(TINY[token_id] for token_id in each.token_ids) for each in found
    ]
    assert [each.score for each in found] == pytest.approx([score for _, score, _ in expected], rel=1e-3)
    assert [each.lexicon_score for each in found] == pytest.approx([share for *_, share in expected], rel=1e-3)
    assert {each.source for each in found} == {JointSource.LEXICON}


def leaning(*entries: str, at: tuple[int, ...]) -> FakeModel:
    """Return a model that gives each entry's characters at these positions a high score, whatever else is filled."""

    def scores(sequence: MaskedSequence) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
        rows = np.zeros((len(sequence.mask_positions), len(TINY)), dtype=np.float32)
        for row, position in enumerate(sequence.mask_positions):
            for entry in entries:
                if position in at:
                    rows[row, IDS[entry[at.index(position)]]] = 9.0
        return rows

    return FakeModel(scores)


def test_decode_takes_one_pass_where_the_margin_is_clear() -> None:
    """Where one entry has nearly the whole share, the first pass decides."""
    text = tiny_text("[MASK]心[MASK][MASK]")

    found, passes = decode(text, leaning("三二意", at=text.sequence.mask_positions))

    assert [TINY[token_id] for token_id in found[0].token_ids] == ["三", "二", "意"]
    assert passes == 1


def test_decode_looks_again_where_the_margin_is_small() -> None:
    """Entries as likely as each other are looked at once more, in at most 1 + 8 * (k - 1) passes."""
    text = tiny_text("[MASK][MASK][MASK][MASK]")

    _, passes = decode(text, scattered(0.01))

    assert 1 < passes <= 1 + joint.RESCORED_ENTRIES * 3 == joint.passes_at_most(4, 1)


def test_decode_takes_one_pass_for_a_single_blank() -> None:
    """With one blank there is nothing to look at again, however close the best two are."""
    found, passes = decode(tiny_text("一心[MASK]意"), scattered(0.01))

    assert sorted(TINY[each.token_ids[0]] for each in found) == ["一", "二"]
    assert passes == 1


def test_decode_of_one_blank_without_a_phrase_is_empty() -> None:
    """A single blank that no phrase completes is answered by its own ranking alone."""
    assert decode(tiny_text("心[MASK]"), scattered(1.0)) == ((), 1)


def test_decode_fills_around_a_phrase() -> None:
    """Blanks outside every phrase are the model's, given the best phrase, which takes a pass to see."""
    text = tiny_text("一心[MASK]意，[MASK]a[MASK]")

    found, passes = decode(text, scattered(1.0))

    assert [each.source for each in found] == [JointSource.MIXED]
    assert TINY[found[0].token_ids[0]] in ("一", "二")
    assert found[0].lexicon_score is None
    assert passes == 1 + 1 + 1


def test_decode_combines_phrases_by_the_product_of_their_shares() -> None:
    """Two phrases in a text: every pair, best first, each with the product of both shares."""
    text = tiny_text("一心[MASK]意，[MASK]马[MASK]兔")
    first, second = math.log(1 + WORDS["一心一意"]), math.log(1 + WORDS["一心二意"])  # what speaks for each
    odds = math.exp(LEXICON.prior_weight * (first - second))

    found, _ = decode(text, leaning("三四", at=text.sequence.mask_positions[1:]))

    assert len(found) == 2 * 3
    assert [TINY[token_id] for token_id in found[0].token_ids] == ["一", "三", "四"]
    assert [TINY[token_id] for token_id in found[1].token_ids] == ["二", "三", "四"]
    assert (found[0].lexicon_score or 0) / (found[1].lexicon_score or 1) == pytest.approx(odds, rel=1e-4)
    assert sum(each.lexicon_score or 0 for each in found) == pytest.approx(1, abs=1e-4)


@settings(max_examples=40)
@given(st.integers(1, 3), st.integers(0, 99))
def test_decode_gives_no_more_than_top_k_and_the_same_first(top_k: int, seed: int) -> None:
    """A shorter list is the beginning of the longer one."""
    text = tiny_text("[MASK]马[MASK]兔")

    short, _ = decode(text, scattered(2.0, seed), top_k=top_k)
    long, _ = decode(text, scattered(2.0, seed))

    assert short == long[:top_k]
