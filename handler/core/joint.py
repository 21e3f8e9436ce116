"""Several blanks filled together: one phrase, not independent characters.

A run of blanks and visible characters that entries of the lexicon complete is scored in one pass over all of them: the
sum of the log-probabilities of their characters with every blank open (whole-word masking; FewCLUE, Xu et al. 2021,
scores idioms so). Where the best two are close, the best few are scored again from left to right, each character with
those before it filled in (Kauf and Ivanova 2023, "A better way to do masked language model scoring"). Blanks that no
entry completes are left to handler.core.best_first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from handler.core import best_first, phrases
from handler.core.best_first import Hypothesis
from handler.core.lexicon import Ids, Lexicon
from handler.core.passes import Passes, Rows
from handler.core.phrases import Match
from handler.core.ranking import log_softmax, shortest
from handler.core.types import FloatArray, JointFilling, JointSource, PreparedText
from handler.core.vocabulary import Vocabulary

RESCORE_MARGIN: Final = 0.2  # between the shares of the best two entries: closer ones are looked at again
RESCORED_ENTRIES: Final = 8


def passes_at_most(masks: int, beam: int) -> int:
    """Return the most passes that filling so many blanks jointly takes, with the first, in which all are open."""
    return 1 + max(beam, RESCORED_ENTRIES) * (masks - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Phrase:
    """One entry in the blanks of a match."""

    ids: tuple[int, ...]
    log_probability: float
    share: float  # among all matching entries


def decode(
    text: PreparedText,
    vocabulary: Vocabulary,
    lexicon: Lexicon | None,
    logits: FloatArray,
    passes: Passes,
    *,
    top_k: int,
    beam: int,
) -> tuple[JointFilling, ...]:
    """Return joint fillings of all blanks of a text.

    Args:
        text: the prepared text.
        vocabulary: what may be offered.
        lexicon: phrases; None to leave all to the model.
        logits: float32 (masks, vocab), with every blank open: the first pass.
        passes: runs the model where the first pass cannot tell.
        top_k: how many fillings are wanted at most.
        beam: how many hypotheses the model's own decoding keeps.

    Returns:
        Best first. Fillings from the lexicon where every blank is part of a phrase; otherwise the model's, around the
        best phrases where there are some; none for a single blank that no phrase completes.

    Raises:
        PassBudgetError: the text needs more passes than are left.
    """
    matches = phrases.groups(lexicon, text.text, text.masks) if lexicon else []
    if not matches and len(text.masks) == 1:
        return ()
    rows = dict(enumerate(log_softmax(logits)))
    uncovered = len(text.masks) - sum(len(match.slots) for match in matches)
    # Passes that the model's own decoding will need are not spent on phrases.
    reserved = best_first.passes_needed(uncovered, beam) if uncovered else 0
    ranked = [(match.slots, _ranked(match, rows, passes, passes.left - reserved, top_k)) for match in matches]
    if not uncovered:
        return tuple(_combined(ranked, top_k))
    fixed = {slot: token for slots, entries in ranked for slot, token in zip(slots, entries[0].ids, strict=True)}
    start = Hypothesis(
        filled=fixed,
        log_probability=sum(entries[0].log_probability for _, entries in ranked),
        rows=passes.open_rows([fixed])[0] if fixed else rows,
    )
    source = JointSource.MIXED if fixed else JointSource.MODEL
    found = best_first.fill(text, vocabulary, passes, start, beam)
    return tuple(_filling(state.filled, state.log_probability, None, source) for state in found[:top_k])


def _ranked(match: Match, rows: Rows, passes: Passes, budget: int, top_k: int) -> list[_Phrase]:
    """Rank the entries of a match, best first."""
    scores = sum(rows[slot][match.ids[:, at]] for at, slot in enumerate(match.slots))
    log_probabilities = np.asarray(scores, dtype=np.float32)  # (entries,)
    shares = _shares(log_probabilities + match.prior)
    order = np.argsort(-shares, kind="stable")
    further = len(match.slots) - 1  # passes that one more look at an entry takes
    some = order[: min(RESCORED_ENTRIES, max(0, budget) // further)] if further else order[:1]
    if len(some) > 1 and shares[some[0]] - shares[some[1]] < RESCORE_MARGIN:
        # The best few share out anew what they had together; the others keep what they had.
        log_probabilities[some] = _left_to_right(match.slots, match.ids[some], rows, passes)
        shares[some] = shares[some].sum() * _shares(log_probabilities[some] + match.prior[some])
        order = np.argsort(-shares, kind="stable")
    return [
        _Phrase(
            ids=tuple(int(token) for token in match.ids[at]),
            log_probability=float(log_probabilities[at]),
            share=float(shares[at]),
        )
        for at in order[:top_k]
    ]


def _left_to_right(slots: tuple[int, ...], entries: Ids, rows: Rows, passes: Passes) -> FloatArray:
    """Return log p of each entry, (entries,), character by character, with those before it filled in."""
    prefixes = sorted({tuple(map(int, entry[:length])) for entry in entries for length in range(1, len(slots))})
    opened = passes.open_rows([dict(zip(slots, prefix, strict=False)) for prefix in prefixes])
    known: Mapping[tuple[int, ...], Rows] = {(): rows, **dict(zip(prefixes, opened, strict=True))}
    totals = [
        sum(float(known[tuple(map(int, entry[:at]))][slot][entry[at]]) for at, slot in enumerate(slots))
        for entry in entries
    ]
    return np.asarray(totals, dtype=np.float32)


def _combined(ranked: Sequence[tuple[tuple[int, ...], list[_Phrase]]], top_k: int) -> Iterator[JointFilling]:
    """Return the best combinations of one phrase for each match, by the product of their shares."""
    best: list[tuple[float, tuple[_Phrase, ...]]] = [(1.0, ())]
    for _, entries in ranked:
        grown = [(share * entry.share, (*chosen, entry)) for share, chosen in best for entry in entries]
        best = sorted(grown, key=lambda combination: -combination[0])[:top_k]
    for share, chosen in best:
        filled = {
            slot: token
            for (slots, _), entry in zip(ranked, chosen, strict=True)
            for slot, token in zip(slots, entry.ids, strict=True)
        }
        log_probability = sum(entry.log_probability for entry in chosen)
        yield _filling(filled, log_probability, share, JointSource.LEXICON)


def _filling(
    filled: Mapping[int, int], log_probability: float, share: float | None, source: JointSource
) -> JointFilling:
    return JointFilling(
        token_ids=tuple(token for _, token in sorted(filled.items())),
        score=_rounded(math.exp(min(0.0, log_probability))),
        lexicon_score=None if share is None else _rounded(share),
        source=source,
    )


def _shares(weights: FloatArray) -> FloatArray:
    exponentials: FloatArray = np.exp(weights - weights.max())
    exponentials /= exponentials.sum()
    return exponentials


def _rounded(value: float) -> float:
    return min(1.0, shortest(np.float32(value)))
