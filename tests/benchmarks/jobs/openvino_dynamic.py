"""OpenVINO, weights in int8 and activations quantized by row as they come (its dynamic quantization)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.benchmarks.jobs.openvino import OpenVino
from tests.benchmarks.worker import Stopwatch

_GROUP = 768  # a whole row of BERT-base


def load(model: Path, threads: int, watch: Stopwatch) -> Any:
    """Open the graph with compressed weights; other arithmetic in fp32."""
    more = {"INFERENCE_PRECISION_HINT": "f32", "DYNAMIC_QUANTIZATION_GROUP_SIZE": _GROUP}
    return OpenVino(model, threads, watch, "openvino_weights.xml", **more)
