"""Checkpoints: the resumable state of a run, and Hugging Face folders (BertForMaskedLM), written and read."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from export.train.model import MaskedModel, Shape
from export.train.tokenizer import Tokenizer, save_for_transformers

_OUTER = {
    "words.weight": "bert.embeddings.word_embeddings.weight",
    "positions.weight": "bert.embeddings.position_embeddings.weight",
    "norm.weight": "bert.embeddings.LayerNorm.weight",
    "norm.bias": "bert.embeddings.LayerNorm.bias",
    "transform.weight": "cls.predictions.transform.dense.weight",
    "transform.bias": "cls.predictions.transform.dense.bias",
    "transform_norm.weight": "cls.predictions.transform.LayerNorm.weight",
    "transform_norm.bias": "cls.predictions.transform.LayerNorm.bias",
    "bias": "cls.predictions.bias",
}
_INNER = {
    "query": "attention.self.query",
    "output": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "up": "intermediate.dense",
    "down": "output.dense",
    "norm": "output.LayerNorm",
}
_KEY, _VALUE = "attention.self.key", "attention.self.value"


def to_bert(weights: Mapping[str, Tensor], layers: int) -> dict[str, Tensor]:
    """Our names to BertForMaskedLM's; the tied decoder is left out, as transformers does."""
    named = {theirs: weights[ours] for ours, theirs in _OUTER.items()}
    named["bert.embeddings.token_type_embeddings.weight"] = torch.zeros(2, weights["words.weight"].shape[1])
    for index in range(layers):
        ours, theirs = f"blocks.{index}.", f"bert.encoder.layer.{index}."
        for part in ("weight", "bias"):
            for mine, other in _INNER.items():
                named[f"{theirs}{other}.{part}"] = weights[f"{ours}{mine}.{part}"]
            key, value = weights[f"{ours}key_value.{part}"].chunk(2)
            named[f"{theirs}{_KEY}.{part}"], named[f"{theirs}{_VALUE}.{part}"] = key, value
    return {name: tensor.contiguous().clone() for name, tensor in named.items()}


def from_bert(named: Mapping[str, Tensor], layers: int) -> dict[str, Tensor]:
    """The inverse of to_bert(); the embedding of token type 0, which every text has, joins the positions."""
    weights = {ours: named[theirs].clone() for ours, theirs in _OUTER.items()}
    weights["positions.weight"] += named["bert.embeddings.token_type_embeddings.weight"][0]
    for index in range(layers):
        ours, theirs = f"blocks.{index}.", f"bert.encoder.layer.{index}."
        for part in ("weight", "bias"):
            for mine, other in _INNER.items():
                weights[f"{ours}{mine}.{part}"] = named[f"{theirs}{other}.{part}"].clone()
            weights[f"{ours}key_value.{part}"] = torch.cat([named[f"{theirs}{x}.{part}"] for x in (_KEY, _VALUE)])
    return weights


def load_bert(folder: Path) -> tuple[MaskedModel, Tokenizer]:
    """Read a Hugging Face folder of this family (any number of layers, any width).

    Raises:
        ValueError: the folder holds another kind of model.
    """
    from safetensors.torch import load_file

    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    if config["model_type"] != "bert" or config["hidden_act"] != "gelu":
        raise ValueError(f"{folder} is no BERT with gelu")
    if config["intermediate_size"] != 4 * config["hidden_size"]:
        raise ValueError("the feed-forward must be four times as wide as the rest")
    shape = Shape(
        vocab=config["vocab_size"],
        layers=config["num_hidden_layers"],
        hidden=config["hidden_size"],
        heads=config["num_attention_heads"],
        positions=config["max_position_embeddings"],
    )
    model = MaskedModel(shape)
    model.load_state_dict(from_bert(load_file(folder / "model.safetensors"), shape.layers))
    return model, Tokenizer.load(folder / "vocab.txt")


def save_bert(weights: Mapping[str, Tensor], shape: Shape, tokenizer: Tokenizer, folder: Path) -> None:
    """Write config.json, model.safetensors and the tokenizer's files."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    config = {
        "architectures": ["BertForMaskedLM"],
        "model_type": "bert",
        "vocab_size": shape.vocab,
        "hidden_size": shape.hidden,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "intermediate_size": 4 * shape.hidden,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.1,
        "attention_probs_dropout_prob": 0.1,
        "max_position_embeddings": shape.positions,
        "type_vocab_size": 2,
        "initializer_range": 0.02,
        "layer_norm_eps": 1e-12,
        "pad_token_id": tokenizer.pad_id,
        "position_embedding_type": "absolute",
        "tie_word_embeddings": True,
        "dtype": "float32",
    }
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
    partial = folder / "model.safetensors.partial"
    save_file(to_bert(weights, shape.layers), partial, metadata={"format": "pt"})
    os.replace(partial, folder / "model.safetensors")
    save_for_transformers(tokenizer, folder, shape.positions)


def save_state(state: Mapping[str, Any], path: Path) -> None:
    """Write a run's state so that a reader sees the old one or the new one, never half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    torch.save(dict(state), partial)
    os.replace(partial, path)


def load_state(path: Path) -> dict[str, Any]:
    """Read a state again; only tensors and plain values are accepted."""
    state: dict[str, Any] = torch.load(path, weights_only=True)
    return state
