"""What this processor can do at most: int8 and fp32 products, and reading memory."""

from __future__ import annotations

import os
import platform
import statistics
import time
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from handler.adapters import cpu

_SHAPE: Final = (768, 3072)  # the first feed-forward product of BERT-base
_REPEATS: Final = 80
_READ_BYTES: Final = 256 * 2**20  # more than any cache


def facts() -> dict[str, Any]:
    """Return the processor's name, how many of it, and its telling features."""
    names = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        if line.startswith("model name")
    ]
    return {
        "processor": names[0] if names else platform.machine(),
        "count": os.cpu_count(),
        "features": list(cpu.features()),
        "python": platform.python_version(),
        "onnxruntime": onnxruntime.__version__,
        "load": os.getloadavg()[0],
    }


def product_rate(rows: int, threads: int, *, integers: bool) -> float:
    """Return the rate of one product of (rows, 768) by (768, 3072) in onnxruntime, in 1e9 operations a second."""
    inputs, outputs = _SHAPE
    chance = np.random.default_rng(0)
    if integers:
        x = chance.integers(0, 255, (rows, inputs)).astype(np.uint8)
        constants = {
            "matrix": chance.integers(-60, 60, _SHAPE).astype(np.int8),
            "one": np.array(1, np.float32),
            "scales": np.ones(outputs, np.float32),
            "zero": np.array(128, np.uint8),
            "no_zero": np.array(0, np.int8),
        }
        operands = ["x", "matrix", "one", "scales", "zero", "no_zero"]
        node = helper.make_node("MatMulIntegerToFloat", operands, ["y"], domain="com.microsoft")
    else:
        x = chance.normal(size=(rows, inputs)).astype(np.float32)
        constants = {"matrix": chance.normal(size=_SHAPE).astype(np.float32)}
        node = helper.make_node("MatMul", ["x", "matrix"], ["y"])
    session = _session([node], constants, x, outputs, threads)
    times = []
    for _ in range(_REPEATS):
        start = time.perf_counter()
        session.run(None, {"x": x})
        times.append(time.perf_counter() - start)
    return 2 * rows * inputs * outputs / statistics.median(times) / 1e9


def _session(
    nodes: list[Any], constants: dict[str, Any], x: Any, outputs: int, threads: int
) -> onnxruntime.InferenceSession:
    kind = TensorProto.UINT8 if x.dtype == np.uint8 else TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "product",
        [helper.make_tensor_value_info("x", kind, [None, x.shape[1]])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, outputs])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    model: onnx.ModelProto = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def read_rate() -> float:
    """Return how fast one thread reads memory that no cache holds, in 1e9 bytes a second."""
    values = np.ones(_READ_BYTES // 8, np.int64)
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        values.max()  # one comparison for eight bytes: memory is the limit
        best = min(best, time.perf_counter() - start)
    return _READ_BYTES / best / 1e9
