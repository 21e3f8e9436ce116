"""The checkpoint itself in torch and transformers: what every graph is compared with."""

from __future__ import annotations

import contextlib
import importlib
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from export.architecture import Architecture
from export.errors import HeadMissingError, SourceMissingError, WeightsMissingError, WeightsUnreadableError
from handler.core.types import FloatArray

IdArray = npt.NDArray[np.int64]

_HEAD_PREFIXES = ("cls.", "predictions.")
_UNUSED_PARTS = ("pooler", "seq_relationship", "sop_classifier")


class Reference:
    """A transformers model in evaluation mode.

    Args:
        folder: with config.json and the weights, in safetensors or torch's own format.
        architecture: of the same checkpoint.

    Raises:
        SourceMissingError: there are no weights.
        WeightsUnreadableError: they are damaged or of other shapes.
        WeightsMissingError: some are absent; HeadMissingError when the head is.
    """

    def __init__(self, folder: Path, architecture: Architecture) -> None:
        self._torch = importlib.import_module("torch")
        transformers = importlib.import_module("transformers")
        transformers.logging.disable_progress_bar()
        with _quiet(transformers):
            try:
                self._model, loading = getattr(transformers, architecture.model_class).from_pretrained(
                    folder, attn_implementation="eager", dtype=self._torch.float32, output_loading_info=True
                )
            except Exception as error:
                if not any(folder.glob("*.safetensors*")) and not any(folder.glob("pytorch_model*")):
                    raise SourceMissingError("the checkpoint has no weights for torch.") from error
                raise WeightsUnreadableError(f"the weights cannot be loaded: {_first_line(error)}") from error
        missing = sorted(name for name in loading["missing_keys"] if not any(part in name for part in _UNUSED_PARTS))
        if any(name.startswith(_HEAD_PREFIXES) for name in missing):
            raise HeadMissingError(missing)
        if missing:
            raise WeightsMissingError(missing)
        self._model.eval()

    def save(self, folder: Path) -> None:
        """Write config.json and model.safetensors, in fp32 and with today's names."""
        self._model.save_pretrained(folder)

    def all_logits(self, ids: IdArray, attention_mask: IdArray, token_types: IdArray) -> FloatArray:
        """Score the vocabulary at every position: int64 (batch, sequence) each, to float32 (batch, sequence, vocab)."""
        torch = self._torch
        with torch.inference_mode():
            output = self._model(
                input_ids=torch.from_numpy(ids),
                attention_mask=torch.from_numpy(attention_mask),
                token_type_ids=torch.from_numpy(token_types),
            )
        return np.asarray(output.logits.numpy(), np.float32)

    def masked_logits(self, sequences: Sequence[Sequence[int]], positions: Sequence[Sequence[int]]) -> FloatArray:
        """Score the vocabulary at some positions of each sequence.

        Sequences of equal length are batched, so that nothing is padded.

        Args:
            sequences: token ids of each text.
            positions: indices into the same sequence, at least one each.

        Returns:
            float32 (all positions, vocab), in the order given.
        """
        rows: list[FloatArray | None] = [None] * len(sequences)
        by_length: dict[int, list[int]] = {}
        for index, sequence in enumerate(sequences):
            by_length.setdefault(len(sequence), []).append(index)
        for members in by_length.values():
            for start in range(0, len(members), 32):
                batch = members[start : start + 32]
                ids = np.array([sequences[index] for index in batch], np.int64)
                logits = self.all_logits(ids, np.ones_like(ids), np.zeros_like(ids))
                for row, index in enumerate(batch):
                    rows[index] = logits[row, list(positions[index])]
        return np.concatenate([row for row in rows if row is not None])


@contextlib.contextmanager
def _quiet(transformers: Any) -> Iterator[None]:
    before = transformers.logging.get_verbosity()
    transformers.logging.set_verbosity(logging.CRITICAL)
    try:
        yield
    finally:
        transformers.logging.set_verbosity(before)


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
