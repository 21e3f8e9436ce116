"""Nothing but the imports that no way of serving does without, for their memory and time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.benchmarks.worker import Candidates, Stopwatch


def load(model: Path, threads: int, watch: Stopwatch) -> Any:
    """Import onnxruntime, numpy and tokenizers."""
    with watch.part("imports"):
        import numpy  # noqa: F401
        import onnxruntime  # noqa: F401
        import tokenizers  # noqa: F401

    def nothing(text: str) -> Candidates:
        return [("", 0.0)]

    return nothing
