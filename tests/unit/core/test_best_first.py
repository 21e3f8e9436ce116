"""The model's own joint decoding against plain references, and the passes that it takes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from handler.core import best_first
from handler.core.best_first import Hypothesis
from handler.core.errors import PassBudgetError
from handler.core.passes import Passes
from handler.core.ranking import log_softmax
from handler.core.types import FloatArray, MaskedSequence, Neighbour, PreparedText
from tests.support.doubles import FakeModel
from tests.support.language import TINY, plain_log_softmax, scattered, tiny_text, tiny_vocabulary, token_ids

IDS = token_ids(TINY)


def fill(text: PreparedText, model: FakeModel, beam: int, budget: int = 128) -> tuple[list[Hypothesis], int]:
    """Fill all blanks; return the hypotheses and the passes, the first included."""
    [logits] = model.logits([text.sequence])
    passes = Passes(model, text, budget)
    start = Hypothesis(filled={}, log_probability=0.0, rows=dict(enumerate(log_softmax(logits))))
    found = best_first.fill(text, tiny_vocabulary(), passes, start, beam)
    assert passes.spent == len(model.sequences)
    return found, passes.spent


def plain_beam(model: FakeModel, text: PreparedText, beam: int) -> list[tuple[dict[int, int], float]]:
    """Return what the method finds, one filling at a time, in float64; words only, as no Latin letter is beside."""
    words = np.flatnonzero(tiny_vocabulary().allowed(Neighbour.NONE))
    states: list[tuple[dict[int, int], float]] = [({}, 0.0)]
    while len(states[0][0]) < len(text.masks):
        grown: list[tuple[dict[int, int], float]] = []
        for filled, total in states:
            ids = list(text.sequence.ids)
            for slot, token in filled.items():
                ids[text.sequence.mask_positions[slot]] = token
            rows = {}
            for slot, position in enumerate(text.sequence.mask_positions):
                if slot not in filled:
                    sequence = MaskedSequence(ids=tuple(ids), mask_positions=(position,))
                    rows[slot] = plain_log_softmax(FakeModel(model._scores).logits([sequence])[0])[0]
            slot = max(rows, key=lambda slot: (rows[slot][words].max(), -slot))
            best = sorted(words.tolist(), key=lambda token: -rows[slot][token])[:beam]
            for token in best:
                new = ({**filled, slot: token}, total + float(rows[slot][token]))
                if all(new[0] != other for other, _ in grown):
                    grown.append(new)
        states = sorted(grown, key=lambda state: -state[1])[:beam]
    return states


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("beam", [1, 2, 5])
@pytest.mark.parametrize("text", ["[MASK]，[MASK]心[MASK]", "一[MASK]，[MASK]，[MASK]，[MASK]"])
def test_fill_agrees_with_the_plain_method(text: str, beam: int, seed: int) -> None:
    """Fillings, their order and their probabilities are those of the method done slowly."""
    prepared, model = tiny_text(text), scattered(2.0, seed)
    expected = plain_beam(model, prepared, beam)

    found, _ = fill(prepared, model, beam)

    assert [filled for filled, _ in expected] == [dict(each.filled) for each in found]
    assert [each.log_probability for each in found] == pytest.approx([total for _, total in expected], rel=1e-4)


@pytest.mark.parametrize("beam", [1, 3, 8])
@pytest.mark.parametrize("masks", [2, 4])
def test_fill_takes_a_pass_for_each_blank_and_hypothesis(masks: int, beam: int) -> None:
    """One pass a blank for the most certain first, 1 + beam * (k - 1) for a beam and k blanks."""
    text = tiny_text("，".join(["[MASK]"] * masks))

    found, passes = fill(text, scattered(1.0), beam)

    assert passes == 1 + beam * (masks - 1) == best_first.passes_needed(masks, beam)
    assert len(found) == beam


def certain(share: float) -> FakeModel:
    """Return a model that gives one character, 心, this probability at every blank."""
    high = math.log(share / (1 - share) * (len(TINY) - 1))

    def scores(sequence: MaskedSequence) -> FloatArray:
        rows = np.zeros((len(sequence.mask_positions), len(TINY)), dtype=np.float32)
        rows[:, IDS["心"]] = high
        return rows

    return FakeModel(scores)


@pytest.mark.parametrize(("share", "passes"), [(0.95, 1), (0.85, 3)])
def test_fill_takes_one_pass_where_every_blank_is_certain(share: float, passes: int) -> None:
    """Above nine in ten everywhere, alone and together are the same, so the first pass is the last."""
    [found], spent = fill(tiny_text("[MASK]，[MASK]，[MASK]"), certain(share), 1)

    assert dict.fromkeys(range(3), IDS["心"]) == dict(found.filled)
    assert found.log_probability == pytest.approx(3 * math.log(share), rel=1e-4)
    assert spent == passes


def test_fill_offers_a_latin_piece_only_beside_a_latin_letter() -> None:
    """A word piece may continue a blank that was just filled with Latin letters, and nothing else."""

    def scores(sequence: MaskedSequence) -> FloatArray:
        rows = np.zeros((len(sequence.mask_positions), len(TINY)), dtype=np.float32)
        rows[:, IDS["##b"]] = 6.0
        rows[[position == 1 for position in sequence.mask_positions], IDS["a"]] = 7.0  # in the first blank only
        return rows

    [touching], _ = fill(tiny_text("[MASK][MASK]"), FakeModel(scores), 1)
    [apart], _ = fill(tiny_text("[MASK] [MASK]"), FakeModel(scores), 1)

    assert [TINY[touching.filled[slot]] for slot in (0, 1)] == ["a", "##b"]
    assert "##b" not in [TINY[token_id] for token_id in apart.filled.values()]


def test_fill_ends_where_the_budget_does() -> None:
    """A pass too many is an error that names the whole budget."""
    with pytest.raises(PassBudgetError) as raised:
        fill(tiny_text("[MASK]，[MASK]，[MASK]"), scattered(1.0), 2, budget=4)

    assert raised.value.facts == {"limit": 4}


def test_ties_fall_to_the_earlier_blank_and_the_smaller_id() -> None:
    """A model that has no opinion is answered the same way every time."""
    model = FakeModel(lambda sequence: np.zeros((len(sequence.mask_positions), len(TINY)), dtype=np.float32))
    smallest = int(np.flatnonzero(tiny_vocabulary().allowed(Neighbour.NONE))[0])

    [found], _ = fill(tiny_text("[MASK]，[MASK]"), model, 1)

    assert list(found.filled.items()) == [(0, smallest), (1, smallest)]
