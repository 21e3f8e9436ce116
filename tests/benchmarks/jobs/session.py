"""This project: the session alone, from token ids to logits, as the service calls it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.benchmarks.worker import Candidates, Stopwatch


def load(model: Path, threads: int, watch: Stopwatch) -> Any:
    """Open the session; what is timed is one run, tokens made beforehand."""
    with watch.part("imports"):
        import handler  # noqa: F401 - sets what must be set before onnxruntime is imported
        from handler.adapters.artifact import open_artifact
        from handler.adapters.onnx_model import OnnxMaskedLanguageModel
        from handler.core.types import MaskedSequence
    with watch.part("session"):
        artifact = open_artifact(model)
        session = OnnxMaskedLanguageModel(
            artifact.path("model.onnx"), threads=threads, vocabulary_size=artifact.vocabulary_size
        )

    def run(text: str) -> Candidates:
        # Any id is as good as another for the time; as many as the text has characters.
        before, _, after = text.partition("[MASK]")
        ids = (1000 + at for at in range(len(before) + 1 + len(after) + 2))
        session.logits([MaskedSequence(ids=tuple(ids), mask_positions=(len(before) + 1,))])
        return [("", 0.0)]

    return run
