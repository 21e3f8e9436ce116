"""What may be offered: the classes of a vocabulary's tokens, worked out once from their spelling."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from handler.core.types import BoolArray, FloatArray, Neighbour

CONTINUATION = "##"  # WordPiece's mark of a piece that continues a word

# [PAD], [unused1], <S>, <T>: control entries by spelling, whether or not the tokenizer flags them.
_CONTROL = re.compile(r"\[[^\[\]]+\]|<[A-Za-z]+>")

# The blocks that BERT's tokenizer sets apart, each character a token of its own (transformers, BertTokenizer,
# _is_chinese_char): a ## piece of such a character is never produced from input.
_HAN = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


@lru_cache(maxsize=4096)
def is_han(character: str) -> bool:
    """Tell whether BERT's tokenizer treats the character as Chinese, that is, as a word of its own."""
    point = ord(character)
    return any(low <= point <= high for low, high in _HAN)


@lru_cache(maxsize=4096)
def letter_class(character: str) -> Neighbour:
    """Class a character as the left neighbour of a blank; see Neighbour."""
    if character.isdecimal():
        return Neighbour.LATIN
    if not character.isalpha() or is_han(character):  # numbers that are no digits (〇, ², ①) begin no word
        return Neighbour.NONE
    latin = unicodedata.name(character, "").startswith(("LATIN", "FULLWIDTH LATIN"))
    return Neighbour.LATIN if latin else Neighbour.OTHER


def _is_clean(surface: str) -> bool:
    """Tell whether a token can stand in a text: no separators or control characters, as in two entries of U+2028.

    Python calls printable what is of neither kind, and the space.
    """
    return bool(surface) and surface.isprintable() and " " not in surface


class Vocabulary:
    """The tokens of a model and what may be offered of them.

    Args:
        tokens: spellings in the order of their ids.
        special_ids: ids that the tokenizer itself counts as control.
    """

    def __init__(self, tokens: Sequence[str], special_ids: frozenset[int]) -> None:
        self._tokens = tuple(tokens)
        word = np.zeros(len(tokens), dtype=np.bool_)
        pieces = {kind: np.zeros(len(tokens), dtype=np.bool_) for kind in (Neighbour.LATIN, Neighbour.OTHER)}
        for token_id, token in enumerate(self._tokens):
            continues = self.continues(token_id)
            surface = token[len(CONTINUATION) :] if continues else token
            if token_id in special_ids or _CONTROL.fullmatch(token) or not _is_clean(surface):
                continue
            if not continues:
                word[token_id] = True
                continue
            kinds = {letter_class(character) for character in surface}
            # A piece of Han characters, punctuation or mixed scripts is never produced from input: it is noise.
            if len(kinds) == 1 and (kind := kinds.pop()) in pieces:
                pieces[kind][token_id] = True
        self._allowed: dict[Neighbour, BoolArray] = {
            Neighbour.NONE: word,
            Neighbour.LATIN: word | pieces[Neighbour.LATIN],
            Neighbour.OTHER: word | pieces[Neighbour.OTHER],
        }
        self._bans: dict[Neighbour, FloatArray] = {
            neighbour: np.where(allowed, 0, -np.inf).astype(np.float32) for neighbour, allowed in self._allowed.items()
        }

    def __len__(self) -> int:
        return len(self._tokens)

    def piece(self, token_id: int) -> str:
        """Return the token as the vocabulary spells it."""
        return self._tokens[token_id]

    def continues(self, token_id: int) -> bool:
        """Tell whether the token continues a word."""
        token = self._tokens[token_id]
        return token.startswith(CONTINUATION) and len(token) > len(CONTINUATION)

    def surface(self, token_id: int) -> str:
        """Return the token as it appears in a text."""
        token = self._tokens[token_id]
        return token[len(CONTINUATION) :] if self.continues(token_id) else token

    def allowed(self, neighbour: Neighbour) -> BoolArray:
        """Return which tokens may be offered to the right of such a neighbour: bool (vocab,)."""
        return self._allowed[neighbour]

    def bans(self, neighbour: Neighbour) -> FloatArray:
        """Return the same for adding to logits: float32 (vocab,), 0 or minus infinity."""
        return self._bans[neighbour]

    def is_allowed(self, neighbour: Neighbour, token_id: int) -> bool:
        """Tell whether a number is the id of a token that may be offered to the right of such a neighbour."""
        return 0 <= token_id < len(self._tokens) and bool(self._allowed[neighbour][token_id])

    def is_offerable(self, token_id: int) -> bool:
        """Tell whether the token may be offered anywhere at all."""
        return any(bool(allowed[token_id]) for allowed in self._allowed.values())
