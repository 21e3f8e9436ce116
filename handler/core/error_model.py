"""Which character people write for which: by sound, by shape, or for no such reason.

The correction of a character weighs what the language model expects in its place against how likely that character is
to be written by mistake as what stands there (the noisy channel; for Chinese spelling Wu et al. 2023, "Rethinking
masked language modeling for Chinese spelling correction", equation 1). This is the second part, as a few classes and
not as a filter: an unrelated character is unlikely, not impossible, because tables of confusable characters hold only
two thirds of real errors.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any, Final

import numpy as np

from handler.core.types import FloatArray

SCHEMA = 1
_NONE: Final = np.empty(0, dtype=np.int64)  # ids


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorClasses:
    """Log-probabilities of what is written, given the right character."""

    same: float  # the right character itself
    same_sound: float
    similar_sound: float
    similar_shape: float
    unrelated: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorFacts:
    """The content of an error model file."""

    classes: ErrorClasses
    threshold: float  # a correction is made where its margin is larger
    sounds: Mapping[str, Sequence[str]]  # character to its syllables, without tones
    similar_sounds: Mapping[str, Sequence[str]]  # syllable to those that are taken for it
    shapes: Sequence[str]  # groups of characters that look alike

    def with_threshold(self, threshold: float) -> ErrorFacts:
        """Return the same with another threshold."""
        return replace(self, threshold=threshold)


def parse(text: str) -> ErrorFacts:
    """Read an error model file.

    Raises:
        ValueError: it is of another form.
    """
    try:
        facts: dict[str, Any] = json.loads(text)
        if facts["schema"] != SCHEMA:
            raise ValueError(f"an error model of schema {facts['schema']!r}; this version reads {SCHEMA}")
        found = ErrorFacts(
            classes=ErrorClasses(**{name: float(value) for name, value in facts["log_probabilities"].items()}),
            threshold=float(facts["threshold"]),
            sounds={character: syllables.split() for character, syllables in facts["sounds"].items()},
            similar_sounds={syllable: others.split() for syllable, others in facts["similar_sounds"].items()},
            shapes=[str.strip(group) for group in facts["shapes"]],
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("an error model lacks or misspells a field") from error
    if not found.threshold >= 0 or not all(map(math.isfinite, (found.threshold, *astuple(found.classes)))):
        raise ValueError("an error model's numbers are finite, and its threshold is at least 0")
    return found


class ErrorModel:
    """Costs of mistakes for one vocabulary.

    Args:
        facts: the file's content.
        token_ids: id of every token, by spelling; only single characters take part.
        vocabulary_size: how many tokens there are.
    """

    def __init__(self, facts: ErrorFacts, token_ids: Mapping[str, int], vocabulary_size: int) -> None:
        self._facts = facts
        self._size = vocabulary_size
        by_sound: dict[str, list[int]] = {}
        for character, syllables in facts.sounds.items():
            if character in token_ids:
                for syllable in syllables:
                    by_sound.setdefault(syllable, []).append(token_ids[character])
        by_shape: dict[str, list[int]] = {}
        for group in facts.shapes:
            ids = [token_ids[character] for character in group if character in token_ids]
            for character in group:
                by_shape.setdefault(character, []).extend(ids)
        self._by_sound = {syllable: np.asarray(ids) for syllable, ids in by_sound.items()}
        self._by_shape = {character: np.asarray(ids, dtype=np.int64) for character, ids in by_shape.items()}

    @property
    def threshold(self) -> float:
        """A correction is made where its margin is larger."""
        return self._facts.threshold

    def log_probabilities(self, written: str, written_id: int) -> FloatArray:
        """Return log P(written | right character) for every token as the right one: float32 (vocab,)."""
        classes, facts = self._facts.classes, self._facts
        row = np.full(self._size, classes.unrelated, dtype=np.float32)
        syllables = facts.sounds.get(written, ())
        # From the unlikeliest class to the likeliest, so that a character in several is in its likeliest.
        row[self._by_shape.get(written, _NONE)] = classes.similar_shape
        for syllable in syllables:
            for similar in facts.similar_sounds.get(syllable, ()):
                row[self._by_sound.get(similar, _NONE)] = classes.similar_sound
        for syllable in syllables:
            row[self._by_sound.get(syllable, _NONE)] = classes.same_sound
        row[written_id] = classes.same
        return row
