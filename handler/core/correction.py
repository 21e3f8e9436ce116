"""Likely wrong characters of a text, and what should stand in their place.

Every character is hidden once, in a fixed number of passes however long the sentence is: each pass hides every seventh
token, the share that BERT learnt with. The margin of a candidate is how much more likely it is than what stands there,
by the language model and the error model together. Only Chinese characters that the vocabulary knows are looked at, and
a correction never changes the length of a text: missing and superfluous characters are out of its reach.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from handler.core.error_model import ErrorModel
from handler.core.ports import MaskedLanguageModel, Tokenizer
from handler.core.ranking import log_softmax, shortest
from handler.core.sentences import Part, masked
from handler.core.types import BoolArray, FloatArray
from handler.core.vocabulary import Vocabulary, is_han

STRIDE: Final = 7  # one token in seven is hidden at a time
SUGGESTIONS: Final = 3
PARTICLES: Final = frozenset("的地得")  # written for each other by habit more than by mistake


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenSuggestion:
    """A character that should rather stand there, and by how much (natural logarithm)."""

    token_id: int
    margin: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A token that is likely wrong: where it stands, and the suggestions, best first."""

    part: int
    position: int
    suggestions: tuple[TokenSuggestion, ...]


def passes_needed(parts: Sequence[Part]) -> int:
    """Return the most passes that a text takes; fewer where there is nothing to look at in some."""
    return STRIDE * len(parts)


class Corrector:
    """Finds wrong characters.

    Args:
        tokenizer: the model's own.
        vocabulary: the classes of its tokens.
        errors: which character is written for which.
    """

    def __init__(self, tokenizer: Tokenizer, vocabulary: Vocabulary, errors: ErrorModel) -> None:
        self._tokenizer = tokenizer
        self._vocabulary = vocabulary
        self._errors = errors
        self._characters: BoolArray = np.asarray(
            [self._is_character(token_id) for token_id in range(len(vocabulary))], dtype=np.bool_
        )
        self._particles = [token_id for token_id in range(len(vocabulary)) if vocabulary.piece(token_id) in PARTICLES]

    def _is_character(self, token_id: int) -> bool:
        surface = self._vocabulary.surface(token_id)
        return len(surface) == 1 and is_han(surface) and self._vocabulary.is_offerable(token_id)

    def find(
        self, parts: Sequence[Part], model: MaskedLanguageModel, *, particles: bool
    ) -> tuple[tuple[Finding, ...], int]:
        """Return what is likely wrong, in the order of the text, and the number of passes.

        Args:
            parts: the text.
            model: runs them, with tokens hidden.
            particles: whether 的, 地 and 得 are corrected into each other.

        Raises:
            InferenceError: the runtime failed.
        """
        found = []
        passes = 0
        for at, part in enumerate(parts):
            rows, spent = self._rows(part, model)
            passes += spent
            for position in sorted(rows):
                suggestions = self._suggestions(part.ids[position], rows[position], particles=particles)
                if suggestions:
                    found.append(Finding(part=at, position=position, suggestions=suggestions))
        return tuple(found), passes

    def _rows(self, part: Part, model: MaskedLanguageModel) -> tuple[dict[int, FloatArray], int]:
        """Return log-probabilities, (vocab,), at every Chinese character, each seen with itself hidden; and passes."""
        hidden = [positions for start in range(STRIDE) if (positions := tuple(self._eligible(part, start)))]
        logits = model.logits([masked(part, positions, self._tokenizer) for positions in hidden])
        found = {
            position: row
            for positions, rows in zip(hidden, logits, strict=True)
            for position, row in zip(positions, log_softmax(rows), strict=True)
        }
        return found, len(hidden)

    def _eligible(self, part: Part, start: int) -> Iterator[int]:
        return (at for at in range(start, len(part.ids), STRIDE) if self._characters[part.ids[at]])

    def _suggestions(self, written_id: int, row: FloatArray, *, particles: bool) -> tuple[TokenSuggestion, ...]:
        written = self._vocabulary.surface(written_id)
        totals = np.where(self._characters, row + self._errors.log_probabilities(written, written_id), -np.inf)
        if not particles and written_id in self._particles:
            totals[[token_id for token_id in self._particles if token_id != written_id]] = -np.inf
        margins = totals - totals[written_id]
        if margins.max() <= self._errors.threshold:
            return ()  # nearly always, so nothing has been sorted
        best = np.lexsort((np.arange(len(margins)), -margins))[:SUGGESTIONS]
        return tuple(
            TokenSuggestion(token_id=int(token_id), margin=shortest(margins[token_id]))
            for token_id in best
            if margins[token_id] > 0
        )
