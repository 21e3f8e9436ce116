"""Small random checkpoints of every family, as transformers writes them."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from export.evaluation.clozes import read_clozes
from export.evaluation.sentences import CALIBRATION, TRIVIAL

_CONTROL: Final = ("[PAD]", "[unused1]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_BERT: Final = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 40,
}


def chinese_vocabulary() -> tuple[str, ...]:
    """Control tokens, ASCII without capitals, all characters of our sentences, and an entry that holds U+2028."""
    texts = [cloze.sentence for cloze in read_clozes()]
    texts += [*CALIBRATION, *(text + right for text, right in TRIVIAL)]
    han = sorted({char for text in texts for char in text if char > "\u2fff"})
    ascii_tokens = [chr(code) for code in range(33, 127) if not chr(code).isupper()]
    pieces = [f"##{chr(code)}" for code in range(97, 123)]
    return (*_CONTROL, "\u2028", *ascii_tokens, *han, *pieces)


def english_vocabulary() -> tuple[str, ...]:
    """Control tokens, letters in both cases, and a few words."""
    letters = [chr(code) for code in range(33, 127)]
    words = ["Paris", "is", "the", "capital", "of", "France", "##s", "##ing"]
    return (*_CONTROL, *letters, *words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How a checkpoint is made: class and configuration of transformers, and the tokenizer files beside it."""

    model_class: str
    config_class: str
    options: Mapping[str, Any]
    tokenizer_config: Mapping[str, Any] | None
    vocabulary: Callable[[], tuple[str, ...]] = chinese_vocabulary


RECIPES: Final[Mapping[str, Recipe]] = {
    # As published: the configuration says that case is kept, the vocabulary has no capitals.
    "bert": Recipe(
        model_class="BertForMaskedLM",
        config_class="BertConfig",
        options=_BERT,
        tokenizer_config={"do_lower_case": False},
    ),
    "roberta-wwm": Recipe(
        model_class="BertForMaskedLM", config_class="BertConfig", options=_BERT, tokenizer_config={"init_inputs": []}
    ),
    # Published with the sentence-pair head as well.
    "macbert": Recipe(
        model_class="BertForPreTraining", config_class="BertConfig", options=_BERT, tokenizer_config={"init_inputs": []}
    ),
    # No tokenizer class and no tokenizer configuration: transformers would build another tokenizer, silently.
    "albert": Recipe(
        model_class="AlbertForMaskedLM",
        config_class="AlbertConfig",
        options=_BERT | {"embedding_size": 16, "hidden_act": "gelu", "num_hidden_layers": 3},
        tokenizer_config=None,
    ),
    "albert-tanh": Recipe(
        model_class="AlbertForMaskedLM",
        config_class="AlbertConfig",
        options=_BERT | {"embedding_size": 24, "hidden_act": "gelu_new"},
        tokenizer_config=None,
    ),
    "english": Recipe(
        model_class="BertForMaskedLM",
        config_class="BertConfig",
        options=_BERT | {"hidden_act": "relu"},
        tokenizer_config={"do_lower_case": False},
        vocabulary=english_vocabulary,
    ),
}


def write_checkpoint(folder: Path, recipe: Recipe, **options: Any) -> Any:
    """Write a checkpoint with random weights; biases and gains too, or no test would see them mistaken.

    Returns:
        The model, in transformers' class.
    """
    torch = importlib.import_module("torch")
    transformers = importlib.import_module("transformers")
    vocabulary = recipe.vocabulary()
    torch.manual_seed(7)
    config = getattr(transformers, recipe.config_class)(
        **{"vocab_size": len(vocabulary), "initializer_range": 0.3, **recipe.options, **options}
    )
    model = getattr(transformers, recipe.model_class)(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim == 1:
                parameter += torch.randn_like(parameter) * 0.3
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    if recipe.tokenizer_config is not None:
        (folder / "tokenizer_config.json").write_text(json.dumps(recipe.tokenizer_config), encoding="utf-8")
    return model


def write_opinionated_checkpoint(folder: Path) -> None:
    """Write a checkpoint that is sure of 生 for every blank, then 好, 了, 国, 作: enough for the trivial clozes."""
    torch = importlib.import_module("torch")
    recipe = RECIPES["bert"]
    model = write_checkpoint(folder, recipe, initializer_range=0.02)
    ids = {token: token_id for token_id, token in enumerate(recipe.vocabulary())}
    with torch.no_grad():
        for rank, token in enumerate("生好了国作"):
            model.cls.predictions.bias[ids[token]] = 20.0 - 2 * rank
    model.save_pretrained(folder)
