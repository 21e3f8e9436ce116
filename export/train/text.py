"""Cleaning and cutting of Chinese text, the same for training and for evaluation."""

import re
from collections.abc import Iterator
from typing import Final

HAN: Final = re.compile("[\u4e00-\u9fff]")
SENTENCE: Final = re.compile("[^。！？；!?]*[。！？；!?]?")
EVALUATION_SENTENCE: Final = re.compile("[^。！？；]*[。！？；]?")
PLAIN_MARKS: Final = {"“": '"', "”": '"', "‘": "'", "’": "'", "—": "-"}
_QUOTES: Final = str.maketrans(PLAIN_MARKS)
_FULL_WIDTH: Final = {0xFF10 + i: 0x30 + i for i in range(10)} | {
    first + i: first - 0xFEE0 + i for first in (0xFF21, 0xFF41) for i in range(26)
}


def is_han(character: str) -> bool:
    """Whether a character is one of the common Han ideographs."""
    return "\u4e00" <= character <= "\u9fff"


def normalised(text: str) -> str:
    """Text as the model sees it: lower case, straight quotes, a hyphen for the dash (the vocabulary has no others)."""
    return text.lower().translate(_QUOTES)


def half_width(text: str) -> str:
    """Full-width digits and Latin letters as ASCII; punctuation stays as it is."""
    return text.translate(_FULL_WIDTH)


def without_space(text: str) -> str:
    """Text without any white space."""
    return re.sub(r"\s+", "", text)


def without_remarks(text: str) -> str:
    """Text without short remarks in brackets, which editors put into poems."""
    return re.sub("[（(][^）)]{0,30}[)）]", "", text)


def sentences(text: str) -> list[str]:
    """Text cut after each full stop, question or exclamation mark and semicolon."""
    return [sentence for sentence in SENTENCE.findall(text) if sentence]


def segments(text: str, limit: int = 50) -> Iterator[str]:
    """Whole sentences packed to at most limit characters; a longer sentence is cut short."""
    packed = ""
    for sentence in EVALUATION_SENTENCE.findall(text):
        if packed and len(packed) + len(sentence) > limit:
            yield packed
            packed = ""
        packed = (packed + sentence)[:limit]
    if packed:
        yield packed
