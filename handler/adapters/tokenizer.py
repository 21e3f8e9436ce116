"""The ``tokenizers`` library behind the core's port."""

from __future__ import annotations

from pathlib import Path

from tokenizers import Tokenizer as RustTokenizer

from handler.core.errors import ArtifactCorruptError
from handler.core.ports import SpecialIds
from handler.core.types import EncodedSegment


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
        control = self._tokenizer.get_added_tokens_decoder()
        self.special_ids = frozenset(token_id for token_id, token in control.items() if token.special)
        named = {special.unk, special.cls, special.sep, special.mask}
        framed = self._tokenizer.encode("").ids  # [CLS] and [SEP] as the file itself puts them, where it does
        if len(named) < 4 or not named <= self.special_ids or framed not in ([], [special.cls, special.sep]):
            raise ArtifactCorruptError(problem=f"{path.name} does not agree with the manifest on the special ids.")

    def encode(self, segment: str) -> EncodedSegment:
        """See handler.core.ports.Tokenizer."""
        if not segment:
            return EncodedSegment(ids=(), offsets=())
        encoding = self._tokenizer.encode(segment, add_special_tokens=False)
        return EncodedSegment(ids=tuple(encoding.ids), offsets=tuple(encoding.offsets))
