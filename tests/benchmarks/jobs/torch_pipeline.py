"""transformers' fill-mask pipeline on torch, in fp32."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.benchmarks.worker import Candidates, Stopwatch


def load(model: Path, threads: int, watch: Stopwatch, precision: str = "float32") -> Any:
    """Open the pipeline."""
    with watch.part("imports"):
        import torch
        from transformers import pipeline
    torch.set_num_threads(threads)
    with watch.part("session"):
        fill: Any = pipeline("fill-mask", model=str(model), device="cpu", dtype=getattr(torch, precision))

    def answer(text: str) -> Candidates:
        return [(each["token_str"], each["score"]) for each in fill(text, top_k=5)]

    return answer
