"""optimum-onnx: its quantized graph behind transformers' fill-mask pipeline, as its documentation shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.benchmarks.worker import Candidates, Stopwatch


def load(model: Path, threads: int, watch: Stopwatch) -> Any:
    """Open the pipeline."""
    with watch.part("imports"):
        import onnxruntime
        from optimum.onnxruntime import ORTModelForMaskedLM
        from transformers import AutoTokenizer, pipeline
    with watch.part("session"):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        network = ORTModelForMaskedLM.from_pretrained(
            model, file_name="model_quantized.onnx", session_options=options, provider="CPUExecutionProvider"
        )
        fill: Any = pipeline("fill-mask", model=network, tokenizer=AutoTokenizer.from_pretrained(model))

    def answer(text: str) -> Candidates:
        return [(each["token_str"], each["score"]) for each in fill(text, top_k=5)]

    return answer
