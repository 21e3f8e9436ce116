"""The ``tokenizers`` library behind the core's port."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tokenizers import Tokenizer as RustTokenizer

from handler.core.errors import ArtifactCorruptError
from handler.core.ports import SpecialIds
from handler.core.types import EncodedSegment
from handler.core.vocabulary import is_han

_STOPS: Final = frozenset("，。、；：？！")
_UNSEEN: Final = -1
_REMEMBERED: Final = 8192  # characters; modern text has some 5,000


class WordPieceTokenizer:
    """A tokenizer.json, used for text only: control tokens enter as ids, never as typed characters.

    Args:
        path: the tokenizer.json.
        special: the ids that the manifest names, checked against the tokenizer's own.
        vocabulary_size: how many entries the model's head scores.

    Raises:
        ArtifactCorruptError: the file is no tokenizer, or not that of this model.
    """

    def __init__(self, path: Path, special: SpecialIds, vocabulary_size: int) -> None:
        try:
            self._tokenizer = RustTokenizer.from_file(str(path))
        except Exception as error:  # the library raises plain Exception and nothing narrower
            raise ArtifactCorruptError(problem=f"{path.name} is no tokenizer.") from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._tokenizer.encode_special_tokens = True  # a typed [SEP] is text
        tokens = {token_id: token for token, token_id in self._tokenizer.get_vocab().items()}
        if sorted(tokens) != list(range(vocabulary_size)):
            raise ArtifactCorruptError(
                problem=f"{path.name} has {len(tokens)} entries, but the model scores {vocabulary_size}."
            )
        self.vocabulary = tuple(tokens[token_id] for token_id in range(vocabulary_size))
        self.special = special
        # BERT sets every Han character and every stop apart before anything else, so a stretch of them is encoded by
        # looking each up: a fifth of the library's time for 30 characters, the largest part of an answer from memory.
        self._alone: dict[str, int] = {}
        first, second, _, third = [*self._tokenizer.encode("一一，一", add_special_tokens=False).ids, *[_UNSEEN] * 4][
            :4
        ]
        self._sets_apart = first == second == third
        control = self._tokenizer.get_added_tokens_decoder()
        self.special_ids = frozenset(token_id for token_id, token in control.items() if token.special)
        named = {special.unk, special.cls, special.sep, special.mask}
        framed = self._tokenizer.encode("").ids  # [CLS] and [SEP] as the file itself puts them, where it does
        if len(named) < 4 or not named <= self.special_ids or framed not in ([], [special.cls, special.sep]):
            raise ArtifactCorruptError(problem=f"{path.name} does not agree with the manifest on the special ids.")

    def encode(self, segment: str) -> EncodedSegment:
        """See handler.core.ports.Tokenizer."""
        ids = tuple(self._alone.get(character, _UNSEEN) for character in segment)
        if _UNSEEN in ids:
            return self._by_library(segment)
        return EncodedSegment(ids=ids, offsets=tuple((at, at + 1) for at in range(len(ids))))

    def _by_library(self, segment: str) -> EncodedSegment:
        """Ask the library, and remember what it says of characters that are words of their own whatever is around."""
        encoding = self._tokenizer.encode(segment, add_special_tokens=False)
        ids, offsets = encoding.ids, encoding.offsets
        if self._sets_apart and len(self._alone) < _REMEMBERED:
            for token_id, (start, end) in zip(ids, offsets, strict=True):
                character = segment[start:end]
                if len(character) == 1 and (character in _STOPS or is_han(character)):
                    self._alone[character] = token_id
        return EncodedSegment(ids=tuple(ids), offsets=tuple(offsets))
