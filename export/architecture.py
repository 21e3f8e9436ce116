"""What a checkpoint's config.json says about its network, as far as the graph depends on it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from export.errors import NotMaskedLmError, SourceMissingError

Family = Literal["bert", "albert"]
FAMILIES: Final[tuple[Family, ...]] = ("bert", "albert")
ACTIVATIONS: Final = ("gelu", "gelu_new", "relu")

# Heads that a masked-LM head can stand beside, and bodies that may or may not have one: the weights decide.
_HEADS: Final = ("ForMaskedLM", "ForPreTraining", "Model")


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """Sizes and choices of one network. Lengths are numbers of units, not bytes."""

    family: Family
    layers: int
    hidden: int
    heads: int
    intermediate: int
    embedding: int  # width of the word table: hidden for BERT, often less for ALBERT
    vocab_size: int
    max_positions: int  # tokens, [CLS] and [SEP] included
    type_vocab_size: int
    layer_norm_epsilon: float
    activation: str

    @property
    def model_class(self) -> str:
        """Name of the transformers class that is the reference for this family."""
        return {"bert": "BertForMaskedLM", "albert": "AlbertForMaskedLM"}[self.family]

    def layer_name(self, step: int) -> str:
        """Return what the weights of a step's layer are called here: ALBERT runs one layer again and again."""
        return f"layer{step}" if self.family == "bert" else "layer"


def read_architecture(folder: Path) -> Architecture:
    """Read a checkpoint's config.json.

    Raises:
        SourceMissingError: the folder has none, or it is no JSON.
        NotMaskedLmError: it describes something that this pipeline does not export.
    """
    path = folder / "config.json"
    try:
        config = json.loads(path.read_bytes())
    except OSError as error:
        raise SourceMissingError(
            f"{folder.name} has no readable config.json: is it a transformers checkpoint?"
        ) from error
    except ValueError as error:
        raise SourceMissingError(f"config.json of {folder.name} is no JSON.") from error
    return architecture_of(config)


def architecture_of(config: Mapping[str, Any]) -> Architecture:
    """Translate a configuration of transformers.

    Raises:
        NotMaskedLmError: another family or head, or an option that the graph does not have.
    """
    family = config.get("model_type")
    if family not in FAMILIES:
        raise NotMaskedLmError(f"model_type {family!r} is not exported here; known are {', '.join(FAMILIES)}.")
    named = list(config.get("architectures") or ())
    if named and not any(name.endswith(_HEADS) for name in named):
        raise NotMaskedLmError(f"the checkpoint is a {', '.join(named)}, not a masked language model.")
    _refuse_options(config)
    try:
        hidden = int(config["hidden_size"])
        return Architecture(
            family=family,
            layers=int(config["num_hidden_layers"]),
            hidden=hidden,
            heads=int(config["num_attention_heads"]),
            intermediate=int(config["intermediate_size"]),
            embedding=int(config.get("embedding_size", 128)) if family == "albert" else hidden,
            vocab_size=int(config["vocab_size"]),
            max_positions=int(config["max_position_embeddings"]),
            type_vocab_size=int(config.get("type_vocab_size", 2)),
            layer_norm_epsilon=float(config.get("layer_norm_eps", 1e-12)),
            activation=str(config.get("hidden_act", "gelu" if family == "bert" else "gelu_new")),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise NotMaskedLmError(f"config.json lacks or misspells a size of the network: {error}.") from error


def _refuse_options(config: Mapping[str, Any]) -> None:
    """Refuse what would make a different network of the same sizes."""
    wanted: Mapping[str, tuple[object, ...]] = {
        "is_decoder": (False, None),
        "position_embedding_type": ("absolute", None),
        "hidden_act": (*ACTIVATIONS, None),
        "num_hidden_groups": (1, None),
        "inner_group_num": (1, None),
    }
    for option, values in wanted.items():
        if config.get(option) not in values:
            raise NotMaskedLmError(f"{option} = {config[option]!r} is not exported here.")
