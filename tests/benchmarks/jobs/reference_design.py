"""The reference design, as tutorials write it: transformers' tokenizer, fp32 graph, logits of every position, numpy.

The folder holds the checkpoint's tokenizer and the model.onnx that torch.onnx.export traced from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks.worker import Candidates, Stopwatch

TOP: int = 5


class ReferenceDesign:
    """Session and tokenizer with the defaults of their libraries."""

    def __init__(self, model: Path, threads: int, watch: Stopwatch) -> None:
        with watch.part("imports"):
            import numpy
            import onnxruntime
            from transformers import AutoTokenizer
        self.numpy = numpy
        with watch.part("tokenizer"):
            self.tokenizer: Any = AutoTokenizer.from_pretrained(model)
        with watch.part("session"):
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = threads
            path = str(model / "model.onnx")
            self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    def logits(self, texts: Sequence[str]) -> tuple[Any, Any]:
        """Return ids (texts, sequence) and logits (texts, sequence, vocab)."""
        encoded = self.tokenizer(list(texts), return_tensors="np", padding=True, truncation=True, max_length=128)
        names = ("input_ids", "attention_mask", "token_type_ids")
        feeds = {name: encoded[name].astype("int64") for name in names}
        return encoded["input_ids"], self.session.run(None, feeds)[0]

    def ranked(self, ids: Any, logits: Any) -> Candidates:
        """Rank the candidates of one text: its ids (sequence,), its logits (sequence, vocab)."""
        numpy = self.numpy
        at = int(numpy.where(ids == self.tokenizer.mask_token_id)[0][0])
        exponentials = numpy.exp(logits[at] - logits[at].max())
        probabilities = exponentials / exponentials.sum()
        best = numpy.argsort(probabilities)[::-1][:TOP]
        return [(self.tokenizer.decode([int(each)]), float(probabilities[each])) for each in best]

    def __call__(self, text: str) -> Candidates:
        """Answer one text."""
        return self.batch([text])[0]

    def batch(self, texts: Sequence[str]) -> list[Candidates]:
        """Answer many texts, padded to the longest."""
        ids, logits = self.logits(texts)
        return [self.ranked(*row) for row in zip(ids, logits, strict=True)]


load = ReferenceDesign
