"""Blanks in the caller's own string: finding them, cutting a window around them, and putting fillings in.

Ids are never decoded into a sentence. That would put spaces between Chinese characters, lower-case everything and lose
whatever the vocabulary lacks; instead, every answer is the caller's string with the blank replaced at its offsets.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from handler.core.errors import (
    MaskMissingError,
    MaskMisspeltError,
    MasksTooFarApartError,
    TextNotUnicodeError,
    TextTooLongError,
    TooManyMasksError,
)
from handler.core.ports import Tokenizer
from handler.core.types import Limits, Mask, MaskedSequence, Neighbour, PreparedText
from handler.core.vocabulary import Vocabulary, letter_class

# [MASK] in any case, width and bracket of the East Asian keyboard, with spaces inside; and <mask>.
_LETTERS = "".join(
    f"[{half}{half.upper()}{chr(ord(half) + 0xFEE0)}{chr(ord(half.upper()) + 0xFEE0)}]" for half in "mask"
)
_MASK = re.compile(rf"[\[［【]\s*{_LETTERS}\s*[\]］】]|<{_LETTERS}>")

# What people write when they mean a blank: a mask without or with other brackets, letters swapped, underscores, a box,
# empty brackets.
_NEAR_MISS = re.compile(
    r"(?i)m\s*a\s*s\s*k|[\[［【<(（{]\s*[amsk]{3,5}\s*[\]］】>)）}]|[_＿]{2,}|[□◻▢]|[\[［【(（]\s*[\]］】)）]"
)


def find_masks(text: str) -> tuple[Mask, ...]:
    """Return the blanks of a text in their order, none overlapping."""
    return tuple(
        Mask(index=index, start=found.start(), end=found.end()) for index, found in enumerate(_MASK.finditer(text))
    )


def splice(text: str, mask: Mask, filling: str) -> str:
    """Return the text with the filling in place of one blank, and not a character changed elsewhere."""
    return text[: mask.start] + filling + text[mask.end :]


def splice_all(text: str, masks: Sequence[Mask], fillings: Sequence[str]) -> str:
    """Return the text with a filling in place of each blank, and not a character changed elsewhere."""
    for mask, filling in reversed(list(zip(masks, fillings, strict=True))):
        text = splice(text, mask, filling)
    return text


def neighbour_of(text: str, mask: Mask) -> Neighbour:
    """Class what stands directly to the left of a blank in the caller's own string (another blank is no neighbour)."""
    at = mask.start - 1
    while at >= 0 and unicodedata.category(text[at]) == "Mn":
        at -= 1  # an accent belongs to its letter, as the tokenizer has it
    return letter_class(text[at]) if at >= 0 else Neighbour.NONE


@dataclass(frozen=True, slots=True)
class _Tokens:
    """A whole text as tokens, before a window is cut: ids with the blanks in, and which of them are the blanks."""

    ids: list[int]
    mask_at: list[int]
    unknown_characters: int


class TextPreparer:
    """Turns a caller's string into what the model reads.

    Args:
        tokenizer: the model's own.
        vocabulary: the classes of its tokens.
        limits: how long a text may be, how many blanks it may have and how many tokens the model sees at once.
    """

    def __init__(self, tokenizer: Tokenizer, vocabulary: Vocabulary, limits: Limits) -> None:
        self._tokenizer = tokenizer
        self._vocabulary = vocabulary
        self._limits = limits

    def prepare(self, text: str) -> PreparedText:
        """Find the blanks, encode what stands between them and cut a window around them where the text is too long.

        Raises:
            TextTooLongError, TextNotUnicodeError, MaskMissingError, MaskMisspeltError, TooManyMasksError,
            MasksTooFarApartError: the text cannot be answered; each says what to do.
        """
        masks = self._checked_masks(text)
        tokens = self._encode(text, masks)
        sequence, truncated = self._window(tokens)
        return PreparedText(
            text=text,
            masks=masks,
            neighbours=tuple(neighbour_of(text, mask) for mask in masks),
            sequence=sequence,
            truncated=truncated,
            unknown_characters=tokens.unknown_characters,
            longest_filling=self._room - (tokens.mask_at[-1] - tokens.mask_at[0]),
        )

    def widened(self, text: str, wanted: Sequence[tuple[int, int]]) -> list[MaskedSequence]:
        """Return what the model reads where one blank is several masks, which alone are to be scored.

        Args:
            text: one that was prepared.
            wanted: pairs of a blank's index and how many masks stand in its place: no more than its longest filling.
        """
        tokens = self._encode(text, find_masks(text)) if wanted else None
        return [self._widened(tokens, index, count) for index, count in wanted] if tokens else []

    def _widened(self, tokens: _Tokens, index: int, count: int) -> MaskedSequence:
        at, more = tokens.mask_at[index], count - 1
        wide = _Tokens(
            ids=[*tokens.ids[:at], *[self._tokenizer.special.mask] * count, *tokens.ids[at + 1 :]],
            mask_at=[
                *tokens.mask_at[:index],
                *range(at, at + count),
                *(position + more for position in tokens.mask_at[index + 1 :]),
            ],
            unknown_characters=tokens.unknown_characters,
        )
        sequence, _ = self._window(wide)
        return MaskedSequence(ids=sequence.ids, mask_positions=sequence.mask_positions[index : index + count])

    @property
    def _room(self) -> int:
        return self._limits.max_tokens - 2  # [CLS] and [SEP]

    def _checked_masks(self, text: str) -> tuple[Mask, ...]:
        if len(text) > self._limits.max_text_chars:
            raise TextTooLongError(limit=self._limits.max_text_chars, actual=len(text))
        if not is_unicode(text):
            raise TextNotUnicodeError
        masks = find_masks(text)
        if not masks:
            raise MaskMisspeltError if _NEAR_MISS.search(text) else MaskMissingError
        if len(masks) > self._limits.max_masks:
            raise TooManyMasksError(limit=self._limits.max_masks, actual=len(masks))
        return masks

    def _encode(self, text: str, masks: Sequence[Mask]) -> _Tokens:
        """Encode stretch by stretch, as BERT's tokenizer does: it splits at control tokens before anything else."""
        ids: list[int] = []
        mask_at: list[int] = []
        unknown = 0
        start = 0
        special = self._tokenizer.special
        for end, after in [(mask.start, mask.end) for mask in masks] + [(len(text), -1)]:
            segment = self._tokenizer.encode(text[start:end])
            ids += segment.ids
            if special.unk in segment.ids:
                spans = zip(segment.ids, segment.offsets, strict=True)
                unknown += sum(b - a for token_id, (a, b) in spans if token_id == special.unk)
            if after >= 0:
                mask_at.append(len(ids))
                ids.append(special.mask)
            start = after
        return _Tokens(ids, mask_at, unknown)

    def _window(self, tokens: _Tokens) -> tuple[MaskedSequence, bool]:
        """Cut to what the model sees at once: the blanks, and as much on both sides as fits, in whole words."""
        room, count = self._room, len(tokens.ids)
        first, last = tokens.mask_at[0], tokens.mask_at[-1]
        begin, end = 0, count
        if count > room:
            span = last - first + 1
            if span > room:
                raise MasksTooFarApartError(limit=room, actual=span)
            left = min(first, (room - span) // 2)
            right = min(count - 1 - last, room - span - left)
            left = min(first, room - span - right)
            begin, end = first - left, last + 1 + right
            while begin < first and self._vocabulary.continues(tokens.ids[begin]):
                begin += 1
            while last + 1 < end < count and self._vocabulary.continues(tokens.ids[end]):
                end -= 1
        special = self._tokenizer.special
        sequence = MaskedSequence(
            ids=(special.cls, *tokens.ids[begin:end], special.sep),
            mask_positions=tuple(position - begin + 1 for position in tokens.mask_at),
        )
        return sequence, count > room


def is_unicode(text: str) -> bool:
    """Tell whether a string is made of whole code points: a lone surrogate cannot be sent back as UTF-8."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
