"""OpenVINO with transformers' tokenizer; ranking as in the reference design."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks.jobs.reference_design import ReferenceDesign
from tests.benchmarks.worker import Stopwatch


class OpenVino(ReferenceDesign):
    """One request at a time, tuned for latency."""

    def __init__(self, model: Path, threads: int, watch: Stopwatch, graph: str, **more: Any) -> None:
        with watch.part("imports"):
            import numpy
            import openvino
            from transformers import AutoTokenizer
        self.numpy = numpy
        with watch.part("tokenizer"):
            self.tokenizer: Any = AutoTokenizer.from_pretrained(model)
        with watch.part("session"):
            settings = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": 1, **more}
            core = openvino.Core()
            self.compiled = core.compile_model(core.read_model(str(model / graph)), "CPU", settings)
            self.request = self.compiled.create_infer_request()

    def logits(self, texts: Sequence[str]) -> tuple[Any, Any]:
        """See ReferenceDesign."""
        encoded = self.tokenizer(list(texts), return_tensors="np", padding=True, truncation=True, max_length=128)
        feeds = {name: encoded[name].astype("int64") for name in ("input_ids", "attention_mask", "token_type_ids")}
        answer = self.request.infer(feeds, share_inputs=True, share_outputs=True)
        return encoded["input_ids"], answer[self.compiled.output(0)]


def load(model: Path, threads: int, watch: Stopwatch) -> Any:
    """Open the fp32 graph with OpenVINO's own choice of precision, which is bf16 where the processor has it."""
    return OpenVino(model, threads, watch, "openvino.xml")
