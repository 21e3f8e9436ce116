"""onnxruntime sessions for the pipeline's own looks at a graph; proofs go through the serving code instead."""

from __future__ import annotations

import os
from pathlib import Path

# As in handler/__init__.py: without it the library writes under the home directory and calls home.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

import onnxruntime

from export.errors import StructureError


def open_session(model: Path, *, threads: int = 0) -> onnxruntime.InferenceSession:
    """Load a graph.

    Args:
        model: the file.
        threads: of one run; 0 for as many as there are processors.

    Raises:
        StructureError: onnxruntime does not accept it.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise StructureError([f"onnxruntime does not load {model.name}: {error}"]) from error
