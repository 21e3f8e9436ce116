"""Tiny ONNX graphs, written byte by byte, for what no exported model would do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_FLOAT: Final = 1
_INT64: Final = 7


def _varint(number: int) -> bytes:
    encoded = b""
    while number > 0x7F:
        encoded += bytes([number & 0x7F | 0x80])
        number >>= 7
    return encoded + bytes([number])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes | str) -> bytes:
    content = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _tensor_info(name: str, kind: int, shape: Sequence[int | str]) -> bytes:
    dimensions = b"".join(_bytes(1, _number(1, size) if isinstance(size, int) else _bytes(2, size)) for size in shape)
    return _bytes(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, dimensions)))


def _node(operator: str, inputs: Sequence[str], outputs: Sequence[str], attributes: bytes = b"") -> bytes:
    names = b"".join(_bytes(1, name) for name in inputs) + b"".join(_bytes(2, name) for name in outputs)
    return names + _bytes(4, operator) + attributes


def graph(
    *,
    inputs: Sequence[str] = ("input_ids", "attention_mask", "token_type_ids", "mask_positions"),
    shape: Sequence[int | str] = ("masks", 7),
    outputs: int = 1,
    rows: int = 4,
) -> bytes:
    """Return a graph whose scores are zeros: (masks, 7), read from a constant by the mask's positions.

    Args:
        inputs: names that it declares.
        shape: that it declares of its output.
        outputs: how many it gives; the first are the scores.
        rows: how many positions it knows.
    """
    table = _number(1, rows) + _number(1, 7) + _number(2, _FLOAT) + _bytes(8, "table") + _bytes(9, bytes(4 * 7 * rows))
    nodes = [_bytes(1, _node("Gather", ["table", inputs[-1]], ["logits"]))]
    named = ["logits"]
    for at in range(1, outputs):
        nodes.append(_bytes(1, _node("Identity", ["logits"], [f"more_{at}"])))
        named.append(f"more_{at}")
    body = b"".join(nodes) + _bytes(2, "graph") + _bytes(5, table)
    for name in inputs:
        size: Sequence[int | str] = ("masks",) if name == inputs[-1] else ("batch", "sequence")
        body += _bytes(11, _tensor_info(name, _INT64, size))
    body += b"".join(_bytes(12, _tensor_info(name, _FLOAT, shape)) for name in named)
    opset = _bytes(1, "") + _number(2, 17)
    return _number(1, 8) + _bytes(7, body) + _bytes(8, opset)
