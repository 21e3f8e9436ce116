"""Texts without blanks, cut where sentences end into parts that the model sees at once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from handler.core.errors import TextNotUnicodeError, TextTooLongError
from handler.core.ports import Tokenizer
from handler.core.text import is_unicode
from handler.core.types import Limits, MaskedSequence

_SENTENCE = re.compile(r"[^。！？；!?;\n]*[。！？；!?;\n]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Some sentences in a row, as tokens; offsets are code points of the whole text."""

    ids: tuple[int, ...]
    offsets: tuple[tuple[int, int], ...]


def check(text: str, limits: Limits) -> None:
    """See that a text can be worked on at all.

    Raises:
        TextTooLongError, TextNotUnicodeError: it cannot.
    """
    if len(text) > limits.max_text_chars:
        raise TextTooLongError(limit=limits.max_text_chars, actual=len(text))
    if not is_unicode(text):
        raise TextNotUnicodeError


def parts_of(text: str, tokenizer: Tokenizer, room: int) -> tuple[Part, ...]:
    """Cut a text into parts of whole sentences; a sentence longer than the model sees is cut where the room ends.

    Args:
        text: checked.
        tokenizer: the model's own.
        room: tokens that the model sees, without [CLS] and [SEP].
    """
    parts: list[Part] = []
    for sentence in _sentences(text, tokenizer, room):
        last = parts[-1] if parts else None
        if last is not None and len(last.ids) + len(sentence.ids) <= room:
            parts[-1] = Part(ids=last.ids + sentence.ids, offsets=last.offsets + sentence.offsets)
        else:
            parts.append(sentence)
    return tuple(parts)


def _sentences(text: str, tokenizer: Tokenizer, room: int) -> Iterator[Part]:
    for found in _SENTENCE.finditer(text):
        encoded = tokenizer.encode(found.group())
        offsets = tuple((start + found.start(), end + found.start()) for start, end in encoded.offsets)
        for at in range(0, len(encoded.ids), room):
            yield Part(ids=encoded.ids[at : at + room], offsets=offsets[at : at + room])


def unknown_characters(parts: Sequence[Part], tokenizer: Tokenizer) -> int:
    """Return how many characters the vocabulary lacks."""
    return sum(
        end - start
        for part in parts
        for token_id, (start, end) in zip(part.ids, part.offsets, strict=True)
        if token_id == tokenizer.special.unk
    )


def masked(part: Part, positions: tuple[int, ...], tokenizer: Tokenizer) -> MaskedSequence:
    """Return a part with the tokens at these positions hidden."""
    special = tokenizer.special
    ids = list(part.ids)
    for position in positions:
        ids[position] = special.mask
    return MaskedSequence(
        ids=(special.cls, *ids, special.sep), mask_positions=tuple(position + 1 for position in positions)
    )
