"""An artifact seen through the code that serves it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from handler.adapters.artifact import open_artifact
from handler.adapters.onnx_model import OnnxMaskedLanguageModel
from handler.adapters.tokenizer import WordPieceTokenizer
from handler.core.text import TextPreparer
from handler.core.types import FloatArray, PreparedText
from handler.core.vocabulary import Vocabulary
from handler.settings import Settings


class ServedArtifact:
    """The service's own tokenizer, text preparation and session over one artifact.

    Args:
        folder: the artifact.
        threads: of one run.

    Raises:
        handler.core.errors.ModelUnavailableError: the service would not load it.
    """

    def __init__(self, folder: Path, *, threads: int = 1) -> None:
        self.artifact = open_artifact(folder)
        self.artifact.verify()
        self.tokenizer = WordPieceTokenizer(
            self.artifact.path("tokenizer.json"), self.artifact.special, self.artifact.vocabulary_size
        )
        self._model = OnnxMaskedLanguageModel(
            self.artifact.path("model.onnx"), threads=threads, vocabulary_size=self.artifact.vocabulary_size
        )
        self._ids = {token: token_id for token_id, token in enumerate(self.tokenizer.vocabulary)}
        vocabulary = Vocabulary(self.tokenizer.vocabulary, self.tokenizer.special_ids)
        # As long as the model sees, whatever the service would be set to.
        limits = Settings(max_tokens=self.artifact.max_positions).limits(self.artifact.max_positions)
        self._preparer = TextPreparer(self.tokenizer, vocabulary, limits)

    def prepare(self, text: str) -> PreparedText:
        """Encode a text with blanks as the service does."""
        return self._preparer.prepare(text)

    def logits(self, prepared: Sequence[PreparedText]) -> FloatArray:
        """Score the vocabulary at every blank: float32 (all blanks, vocab), text by text."""
        return np.concatenate([self._model.logits([text.sequence])[0] for text in prepared])

    def id_of(self, token: str) -> int | None:
        """Return the id of an entry of the vocabulary."""
        return self._ids.get(token)
