"""OpenVINO, weights and activations in int8 with scales found on sample texts (nncf.quantize)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.benchmarks.jobs.openvino import OpenVino
from tests.benchmarks.worker import Stopwatch


def load(model: Path, threads: int, watch: Stopwatch) -> Any:
    """Open the quantized graph."""
    return OpenVino(model, threads, watch, "openvino_int8.xml")
