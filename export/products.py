"""Ways to write a product with a constant matrix: in fp32, and in int8 by rows, by run or by blocks.

Integers by rows: the matrix has one scale for each output, the activations one for each row (token), found at run time.
A row's numbers then depend on that row alone, and one row with a large value does not cost the others their precision,
as it does where the whole run has one scale. The sum itself is exact.

Integers by run: onnxruntime's DynamicQuantizeMatMul; one scale for all rows. The fewest nodes.

Integers by blocks: onnxruntime's MatMulNBits; a scale for every few inputs of matrix and row. The most precise and,
beyond a few rows, half as fast.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

import numpy as np

from export.graph import MICROSOFT, GraphBuilder
from export.rounding import MIDDLE, SMALLEST_SCALE, quantize_blocks, quantize_columns, smoothing_factors
from export.weights import Dense
from handler.core.types import FloatArray

ALL_TOKENS: Final = "tokens"

# The least value of erf GELU is -0.16997, that of its tanh form -0.17004.
_GELU_FLOOR: Final = 0.1701
# Levels below zero after an activation with that floor. More leave fewer for large values, fewer make the smallest step
# coarser; measured on model-v0 (export/README.md).
_GELU_LEVELS: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Operand:
    """The left side of a product: the value's name in the graph, and what is known about it."""

    value: str  # (..., inputs); what comes before the last axis counts as rows
    activation: str | None = None  # the activation that it comes from
    rows: str = ALL_TOKENS  # what its rows are: values that have the same rows say the same word


class Products(Protocol):
    """Writes products into a graph."""

    def write(self, graph: GraphBuilder, left: Operand, right: Dense, name: str, *, bias: bool) -> str:
        """Write ``left @ right.weight`` and, if asked for, ``+ right.bias``.

        Args:
            graph: takes the nodes.
            left: (..., inputs).
            right: the constant side; its arrays are kept under its own name, so that layers can share them.
            name: of the resulting value, unique in the graph.
            bias: whether to add it here; a fused activation or attention adds it itself.

        Returns:
            The name of the result, (..., outputs).
        """
        ...

    def write_columns(
        self, graph: GraphBuilder, left: Operand, right: Dense, name: str, parts: Sequence[str]
    ) -> list[str]:
        """Write the same, with its biases, as a result for each of equal parts of the columns.

        Args:
            graph: takes the nodes.
            left: (..., inputs).
            right: the constant side; a part of its bias that is all zeros is left out.
            name: of the whole, with a prefix that ends in a full stop.
            parts: what the parts are called, after that prefix.

        Returns:
            The names of the results, (..., outputs / parts) each.
        """
        whole = self.write(graph, left, right, name, bias=False)
        prefix = _prefix(name)
        columns = right.columns(*parts)
        biased = [bool(column.bias.any()) for column in columns]
        split = [
            f"{prefix}unbiased_{part}" if bias else prefix + part for part, bias in zip(parts, biased, strict=True)
        ]
        graph.nodes("Split", [whole], split, name=f"{prefix}split", axis=-1, num_outputs=len(parts))
        for column, value, part, bias in zip(columns, split, parts, biased, strict=True):
            if bias:
                _add_bias(graph, value, column, prefix + part)
        return [prefix + part for part in parts]


class FloatProducts(Products):
    """Plain fp32."""

    def write(self, graph: GraphBuilder, left: Operand, right: Dense, name: str, *, bias: bool) -> str:
        """See Products."""
        product = name if not bias else f"{name}.product"
        graph.node("MatMul", [left.value, graph.constant(f"{right.name}.weight", right.weight)], product)
        return _add_bias(graph, product, right, name) if bias else product


@dataclass(frozen=True, slots=True, kw_only=True)
class RowProducts(Products):
    """Integers by rows.

    The matrix is kept in signed bytes, which AMX and VNNI multiply fastest by the unsigned bytes of the rows.
    Processors without them add two such products in 16 bits and saturate (onnxruntime's documentation on quantization,
    "When to use reduce-range"). The usual way out is to keep 7 bits of the matrix; it is enough to keep the sum of the
    two magnitudes that are added within 7 bits, and as large weights seldom stand side by side, that costs half a bit.

    Args:
        saturating: whether the matrix may use all 8 bits, with other answers on processors without VNNI.
        spreads: root mean squares (inputs,) of what enters a product, by the name of its constant side: where they are
            known, it is smoothed (smoothing_factors).
    """

    saturating: bool = False
    spreads: Mapping[str, FloatArray] = field(default_factory=dict)

    def write(self, graph: GraphBuilder, left: Operand, right: Dense, name: str, *, bias: bool) -> str:
        """See Products."""
        x, matrix = _smoothed(graph, left, right, self.spreads, name)
        quantized, columns = quantize_columns(matrix, pairs=not self.saturating)
        if left.activation is None:
            scales, zero = self._symmetric(graph, x, name), MIDDLE
        else:
            scales, zero = self._after_activation(graph, x, name, left.activation)
        single = graph.constant(f"row_zero.{zero}", np.array(zero, np.uint8))
        rows = self._quantized(graph, dataclasses.replace(left, value=x), scales, zero, len(matrix), name)
        product = graph.node(
            "MatMulIntegerToFloat",
            [
                rows,
                graph.constant(f"{right.name}.weight", quantized),
                graph.constant("one", np.array(1, np.float32)),
                graph.constant(f"{right.name}.scales", columns),
                single,
                graph.constant("weight_zero", np.zeros((), np.int8)),
            ],
            f"{name}.integer",
            domain=MICROSOFT,
        )
        scaled = name if not bias else f"{name}.product"
        graph.node("Mul", [product, scales], scaled)
        return _add_bias(graph, scaled, right, name) if bias else scaled

    def _symmetric(self, graph: GraphBuilder, x: str, name: str) -> str:
        largest = graph.node("ReduceMax", [graph.node("Abs", [x], f"{name}.abs"), _last_axis(graph)], f"{name}.largest")
        # A row of zeros has scale 0: whatever its integers become, times 0 they are 0 again.
        return graph.node("Mul", [largest, _scalar(graph, "per_level", 1 / 127)], f"{name}.row_scales")

    def _after_activation(self, graph: GraphBuilder, x: str, name: str, activation: str) -> tuple[str, int]:
        # Values have a floor close to zero: nearly all levels can go to the positive side. Zero keeps its own one;
        # without that, every near-zero unit is off by the same amount and the errors add up.
        floor, below = (0.0, 0) if activation == "relu" else (_GELU_FLOOR, _GELU_LEVELS)
        least = max(floor / below if below else 0.0, SMALLEST_SCALE)
        levels = 255 - below
        largest = graph.node("ReduceMax", [x, _last_axis(graph)], f"{name}.largest")
        scales = graph.node("Mul", [largest, _scalar(graph, f"per_{levels}", 1 / levels)], f"{name}.unbounded_scales")
        scales = graph.node("Max", [scales, _scalar(graph, f"least_scale.{below}", least)], f"{name}.row_scales")
        return scales, below

    def _quantized(self, graph: GraphBuilder, left: Operand, scales: str, zero: int, width: int, name: str) -> str:
        # A row is one block of its last axis. Scales along axis 0 mean the same, take twice as long beyond a few rows,
        # and want a vector, which costs a node more. Zeros have the shape of the scales; one array for equal rows.
        zeros = f"row_zeros.{zero}.{left.rows}"
        if not graph.has(zeros):
            shape = graph.node("Shape", [scales], f"row_shape.{zero}.{left.rows}")
            graph.node("Expand", [graph.constant(f"row_zero.{zero}", np.array(zero, np.uint8)), shape], zeros)
        return graph.node("QuantizeLinear", [left.value, scales, zeros], f"{name}.rows", axis=-1, block_size=width)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProducts(Products):
    """Integers with one scale for the whole left side, by onnxruntime's DynamicQuantizeMatMul.

    The fewest nodes; but the numbers of a row then depend on all rows of the run. Where these are not all tokens of the
    text but some that were asked for, scales are by row: an answer must not depend on what else was asked.

    Args:
        spreads: as for RowProducts.
    """

    spreads: Mapping[str, FloatArray] = field(default_factory=dict)

    def write(self, graph: GraphBuilder, left: Operand, right: Dense, name: str, *, bias: bool) -> str:
        """See Products."""
        if left.rows != ALL_TOKENS:
            return RowProducts(spreads=self.spreads).write(graph, left, right, name, bias=bias)
        x, matrix = _smoothed(graph, left, right, self.spreads, name)
        quantized, scales = quantize_columns(matrix, pairs=True)
        operands = [
            x,
            graph.constant(f"{right.name}.weight", quantized),
            graph.constant(f"{right.name}.scales", scales),
            "",
            graph.constant(f"{right.name}.bias", right.bias) if bias else "",
        ]
        return graph.node("DynamicQuantizeMatMul", operands[: 5 if bias else 3], name, domain=MICROSOFT)

    def write_columns(
        self, graph: GraphBuilder, left: Operand, right: Dense, name: str, parts: Sequence[str]
    ) -> list[str]:
        """See Products; here as products of their own, over a left side that is rounded once.

        To split one result copies it on one thread: from 32 tokens on, that takes longer than more products.
        """
        if left.rows != ALL_TOKENS:
            return RowProducts(spreads=self.spreads).write_columns(graph, left, right, name, parts)
        prefix = _prefix(name)
        x, matrix = _smoothed(graph, left, right, self.spreads, name)
        rounded = [f"{name}.{part}" for part in ("rows", "scale", "zero")]
        graph.nodes("DynamicQuantizeLinear", [x], rounded, name=f"{name}.rounded")
        quantized, scales = quantize_columns(matrix, pairs=True)
        weight_zero = graph.constant("weight_zero", np.zeros((), np.int8))
        columns = right.columns(*parts)
        shares = zip(np.split(quantized, len(parts), axis=1), np.split(scales, len(parts)), strict=True)
        for column, part, (weight, scale) in zip(columns, parts, shares, strict=True):
            operands = [
                rounded[0],
                graph.constant(f"{column.name}.weight", weight),
                rounded[1],
                graph.constant(f"{column.name}.scales", scale),
                rounded[2],
                weight_zero,
            ]
            if column.bias.any():
                operands.append(graph.constant(f"{column.name}.bias", column.bias))
            graph.node("MatMulIntegerToFloat", operands, prefix + part, domain=MICROSOFT)
        return [prefix + part for part in parts]


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockProducts(Products):
    """Integers by blocks.

    Args:
        block: inputs that share a scale; a power of two from 16 on.
    """

    block: int

    def write(self, graph: GraphBuilder, left: Operand, right: Dense, name: str, *, bias: bool) -> str:
        """See Products."""
        quantized, scales = quantize_blocks(right.weight.T, self.block)
        table = graph.constant(f"{right.name}.weight", quantized)
        return write_block_product(
            graph,
            left.value,
            table,
            graph.constant(f"{right.name}.scales", scales),
            graph.constant(f"{right.name}.bias", right.bias) if bias else None,
            name,
            inputs=right.weight.shape[0],
            outputs=right.weight.shape[1],
            block=self.block,
        )


def write_block_product(
    graph: GraphBuilder,
    left: str,
    table: str,
    scales: str,
    bias: str | None,
    name: str,
    *,
    inputs: int,
    outputs: int,
    block: int,
) -> str:
    """Write a MatMulNBits over a table (outputs, blocks, block) of unsigned bytes around 128."""
    operands = [left, table, scales] + ([] if bias is None else ["", "", bias])
    return graph.node(
        "MatMulNBits",
        operands,
        name,
        domain=MICROSOFT,
        K=inputs,
        N=outputs,
        bits=8,
        block_size=block,
        accuracy_level=4,  # activations in int8, by row and block
    )


def _smoothed(
    graph: GraphBuilder, left: Operand, right: Dense, spreads: Mapping[str, FloatArray], name: str
) -> tuple[str, FloatArray]:
    """Return both sides of a product, smoothed where the spread of the left one is known."""
    if right.name not in spreads:
        return left.value, right.weight
    factors = smoothing_factors(spreads[right.name], right.weight)
    x = graph.node("Mul", [left.value, graph.constant(f"{right.name}.smoothing", 1 / factors)], f"{name}.smoothed")
    return x, right.weight * factors[:, None]


def _prefix(name: str) -> str:
    return name[: name.rindex(".") + 1]


def _add_bias(graph: GraphBuilder, product: str, right: Dense, name: str) -> str:
    return graph.node("Add", [product, graph.constant(f"{right.name}.bias", right.bias)], name)


def _scalar(graph: GraphBuilder, name: str, value: float) -> str:
    return graph.constant(name, np.array(value, np.float32))


def _last_axis(graph: GraphBuilder) -> str:
    return graph.constant("axis.last", [-1])
