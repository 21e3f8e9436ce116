"""How widely the units spread that enter the products, measured on sentences of our own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import onnx
from onnx import TensorProto, helper
from tokenizers import Tokenizer

from export.architecture import Architecture
from export.session import open_session
from handler.core.types import FloatArray

_SENTENCES_AT_ONCE: Final = 4  # longer inputs than single sentences, as the service gets both


def measure_spreads(
    model: Path, tokenizer: Tokenizer, texts: Sequence[str], architecture: Architecture
) -> Mapping[str, FloatArray]:
    """Run the fused fp32 graph and average the squares of each unit that enters a layer.

    Args:
        model: the graph of the optimize stage.
        tokenizer: of the same checkpoint.
        texts: at least one.
        architecture: of the network.

    Returns:
        Root mean squares (hidden,) by the name of the product that the units enter: query_key_value and up of every
        layer. Where layers share weights, over all of them.
    """
    products = _entered_products(architecture)
    proto = onnx.load(str(model))
    for value in products:
        proto.graph.output.append(helper.make_tensor_value_info(value, TensorProto.FLOAT, None))
    probed = model.with_name("probed.onnx")
    onnx.save(proto, str(probed))
    try:
        session = open_session(probed)
        squares: dict[str, FloatArray] = {}
        counts: dict[str, int] = {}
        for start in range(0, len(texts), _SENTENCES_AT_ONCE):
            ids = tokenizer.encode("".join(texts[start : start + _SENTENCES_AT_ONCE])).ids
            row = np.array([ids[: architecture.max_positions]], np.int64)
            feeds = {"input_ids": row, "mask_positions": np.arange(row.shape[1])}  # all of them, for the last layer
            for value, units in zip(products, session.run(list(products), feeds), strict=True):
                rows = units.reshape(-1, units.shape[-1])
                name = products[value]
                squares[name] = squares.get(name, np.zeros(rows.shape[1], np.float32)) + (rows**2).sum(axis=0)
                counts[name] = counts.get(name, 0) + len(rows)
    finally:
        probed.unlink()
    return {name: np.sqrt(total / counts[name]) for name, total in squares.items()}


def _entered_products(architecture: Architecture) -> Mapping[str, str]:
    """Map values of the fused graph to the products that they enter."""
    entered: dict[str, str] = {}
    for step in range(architecture.layers):
        layer = architecture.layer_name(step)
        before = f"step{step - 1}.output_norm.normed" if step else _first_value(architecture)
        entered[before] = f"{layer}.query_key_value"
        entered[f"step{step}.attention_norm.normed"] = f"{layer}.up"
    return entered


def _first_value(architecture: Architecture) -> str:
    return "projected" if architecture.family == "albert" else "embeddings.normed"
