"""The arrays of a checkpoint, under names of our own, the same for every family."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file

from export.architecture import Architecture
from export.errors import WeightsMissingError, WeightsUnreadableError
from handler.core.types import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Dense:
    """A product and its bias: y = x @ weight + bias."""

    name: str
    weight: FloatArray  # (inputs, outputs)
    bias: FloatArray  # (outputs,)

    def columns(self, *parts: str) -> list[Dense]:
        """Return the products that stand side by side in this one, each with its share of the outputs."""
        weights = np.split(self.weight, len(parts), axis=1)
        biases = np.split(self.bias, len(parts))
        return [
            Dense(name=f"{self.name}.{part}", weight=weight, bias=bias)
            for part, weight, bias in zip(parts, weights, biases, strict=True)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Norm:
    """A layer normalisation: gain and bias of each unit."""

    name: str
    gain: FloatArray  # (units,)
    bias: FloatArray  # (units,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One layer of the encoder."""

    name: str
    query_key_value: Dense  # (hidden, 3 * hidden): the three products side by side
    attention_output: Dense
    attention_norm: Norm
    up: Dense  # first product of the feed-forward part
    down: Dense  # second product
    output_norm: Norm


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """All that the graph needs."""

    word: FloatArray  # (vocab, embedding)
    position: FloatArray  # (positions, embedding)
    token_type: FloatArray  # (types, embedding)
    embedding_norm: Norm
    projection: Dense | None  # embedding to hidden, ALBERT only
    layers: tuple[Layer, ...]  # the same object several times where the family shares weights
    transform: Dense
    transform_norm: Norm
    decoder: FloatArray  # (vocab, embedding); the word table itself where it is tied
    decoder_bias: FloatArray  # (vocab,)

    @property
    def tied(self) -> bool:
        """Whether the head scores with the word table."""
        return self.decoder is self.word

    @property
    def parameters(self) -> int:
        """How many numbers the network has, each counted once."""
        dense = [self.transform, *([self.projection] if self.projection else [])]
        norms = [self.embedding_norm, self.transform_norm]
        for layer in {id(layer): layer for layer in self.layers}.values():
            dense += [layer.query_key_value, layer.attention_output, layer.up, layer.down]
            norms += [layer.attention_norm, layer.output_norm]
        arrays = [self.word, self.position, self.token_type, self.decoder_bias]
        arrays += [] if self.tied else [self.decoder]
        arrays += [array for product in dense for array in (product.weight, product.bias)]
        arrays += [array for norm in norms for array in (norm.gain, norm.bias)]
        return sum(array.size for array in arrays)


def read_weights(path: Path, architecture: Architecture) -> Weights:
    """Read a safetensors file with transformers' names.

    Args:
        path: the file, fp32.
        architecture: of the same checkpoint.

    Raises:
        WeightsUnreadableError: the file is damaged.
        WeightsMissingError: a name is absent.
    """
    try:
        state = load_file(path)
    except (SafetensorError, OSError) as error:
        raise WeightsUnreadableError(f"{path.name} cannot be read: {error}") from error
    return weights_of(state, architecture)


def weights_of(state: Mapping[str, FloatArray], architecture: Architecture) -> Weights:
    """Arrange a state dictionary of BertForMaskedLM or AlbertForMaskedLM.

    Raises:
        WeightsMissingError: a name is absent.
    """
    names = _Names(state)
    body = names.within(architecture.family)
    embeddings = body.within("embeddings")
    word = embeddings.array("word_embeddings.weight")
    layers: tuple[Layer, ...]
    if architecture.family == "bert":
        head = names.within("cls.predictions")
        transform, norm = head.dense("transform.dense", "head.transform"), head.norm("transform.LayerNorm", "head.norm")
        projection = None
        layers = tuple(
            _bert_layer(body.within(f"encoder.layer.{step}"), architecture.layer_name(step))
            for step in range(architecture.layers)
        )
    else:
        head = names.within("predictions")
        transform, norm = head.dense("dense", "head.transform"), head.norm("LayerNorm", "head.norm")
        projection = body.dense("encoder.embedding_hidden_mapping_in", "projection")
        shared = _albert_layer(body.within("encoder.albert_layer_groups.0.albert_layers.0"), architecture.layer_name(0))
        layers = (shared,) * architecture.layers
    decoder = state.get(f"{head.prefix}decoder.weight", word)
    return Weights(
        word=word,
        position=embeddings.array("position_embeddings.weight"),
        token_type=embeddings.array("token_type_embeddings.weight"),
        embedding_norm=embeddings.norm("LayerNorm", "embeddings.norm"),
        projection=projection,
        layers=layers,
        transform=transform,
        transform_norm=norm,
        decoder=word if np.array_equal(decoder, word) else decoder,
        decoder_bias=head.array("bias"),
    )


class _Names:
    """A state dictionary seen from one of its prefixes."""

    def __init__(self, state: Mapping[str, FloatArray], prefix: str = "") -> None:
        self.state = state
        self.prefix = prefix

    def within(self, name: str) -> _Names:
        return _Names(self.state, f"{self.prefix}{name}.")

    def array(self, name: str) -> FloatArray:
        try:
            return self.state[self.prefix + name]
        except KeyError as error:
            raise WeightsMissingError([self.prefix + name]) from error

    def dense(self, name: str, ours: str) -> Dense:
        # torch keeps (outputs, inputs)
        return Dense(name=ours, weight=self.array(f"{name}.weight").T, bias=self.array(f"{name}.bias"))

    def norm(self, name: str, ours: str) -> Norm:
        return Norm(name=ours, gain=self.array(f"{name}.weight"), bias=self.array(f"{name}.bias"))

    def side_by_side(self, names: tuple[str, ...], ours: str) -> Dense:
        parts = [self.dense(name, ours) for name in names]
        return Dense(
            name=ours,
            weight=np.concatenate([part.weight for part in parts], axis=1),
            bias=np.concatenate([part.bias for part in parts]),
        )


def _bert_layer(names: _Names, ours: str) -> Layer:
    return Layer(
        name=ours,
        query_key_value=names.side_by_side(
            ("attention.self.query", "attention.self.key", "attention.self.value"), f"{ours}.query_key_value"
        ),
        attention_output=names.dense("attention.output.dense", f"{ours}.attention_output"),
        attention_norm=names.norm("attention.output.LayerNorm", f"{ours}.attention_norm"),
        up=names.dense("intermediate.dense", f"{ours}.up"),
        down=names.dense("output.dense", f"{ours}.down"),
        output_norm=names.norm("output.LayerNorm", f"{ours}.output_norm"),
    )


def _albert_layer(names: _Names, ours: str) -> Layer:
    return Layer(
        name=ours,
        query_key_value=names.side_by_side(
            ("attention.query", "attention.key", "attention.value"), f"{ours}.query_key_value"
        ),
        attention_output=names.dense("attention.dense", f"{ours}.attention_output"),
        attention_norm=names.norm("attention.LayerNorm", f"{ours}.attention_norm"),
        up=names.dense("ffn", f"{ours}.up"),
        down=names.dense("ffn_output", f"{ours}.down"),
        output_norm=names.norm("full_layer_layer_norm", f"{ours}.output_norm"),
    )
