"""Biases that cost a pass over the values in every run, moved to where they cost nothing.

The network stays the same function; only the order of sums changes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from export.weights import Layer, Weights


def fold_biases(weights: Weights) -> Weights:
    """Leave of every layer the biases of query, attention_output and up.

    A bias of all keys adds the same number to all scores of a query, which softmax takes out again. One of all values
    comes out of attention as it is, because the shares of a query sum to 1: it is added to that of attention_output,
    after this product. The bias of down is added to a residual, the output of attention_norm: it goes into this
    normalisation's own, and what up makes of it is taken off up's.

    Returns:
        The same arrays with other biases; those of keys, values and down are zeros.
    """
    folded = {id(layer): _fold(layer) for layer in weights.layers}
    return replace(weights, layers=tuple(folded[id(layer)] for layer in weights.layers))


def _fold(layer: Layer) -> Layer:
    together, output, norm, up, down = (
        layer.query_key_value,
        layer.attention_output,
        layer.attention_norm,
        layer.up,
        layer.down,
    )
    query, key, value = np.split(together.bias, 3)
    return replace(
        layer,
        query_key_value=replace(together, bias=np.concatenate([query, np.zeros_like(key), np.zeros_like(value)])),
        attention_output=replace(output, bias=output.bias + value @ output.weight),
        attention_norm=replace(norm, bias=norm.bias + down.bias),
        up=replace(up, bias=up.bias - down.bias @ up.weight),
        down=replace(down, bias=np.zeros_like(down.bias)),
    )
