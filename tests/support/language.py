"""What the language part needs for tests: a tiny world that can be computed by hand, and an artifact with a lexicon."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from export import lexicon as lexicon_file
from handler.adapters.artifact import ERROR_MODEL, LEXICON, MANIFEST
from handler.adapters.tokenizer import WordPieceTokenizer
from handler.core import error_model
from handler.core.error_model import ErrorModel
from handler.core.lexicon import Lexicon, Phrases
from handler.core.text import TextPreparer
from handler.core.types import FloatArray, Limits, MaskedSequence, PreparedText
from handler.core.vocabulary import Vocabulary
from tests.support import embedded, vocabularies
from tests.support.doubles import FakeModel

PHRASES: Final = {
    "守株待兔": 60,
    "画龙点睛": 80,
    "亡羊补牢": 70,
    "半途而废": 90,
    "一心一意": 300,
    "一干二净": 50,
    "一清二楚": 40,
    "心猿意马": 5,
    "床前明月光": 1,
    "春眠不觉晓": 1,
}
ERRORS: Final[dict[str, Any]] = {
    "schema": 1,
    "log_probabilities": {
        "same": -0.05,
        "same_sound": -4.0,
        "similar_sound": -5.0,
        "similar_shape": -5.5,
        "unrelated": -9.5,
    },
    "threshold": 1.0,
    "sounds": {"心": "xin", "新": "xin", "兴": "xing", "行": "hang xing", "的": "de di", "地": "de di", "得": "de"},
    "similar_sounds": {"xin": "xing", "xing": "xin"},
    "shapes": ["睛晴", "人入"],
}


def artifact_with_language(folder: Path) -> Path:
    """Write the embedded artifact with a lexicon and an error model of our own into a folder, and return it."""
    embedded_artifact = embedded.artifact()
    manifest = json.loads(embedded_artifact.path(MANIFEST).read_text(encoding="utf-8"))
    contents = {
        LEXICON: lexicon_file.written(dict(PHRASES)),
        ERROR_MODEL: json.dumps(ERRORS, ensure_ascii=False),
    }
    for name in set(manifest["files"]) - set(contents):
        (folder / name).symlink_to(embedded_artifact.path(name))
    for name, text in contents.items():
        (folder / name).write_text(text, encoding="utf-8")
        data = text.encode()
        manifest["files"][name] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    return folder


def token_ids(tokens: Sequence[str]) -> dict[str, int]:
    """Return the id of each token."""
    return {token: token_id for token_id, token in enumerate(tokens)}


def lexicon_of(phrases: Mapping[str, int], tokens: Sequence[str], *, prior_weight: float = 0.3) -> Lexicon:
    """Return a lexicon of these phrases for a vocabulary."""
    frequencies = np.asarray(list(phrases.values()), dtype=np.float32)
    content = Phrases(phrases=tuple(phrases), frequencies=frequencies, prior_weight=prior_weight)
    return Lexicon(content, token_ids(tokens))


def errors_of(tokens: Sequence[str], **changes: Any) -> ErrorModel:
    """Return the error model above, with changes, for a vocabulary."""
    facts = error_model.parse(json.dumps({**ERRORS, **changes}))
    return ErrorModel(facts, token_ids(tokens), len(tokens))


# The tiny world: few characters, so that references may try everything.
TINY_HAN: Final = "一二三四心意马兔的地"
TINY: Final = (*vocabularies.CONTROL, *TINY_HAN, "a", "##b", "，", "。")
LIMITS: Final = Limits(max_texts=8, max_text_chars=200, max_masks=8, max_top_k=50, max_tokens=32, max_passes=128)


@cache
def tiny_tokenizer() -> WordPieceTokenizer:
    """Return the tokenizer of the tiny world."""
    with tempfile.TemporaryDirectory() as folder:
        return vocabularies.load(TINY, Path(folder))


@cache
def tiny_vocabulary() -> Vocabulary:
    """Return the classes of its tokens."""
    return Vocabulary(TINY, tiny_tokenizer().special_ids)


def tiny_text(text: str) -> PreparedText:
    """Prepare a text of the tiny world."""
    return TextPreparer(tiny_tokenizer(), tiny_vocabulary(), LIMITS).prepare(text)


def scattered(scale: float, seed: int = 0) -> FakeModel:
    """Return a model whose scores for a position look random and depend on the whole sequence, as a real model's do."""

    def scores(sequence: MaskedSequence) -> FloatArray:
        rows = [
            np.random.default_rng([seed, position, *sequence.ids]).normal(0, scale, len(TINY))
            for position in sequence.mask_positions
        ]
        return np.asarray(rows, dtype=np.float32).reshape(len(rows), len(TINY))  # (masks, vocab)

    return FakeModel(scores)


def plain_log_softmax(logits: FloatArray) -> npt.NDArray[np.float64]:
    """Return the logarithm of the softmax, in float64."""
    wide = logits.astype(np.float64)
    result: npt.NDArray[np.float64] = wide - np.log(np.exp(wide).sum(axis=-1, keepdims=True))
    return result
