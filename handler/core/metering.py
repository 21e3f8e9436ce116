"""The model with a meter: how long one request's runs took, and what the next will take."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from handler.core.estimate import RunEstimate
from handler.core.ports import MaskedLanguageModel
from handler.core.types import FloatArray, MaskedSequence


class MeteredModel:
    """Passes sequences on to a model and adds up the time.

    Args:
        model: the model.
        estimate: learns from every call.
        clock: seconds, monotonic.
    """

    def __init__(self, model: MaskedLanguageModel, estimate: RunEstimate, clock: Callable[[], float]) -> None:
        self._model = model
        self._estimate = estimate
        self._clock = clock
        self.run_ms = 0.0

    def logits(self, sequences: Sequence[MaskedSequence]) -> list[FloatArray]:
        """See handler.core.ports.MaskedLanguageModel."""
        start = self._clock()
        logits = self._model.logits(sequences)
        ms = (self._clock() - start) * 1000
        self.run_ms += ms
        tokens = sum(len(sequence.ids) for sequence in sequences)
        if tokens:
            self._estimate.record(tokens, ms)
        return logits
