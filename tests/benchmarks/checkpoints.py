"""Random checkpoints of published sizes, with a vocabulary built like bert-base-chinese's.

Time, size and memory do not depend on what the weights are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tests.support.vocabularies import standard_like

_SEED: Final = 20261201
# hidden_size and so on as in google-bert/bert-base-chinese and voidful/albert_chinese_tiny.
SIZES: Final[Mapping[str, Mapping[str, Any]]] = {
    "bert-base": {
        "hidden_size": 768,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "intermediate_size": 3072,
        "max_position_embeddings": 512,
    },
    "albert-tiny": {
        "embedding_size": 128,
        "hidden_size": 312,
        "num_hidden_layers": 4,
        "num_attention_heads": 12,
        "intermediate_size": 1248,
        "hidden_act": "gelu",
        "max_position_embeddings": 512,
    },
}


def write(folder: Path, size: str) -> None:
    """Write a checkpoint as transformers does.

    Args:
        folder: where to; made here.
        size: one of SIZES.
    """
    import torch
    import transformers

    tokens = standard_like()
    torch.manual_seed(_SEED)
    family = "Albert" if size.startswith("albert") else "Bert"
    config = getattr(transformers, f"{family}Config")(vocab_size=len(tokens), pad_token_id=0, **SIZES[size])
    model = getattr(transformers, f"{family}ForMaskedLM")(config)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim == 1:  # biases of zeros would be left out, unlike those of a trained network
                parameter += torch.randn_like(parameter) * 0.02
    model.save_pretrained(folder)
    (folder / "vocab.txt").write_text("".join(f"{token}\n" for token in tokens), encoding="utf-8")
    described = {"tokenizer_class": "BertTokenizer", "do_lower_case": True}
    (folder / "tokenizer_config.json").write_text(json.dumps(described), encoding="utf-8")
