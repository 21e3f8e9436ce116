"""Vocabularies built for a test, as the files that the adapter reads."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tokenizers import AddedToken, Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from handler.adapters.tokenizer import WordPieceTokenizer
from handler.core.ports import SpecialIds

CONTROL: Final = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
HAN: Final = tuple(chr(point) for point in range(0x4E00, 0x4E00 + 7322))  # as many as the standard vocabulary has

ENGLISH: Final = (
    *("the", "cat", "dog", "sat", "on", "mat", "play", "walk", ".", ",", "a"),
    *CONTROL,
    *("##ing", "##ed", "##s", "un", "##happy", "##.", "mask", "[", "]", "2", "##nd"),
)


def standard_like() -> list[str]:
    """Return 21,128 entries built like those of bert-base-chinese: counts, order of kinds and oddities."""
    start = ["[PAD]", *(f"[unused{n}]" for n in range(1, 100)), "[UNK]", "[CLS]", "[SEP]", "[MASK]", "<S>", "<T>"]
    latin = [f"w{n}" for n in range(21_128 - len(start) - 2 * len(HAN) - 2 - 5 - 2292)]
    tokens = [*start, "\u2028", *HAN, *latin, "，", "。", "!", "[", "]"]
    tokens += [*(f"##{character}" for character in HAN), *(f"##p{n}" for n in range(2292)), "##\u2028"]
    return tokens


def special_ids(tokens: Sequence[str]) -> SpecialIds:
    """Return where the control tokens stand."""
    return SpecialIds(
        unk=tokens.index("[UNK]"), cls=tokens.index("[CLS]"), sep=tokens.index("[SEP]"), mask=tokens.index("[MASK]")
    )


def write(tokens: Sequence[str], path: Path) -> Path:
    """Write a lower-casing WordPiece tokenizer of these tokens."""
    tokenizer = Tokenizer(WordPiece({token: at for at, token in enumerate(tokens)}, unk_token="[UNK]"))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in CONTROL])
    tokenizer.save(str(path))
    return path


def load(tokens: Sequence[str], folder: Path) -> WordPieceTokenizer:
    """Return the adapter over such a tokenizer."""
    return WordPieceTokenizer(write(tokens, folder / "tokenizer.json"), special_ids(tokens), len(tokens))
