"""Where a run of the session spends its time, by operator, and how much of it the integer products could explain."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnxruntime

_RUNS: Final = 40
_WARM_UP: Final = 10


def profile(artifact: Path, threads: int, tokens: int) -> dict[str, Any]:
    """Return microseconds of one run by operator, most first; profiling itself adds a few for each node."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.enable_profiling = True
    with tempfile.TemporaryDirectory() as scratch:
        options.profile_file_prefix = str(Path(scratch, "profile"))
        session = onnxruntime.InferenceSession(
            str(artifact / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        ids = np.random.default_rng(0).integers(1000, 5000, (1, tokens))
        for _ in range(_RUNS):
            session.run(None, {"input_ids": ids, "mask_positions": np.array([1])})
        events = json.loads(Path(session.end_profiling()).read_text(encoding="utf-8"))
    runs = sorted(event["ts"] for event in events if event["name"] == "model_run")
    spent: Counter[str] = Counter()
    nodes: Counter[str] = Counter()
    for event in events:
        if event.get("cat") == "Node" and event["name"].endswith("_kernel_time") and event["ts"] >= runs[_WARM_UP]:
            spent[event["args"]["op_name"]] += event["dur"]
            nodes[event["args"]["op_name"]] += 1
    counted = _RUNS - _WARM_UP
    return {op: {"us": total / counted, "nodes": round(nodes[op] / counted)} for op, total in spent.most_common()}
