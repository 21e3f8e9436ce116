"""Masked texts to measure agreement on, made from our own sentences."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from export.evaluation.clozes import Cloze

_SEED: Final = 20261130
_RUNS: Final = (1, 1, 1, 2, 3, 5)  # sentences in a text: most are short, as what people send
_LONGEST: Final = 100  # characters, so that any model of 128 tokens sees the whole text


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskedText:
    """A text with blanks, and the characters that stood there."""

    text: str
    golds: tuple[str, ...]


def masked_texts(
    clozes: Sequence[Cloze], wanted: int, *, masks: int = 1, longest_run: int = max(_RUNS)
) -> Sequence[MaskedText]:
    """Mask Han characters of the sentences, which stand alone or a few of one category together.

    Args:
        clozes: the sentences, filled before they are masked anew.
        wanted: how many masked positions in all.
        masks: how many in each text.
        longest_run: how many sentences at most stand together.

    Returns:
        Texts with that many [MASK] each, none twice, always the same ones.
    """
    rng = random.Random(_SEED)  # noqa: S311 - a fixed choice is what is wanted
    texts: dict[str, MaskedText] = {}
    while len(texts) * masks < wanted:
        before = len(texts)
        for text in _joined(clozes, rng, longest_run):
            places = [index for index, char in enumerate(text) if "\u4e00" <= char <= "\u9fff"]
            chosen = sorted(rng.sample(places, masks))
            masked = "".join("[MASK]" if index in chosen else char for index, char in enumerate(text))
            texts[masked] = MaskedText(text=masked, golds=tuple(text[index] for index in chosen))
            if len(texts) * masks >= wanted:
                break
        if len(texts) == before:
            raise ValueError(f"the sentences do not give {wanted} positions")
    return tuple(texts.values())


def _joined(clozes: Sequence[Cloze], rng: random.Random, longest_run: int) -> Iterator[str]:
    start = 0
    while start < len(clozes):
        members = clozes[start : start + min(longest_run, rng.choice(_RUNS))]
        run = [cloze for cloze in members if cloze.category == clozes[start].category]
        yield "".join(cloze.sentence for cloze in run)[:_LONGEST]
        start += len(run)
