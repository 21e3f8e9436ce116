"""transformers' fill-mask pipeline on torch, in bf16."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.benchmarks.jobs import torch_pipeline
from tests.benchmarks.worker import Stopwatch


def load(model: Path, threads: int, watch: Stopwatch) -> Any:
    """Open the pipeline."""
    return torch_pipeline.load(model, threads, watch, precision="bfloat16")
