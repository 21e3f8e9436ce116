"""Model passes of one text, counted against its budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from handler.core.errors import PassBudgetError
from handler.core.ports import MaskedLanguageModel
from handler.core.ranking import log_softmax
from handler.core.types import FloatArray, MaskedSequence, PreparedText

Rows = Mapping[int, FloatArray]  # log-probabilities over the vocabulary, by the index of a blank


class Passes:
    """Runs the model on variants of a text in which some blanks are filled.

    Args:
        model: the model.
        text: the prepared text.
        budget: how many passes the text may take, with the first, which is none of these.
    """

    def __init__(self, model: MaskedLanguageModel, text: PreparedText, budget: int) -> None:
        self._model = model
        self._text = text
        self._budget = budget
        self.spent = 1

    @property
    def left(self) -> int:
        """How many more passes the text may take."""
        return self._budget - self.spent

    def open_rows(self, fillings: Sequence[Mapping[int, int]]) -> list[Rows]:
        """Return, for each filling (blank's index to token id), the rows of the blanks that it leaves open.

        Raises:
            PassBudgetError: there are more fillings than passes left.
        """
        if len(fillings) > self.left:
            raise PassBudgetError(limit=self._budget)
        self.spent += len(fillings)
        logits = self._model.logits([self._sequence(filling) for filling in fillings])
        return [
            dict(zip(self._open(filling), log_softmax(rows), strict=True))
            for filling, rows in zip(fillings, logits, strict=True)
        ]

    def _open(self, filling: Mapping[int, int]) -> list[int]:
        return [slot for slot in range(len(self._text.masks)) if slot not in filling]

    def _sequence(self, filling: Mapping[int, int]) -> MaskedSequence:
        ids = list(self._text.sequence.ids)
        positions = self._text.sequence.mask_positions
        for slot, token in filling.items():
            ids[positions[slot]] = token
        return MaskedSequence(ids=tuple(ids), mask_positions=tuple(positions[slot] for slot in self._open(filling)))
