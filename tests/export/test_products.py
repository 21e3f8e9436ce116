"""Products in int8 against the same arithmetic in numpy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the export extra is not installed: no graph is tested")

import onnx

from export.graph import OPSET, GraphBuilder, save_model
from export.products import (
    BlockProducts,
    FloatProducts,
    Operand,
    Products,
    RowProducts,
    RunProducts,
)
from export.rounding import quantize_blocks, quantize_columns, smoothing_factors
from export.session import open_session
from export.weights import Dense
from handler.core.types import FloatArray

pytestmark = pytest.mark.torch

INPUTS, OUTPUTS = 48, 20


def dense(seed: int = 1) -> Dense:
    """A constant side with a bias."""
    rng = np.random.default_rng(seed)
    weight = rng.normal(0, 0.05, (INPUTS, OUTPUTS)).astype(np.float32)
    return Dense(name="right", weight=weight, bias=rng.normal(0, 1, OUTPUTS).astype(np.float32))


def run(
    tmp_path: Path, products: Products, right: Dense, rows: FloatArray, activation: str | None = None
) -> FloatArray:
    """Write a graph with this one product and run it."""
    graph = GraphBuilder()
    products.write(graph, Operand(value="rows", activation=activation), right, "result", bias=True)
    return answer(tmp_path, graph, right, rows)


def answer(tmp_path: Path, graph: GraphBuilder, right: Dense, rows: FloatArray) -> FloatArray:
    """Run a graph from rows to result."""
    model = graph.model("result", ["count", right.weight.shape[1]])
    model.graph.input.append(onnx.helper.make_tensor_value_info("rows", onnx.TensorProto.FLOAT, ["count", INPUTS]))
    save_model(model, tmp_path / "product.onnx")
    [result] = open_session(tmp_path / "product.onnx", threads=1).run(None, {"rows": rows})
    return np.asarray(result)


def activations(count: int = 9) -> FloatArray:
    """Rows of very different sizes, one of them with an outlier and one of zeros."""
    rng = np.random.default_rng(2)
    rows = (rng.normal(0, 1, (count, INPUTS)) * np.logspace(-3, 2, count)[:, None]).astype(np.float32)
    rows[4, 7] = 60.0
    rows[5] = 0.0
    return rows


def test_float_product_is_the_product(tmp_path: Path) -> None:
    """The plain way."""
    right, rows = dense(), activations()

    result = run(tmp_path, FloatProducts(), right, rows)

    np.testing.assert_allclose(result, rows @ right.weight + right.bias, rtol=1e-5, atol=1e-4)


def test_row_product_is_exact_integer_arithmetic(tmp_path: Path) -> None:
    """Round rows and matrix in numpy, multiply in integers, scale back: the graph gives the same."""
    right, rows = dense(), activations()
    matrix, scales = quantize_columns(right.weight, pairs=True)
    row_scales = np.maximum(np.abs(rows).max(axis=1, keepdims=True) * np.float32(1 / 127), np.float32(1e-12))
    integers = np.clip(np.rint(rows / row_scales), -128, 127).astype(np.int64)

    result = run(tmp_path, RowProducts(), right, rows)

    expected = (integers @ matrix.astype(np.int64)) * scales * row_scales + right.bias
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("activation", "floor"), [("gelu", -0.17), ("gelu_new", -0.17), ("relu", 0.0)])
def test_row_product_after_activation_spends_its_levels_above_the_floor(
    tmp_path: Path, activation: str, floor: float
) -> None:
    """Nearly twice the levels for a value that is never below its floor: a smaller error than around zero."""
    right = dense()
    rows = np.maximum(activations(), floor).astype(np.float32)
    exact = rows @ right.weight + right.bias

    above = np.abs(run(tmp_path, RowProducts(), right, rows, activation) - exact)[-2:].mean()
    around = np.abs(run(tmp_path, RowProducts(), right, rows) - exact)[-2:].mean()

    assert above < 0.8 * around


@pytest.mark.parametrize("products", [RowProducts(), BlockProducts(block=16)])
def test_row_result_does_not_depend_on_other_rows(tmp_path: Path, products: Products) -> None:
    """Bit for bit: one token's numbers are its own."""
    right, rows = dense(), activations()

    together = run(tmp_path, products, right, rows)
    alone = np.concatenate([run(tmp_path, products, right, rows[[index]]) for index in range(len(rows))])

    np.testing.assert_allclose(together, alone, rtol=1e-6, atol=1e-6)


def test_run_product_depends_on_other_rows(tmp_path: Path) -> None:
    """Why products that are sensitive to it have none."""
    right, rows = dense(), activations()

    together = run(tmp_path, RunProducts(), right, rows)

    assert np.abs(together[0] - run(tmp_path, RunProducts(), right, rows[[0]])[0]).max() > 1e-4


@pytest.mark.parametrize("kind", [FloatProducts, RowProducts, RunProducts])
@pytest.mark.parametrize("smoothed", [False, True])
def test_columns_are_the_whole_product(tmp_path: Path, kind: Any, smoothed: bool) -> None:
    """Columns side by side, with the same rounded rows; one of them without a bias."""
    whole = dense()
    right = replace(whole, bias=np.concatenate([whole.bias[: OUTPUTS // 2], np.zeros(OUTPUTS // 2, np.float32)]))
    spreads = {"right": np.linspace(0.1, 9, INPUTS).astype(np.float32)} if smoothed else {}
    products = kind() if kind is FloatProducts else kind(spreads=spreads)
    graph = GraphBuilder()
    columns = products.write_columns(graph, Operand(value="rows"), right, "test.whole", ["first", "second"])
    graph.node("Concat", columns, "result", axis=-1)

    together = answer(tmp_path, graph, right, activations())

    np.testing.assert_allclose(together, run(tmp_path, products, right, activations()), rtol=1e-5, atol=1e-5)


def test_products_of_asked_rows_have_scales_by_row(tmp_path: Path) -> None:
    """Bit for bit what the others write: what else was asked changes nothing."""
    right, graph = dense(), GraphBuilder()
    RunProducts().write(graph, Operand(value="rows", rows="masks"), right, "result", bias=True)

    asked = answer(tmp_path, graph, right, activations())

    np.testing.assert_array_equal(asked, run(tmp_path, RowProducts(), right, activations()))


def test_smoothing_does_not_change_the_product_and_helps_against_outliers(tmp_path: Path) -> None:
    """A unit a hundred times as large as the others takes all levels, unless it is made smaller first."""
    right = dense()
    rng = np.random.default_rng(4)
    rows = rng.normal(0, 1, (200, INPUTS)).astype(np.float32)
    rows[:, 5] *= 100
    spread = np.sqrt((rows**2).mean(axis=0))
    exact = rows @ right.weight + right.bias

    plain = np.abs(run(tmp_path, RowProducts(), right, rows) - exact).mean()
    smoothed = np.abs(run(tmp_path, RowProducts(spreads={"right": spread}), right, rows) - exact).mean()

    assert smoothed < plain / 3


def test_smoothing_factors_have_a_geometric_mean_of_one() -> None:
    """Overall size is the scales' business."""
    right = dense()

    factors = smoothing_factors(np.linspace(0.01, 5, INPUTS).astype(np.float32), right.weight)

    assert np.log(factors).mean() == pytest.approx(0, abs=1e-5)
    assert factors.min() > 0


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("inputs", [47, 48])
def test_paired_columns_never_leave_sixteen_bits(seed: int, inputs: int) -> None:
    """255 * (|a| + |b|) for inputs 2i and 2i + 1, the sum that AVX2 keeps in a signed 16-bit number."""
    matrix = np.random.default_rng(seed).standard_t(3, (inputs, OUTPUTS)).astype(np.float32)

    integers, scales = quantize_columns(matrix, pairs=True)

    magnitudes = np.abs(integers.astype(np.int64))
    padded = np.pad(magnitudes, ((0, inputs % 2), (0, 0)))
    assert 255 * (padded[0::2] + padded[1::2]).max() <= 2**15 - 1
    assert np.abs(integers * scales - matrix).max() <= scales.max() * 0.501
    # Half a bit, not the whole one that 7-bit weights cost.
    assert np.median(magnitudes.max(axis=0)) > 63


def test_blocks_are_close_and_padded_with_the_middle() -> None:
    """Fifty inputs in blocks of 16: the last block is filled up."""
    rows = np.random.default_rng(0).normal(0, 1, (7, 50)).astype(np.float32)

    integers, scales = quantize_blocks(rows, 16)

    restored = ((integers.astype(np.float32) - 128) * scales[..., None]).reshape(7, 64)
    assert integers.shape == (7, 4, 16)
    assert np.abs(restored[:, :50] - rows).max() <= scales.max() * 0.501
    assert (integers.reshape(7, 64)[:, 50:] == 128).all()


def test_graph_is_written_for_the_oldest_runtime_that_reads_it(tmp_path: Path) -> None:
    """Not with whatever versions the onnx package of the day prefers."""
    run(tmp_path, RowProducts(), dense(), activations())

    model = onnx.load(tmp_path / "product.onnx")

    assert (model.ir_version, model.opset_import[0].version) == (11, OPSET)
