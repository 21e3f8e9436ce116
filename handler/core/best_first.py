"""Filling open blanks with the model alone: the most certain blank first, then the next, with or without a beam.

Source: Jiang et al. 2020, "X-FACTR: Multilingual factual knowledge retrieval from pretrained language models", decoding
by confidence.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from handler.core.passes import Passes, Rows
from handler.core.types import FloatArray, Neighbour, PreparedText
from handler.core.vocabulary import Vocabulary, letter_class

CERTAIN: Final = 0.9  # every blank's best at least this likely: alone and together give the same answer


def passes_needed(masks: int, beam: int) -> int:
    """Return the most passes that so many blanks take, with the first, in which all are open."""
    return 1 + beam * (masks - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hypothesis:
    """Some blanks filled; ``rows`` are those of the open ones, once the model has seen the filling."""

    filled: Mapping[int, int]  # blank's index to token id
    log_probability: float
    rows: Rows


def fill(text: PreparedText, vocabulary: Vocabulary, passes: Passes, start: Hypothesis, beam: int) -> list[Hypothesis]:
    """Fill the open blanks of a hypothesis.

    Args:
        text: the prepared text.
        vocabulary: what may be offered.
        passes: runs the model.
        start: what is filled already, with the rows of the rest.
        beam: how many hypotheses are kept.

    Returns:
        At most ``beam`` complete hypotheses, best first. Their probability is the product along the order of filling.

    Raises:
        PassBudgetError: the beam needs more passes than are left.
    """
    if all(float(_offered(text, vocabulary, start, slot).max()) > math.log(CERTAIN) for slot in start.rows):
        return [_at_once(text, vocabulary, start)]
    hypotheses = [start]
    while hypotheses[0].rows:
        grown: dict[frozenset[tuple[int, int]], Hypothesis] = {}
        for hypothesis in hypotheses:
            for extended in _extensions(text, vocabulary, hypothesis, beam):
                grown.setdefault(frozenset(extended.filled.items()), extended)
        hypotheses = heapq.nsmallest(beam, grown.values(), key=lambda extended: -extended.log_probability)
        if len(hypotheses[0].filled) < len(text.masks):
            opened = passes.open_rows([hypothesis.filled for hypothesis in hypotheses])
            hypotheses = [
                Hypothesis(filled=hypothesis.filled, log_probability=hypothesis.log_probability, rows=rows)
                for hypothesis, rows in zip(hypotheses, opened, strict=True)
            ]
    return hypotheses


def _extensions(text: PreparedText, vocabulary: Vocabulary, start: Hypothesis, beam: int) -> Iterator[Hypothesis]:
    """Fill the most certain open blank in its likeliest ways; ties fall to the earlier blank and the smaller id."""
    offered = {slot: _offered(text, vocabulary, start, slot) for slot in start.rows}
    slot = max(offered, key=lambda slot: (float(offered[slot].max()), -slot))
    row = offered[slot]
    for token in np.lexsort((np.arange(len(row)), -row))[:beam] if beam > 1 else [row.argmax()]:
        if np.isfinite(row[token]):
            yield Hypothesis(
                filled={**start.filled, slot: int(token)},
                log_probability=start.log_probability + float(row[token]),
                rows={},
            )


def _at_once(text: PreparedText, vocabulary: Vocabulary, start: Hypothesis) -> Hypothesis:
    best = {slot: _offered(text, vocabulary, start, slot) for slot in start.rows}
    return Hypothesis(
        filled={**start.filled, **{slot: int(row.argmax()) for slot, row in best.items()}},
        log_probability=start.log_probability + sum(float(row.max()) for row in best.values()),
        rows={},
    )


def _offered(text: PreparedText, vocabulary: Vocabulary, state: Hypothesis, slot: int) -> FloatArray:
    """Return the log-probabilities of an open blank, minus infinity where a token may not be offered."""
    allowed = vocabulary.allowed(_neighbour(text, vocabulary, state.filled, slot))
    return np.where(allowed, state.rows[slot], -np.inf).astype(np.float32)


def _neighbour(text: PreparedText, vocabulary: Vocabulary, filled: Mapping[int, int], slot: int) -> Neighbour:
    """A filled blank directly to the left is a neighbour like any other."""
    before = slot - 1
    if slot and before in filled and text.masks[before].end == text.masks[slot].start:
        return letter_class(vocabulary.surface(filled[before])[-1])
    return text.neighbours[slot]
