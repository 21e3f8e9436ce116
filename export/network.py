"""The graph of a masked language model of the BERT family, written from its weights.

Written here instead of traced by torch.onnx and fused by pattern afterwards: see export/README.md, "Why the graph is
written by hand". Values are (batch, sequence, units) up to the head, which reads rows (masks, units) and picks them by
flat position.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import onnx
from onnx import TensorProto

from export.architecture import Architecture
from export.folding import fold_biases
from export.graph import MICROSOFT, GraphBuilder
from export.products import FloatProducts, Operand, Products, write_block_product
from export.rounding import quantize_blocks
from export.weights import Dense, Layer, Norm, Weights

INPUTS: Final = ("input_ids", "attention_mask", "token_type_ids", "mask_positions")
OUTPUT: Final = "logits"

_PARTS: Final = ("query", "key", "value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How the same network is written down.

    Args:
        masked_head: the head runs at mask_positions only; otherwise at every position, as the reference design does.
        single: one text of one segment in a run, without padding, as the service runs them; with a masked head. Then
            attention is one node without a mask, most biases are folded away (export.folding), and after the last keys
            and values only the rows at mask_positions go on: nothing reads the others. Otherwise all is written out
            step by step, as in the papers.
        products: of every product that ``exceptions`` does not name.
        exceptions: other products, by the name of the constant side.
        table_block: inputs that share a scale in the word table and the decoder; None for fp32.
    """

    masked_head: bool = True
    single: bool = False
    products: Products = field(default_factory=FloatProducts)
    exceptions: Mapping[str, Products] = field(default_factory=dict)
    table_block: int | None = None

    def products_of(self, right: Dense) -> Products:
        """Return what writes the product with this constant side."""
        return self.exceptions.get(right.name, self.products)


def write_network(architecture: Architecture, weights: Weights, layout: Layout) -> onnx.ModelProto:
    """Write the graph.

    Inputs, int64: input_ids, attention_mask and token_type_ids (batch, sequence); mask_positions (masks,), flat
    positions row * sequence + column (absent with a full head). With a single text: input_ids (1, sequence) and
    mask_positions. Output: logits float32 (masks, vocab), or (batch * sequence, vocab).
    """
    return _Network(architecture, weights, layout).write()


class _Network:
    def __init__(self, architecture: Architecture, weights: Weights, layout: Layout) -> None:
        self.facts = architecture
        self.weights = fold_biases(weights) if layout.single else weights
        self.layout = layout
        self.graph = GraphBuilder()

    def write(self) -> onnx.ModelProto:
        single, masked = self.layout.single, self.layout.masked_head
        for name in INPUTS[:1] if single else INPUTS[:3]:
            self.graph.input(name, [1 if single else "batch", "sequence"])
        if masked:
            self.graph.input(INPUTS[3], ["masks"])
        self.graph.node("Shape", ["input_ids"], "batch_and_sequence")
        if not single:
            self._write_mask()
        x = self._embeddings()
        *early, last = enumerate(self.weights.layers)
        for step, layer in early:
            x = self._layer(x, layer, f"step{step}", chosen=False)
        x = self._layer(x, last[1], f"step{last[0]}", chosen=single)
        self._head(x, chosen=masked and not single)
        rows = "masks" if self.layout.masked_head else "rows"
        return self.graph.model(OUTPUT, [rows, self.facts.vocab_size])

    def _write_mask(self) -> None:
        seen = self.graph.node("Cast", ["attention_mask"], "seen", to=TensorProto.FLOAT)
        hidden = self.graph.node("Sub", [self._scalar("one", 1), seen], "hidden")
        flat = self.graph.node("Mul", [hidden, self._scalar("lowest", float(np.finfo(np.float32).min))], "hidden_bias")
        self.graph.node("Unsqueeze", [flat, self.graph.constant("axes.heads_and_queries", [1, 2])], "attention_bias")

    def _embeddings(self) -> Operand:
        graph, weights = self.graph, self.weights
        length = graph.node("Gather", ["batch_and_sequence", graph.constant("axis.sequence", [1])], "length")
        position = self._position_rows(graph.constant("start", [0]), length)
        total = self._word_rows()
        if not self.layout.single:
            types = graph.constant("token_types", weights.token_type)
            token_type = graph.node("Gather", [types, "token_type_ids"], "type_rows")
            total = graph.node("Add", [total, token_type], "word_and_type")
        total = graph.node("Add", [total, position], "embedding_sum")
        x = Operand(value=self._norm(total, weights.embedding_norm, "embeddings"))
        if weights.projection is None:
            return x
        return Operand(value=self._product(x, weights.projection, "projected"))

    def _position_rows(self, start: str, length: str) -> str:
        graph, rows = self.graph, self.weights.position
        if self.layout.single:
            rows = rows + self.weights.token_type[0]
        if self.layout.table_block is None:
            return graph.node("Slice", [graph.constant("positions", rows), start, length, start], "position_rows")
        # Half the bytes; half precision is finer than the word table beside it.
        half = graph.constant("positions", rows.astype(np.float16))
        narrow = graph.node("Slice", [half, start, length, start], "position_rows_half")
        return graph.node("Cast", [narrow], "position_rows", to=TensorProto.FLOAT)

    def _word_rows(self) -> str:
        graph = self.graph
        block = self.layout.table_block
        if block is None:
            return graph.node("Gather", [graph.constant("words", self.weights.word), "input_ids"], "word_rows")
        table, scales = self._table("words", self.weights.word)
        padded = -(-self.facts.embedding // block) * block
        # onnxruntime's own default for the zero has differed between versions and bits, so it is written down.
        zeros = np.full((self.facts.vocab_size, padded // block), 128, np.uint8)
        flat = graph.node("Reshape", [table, graph.constant("shape.table", [-1, padded])], "word_table")
        rows = graph.node(
            "GatherBlockQuantized",
            [flat, "input_ids", scales, graph.constant("words.zeros", zeros)],
            "word_rows",
            domain=MICROSOFT,
            bits=8,
            block_size=block,
            gather_axis=0,
            quantize_axis=1,
        )
        if padded == self.facts.embedding:
            return rows
        start, end = graph.constant("start", [0]), graph.constant("end.embedding", [self.facts.embedding])
        return graph.node("Slice", [rows, start, end, graph.constant("axis.last", [-1])], "word_rows_unpadded")

    def _table(self, name: str, rows: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> tuple[str, str]:
        assert self.layout.table_block is not None
        quantized, scales = quantize_blocks(rows, self.layout.table_block)
        return self.graph.constant(f"{name}.table", quantized), self.graph.constant(f"{name}.scales", scales)

    def _layer(self, x: Operand, layer: Layer, step: str, *, chosen: bool) -> Operand:
        context = self._attention(x, layer, step, chosen=chosen)
        if chosen:
            x = self._chosen(x, f"{step}.chosen")
        attended = self._product(replace(x, value=context), layer.attention_output, f"{step}.attention_output")
        attended = self.graph.node("Add", [attended, x.value], f"{step}.attention_residual")
        x = replace(x, value=self._norm(attended, layer.attention_norm, f"{step}.attention_norm"))
        widened = self._activated(x, layer.up, f"{step}.up")
        narrowed = self._product(widened, layer.down, f"{step}.down", bias=not self.layout.single)  # export.folding
        narrowed = self.graph.node("Add", [narrowed, x.value], f"{step}.output_residual")
        return replace(x, value=self._norm(narrowed, layer.output_norm, f"{step}.output_norm"))

    def _chosen(self, x: Operand, name: str) -> Operand:
        return Operand(value=self.graph.node("Gather", [x.value, INPUTS[3]], name, axis=1), rows="masks")

    def _attention(self, x: Operand, layer: Layer, step: str, *, chosen: bool) -> str:
        right = layer.query_key_value
        products = self.layout.products_of(right)
        query, key, value = products.write_columns(self.graph, x, right, f"{step}.query_key_value", _PARTS)
        if not self.layout.single:
            return self._plain_attention([query, key, value], step)
        if chosen:
            query = self.graph.node("Gather", [query, INPUTS[3]], f"{step}.chosen_query", axis=1)
        heads = self.facts.heads
        operands = [query, key, value]
        return self.graph.node("Attention", operands, f"{step}.context", q_num_heads=heads, kv_num_heads=heads)

    def _plain_attention(self, parts: list[str], step: str) -> str:
        graph, heads = self.graph, self.facts.heads
        per_head = self.facts.hidden // heads
        shape = graph.constant("shape.heads", [0, 0, heads, per_head])
        query, key, value = (graph.node("Reshape", [part, shape], f"{part}.heads") for part in parts)
        query = graph.node("Transpose", [query], f"{step}.query_rows", perm=[0, 2, 1, 3])
        key = graph.node("Transpose", [key], f"{step}.key_columns", perm=[0, 2, 3, 1])
        value = graph.node("Transpose", [value], f"{step}.value_rows", perm=[0, 2, 1, 3])
        scores = graph.node("MatMul", [query, key], f"{step}.unscaled_scores")
        scores = graph.node("Mul", [scores, self._scalar("attention_scale", per_head**-0.5)], f"{step}.scores")
        scores = graph.node("Add", [scores, "attention_bias"], f"{step}.seen_scores")
        shares = graph.node("Softmax", [scores], f"{step}.shares", axis=-1)
        context = graph.node("MatMul", [shares, value], f"{step}.context_heads")
        columns = graph.node("Transpose", [context], f"{step}.context_columns", perm=[0, 2, 1, 3])
        return graph.node("Reshape", [columns, graph.constant("shape.units", [0, 0, -1])], f"{step}.context")

    def _activated(self, x: Operand, right: Dense, name: str) -> Operand:
        product, activation = self._product(x, right, name), self.facts.activation
        if activation == "relu":
            value = self.graph.node("Relu", [product], f"{name}.activated")
        else:
            form = "none" if activation == "gelu" else "tanh"
            value = self.graph.node("Gelu", [product], f"{name}.activated", approximate=form)
        return replace(x, value=value, activation=activation)

    def _head(self, x: Operand, *, chosen: bool) -> None:
        graph, weights = self.graph, self.weights
        rows = graph.node("Reshape", [x.value, graph.constant("shape.rows", [-1, self.facts.hidden])], "rows")
        if chosen:
            rows = graph.node("Gather", [rows, INPUTS[3]], "masked_rows")
        x = Operand(value=rows)
        hidden = self._activated(x, weights.transform, "transform")
        normed = self._norm(hidden.value, weights.transform_norm, "transform_norm")
        if self.layout.table_block is None:
            rows_of_vocab = graph.constant("words" if weights.tied else "decoder", weights.decoder)
            bias = graph.constant("decoder.bias", weights.decoder_bias)
            graph.node("Gemm", [normed, rows_of_vocab, bias], OUTPUT, transB=1)
            return
        table, scales = self._table("words" if weights.tied else "decoder", weights.decoder)
        write_block_product(
            graph,
            normed,
            table,
            scales,
            graph.constant("decoder.bias", weights.decoder_bias),
            OUTPUT,
            inputs=self.facts.embedding,
            outputs=self.facts.vocab_size,
            block=self.layout.table_block,
        )

    def _product(self, left: Operand, right: Dense, name: str, *, bias: bool = True) -> str:
        return self.layout.products_of(right).write(self.graph, left, right, name, bias=bias)

    def _norm(self, value: str, norm: Norm, name: str) -> str:
        gain = self.graph.constant(f"{norm.name}.gain", norm.gain)
        bias = self.graph.constant(f"{norm.name}.bias", norm.bias)
        return self.graph.node(
            "LayerNormalization",
            [value, gain, bias],
            f"{name}.normed",
            axis=-1,
            epsilon=self.facts.layer_norm_epsilon,
        )

    def _scalar(self, name: str, value: float) -> str:
        return self.graph.constant(name, np.array(value, np.float32))
