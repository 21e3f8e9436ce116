"""Where a lexicon meets a text: windows of blanks and visible characters that an entry completes."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final

import numpy as np

from handler.core.lexicon import Ids, Lexicon, Shelf
from handler.core.types import FloatArray, Mask
from handler.core.vocabulary import is_han

IDIOM_CHARS: Final = 4  # nearly all idioms have four characters

_UNSEEN: Final = frozenset({"Zs", "Cf"})  # kinds of characters: spaces, and zero width

Cell = str | int  # a character of the text, or the index of a blank


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """Entries that complete the same blanks."""

    slots: tuple[int, ...]  # the blanks, by index
    visible: int  # how many characters of the entry the text shows
    ids: Ids  # (entries, slots), what the entry puts into each blank
    prior: FloatArray  # (entries,), what speaks for each beforehand: its log-frequency, weighted


def cells_of(text: str, masks: Sequence[Mask]) -> list[Cell]:
    """Return the text character by character, with a blank's index in place of its spelling.

    Spaces and what has no width are left out, as the model's tokenizer leaves them out: a caller may set blanks apart.
    """
    cells: list[Cell] = []
    start = 0
    for mask in masks:
        cells += [*_seen(text[start : mask.start]), mask.index]
        start = mask.end
    return [*cells, *_seen(text[start:])]


def _seen(stretch: str) -> Iterator[str]:
    return (character for character in stretch if character != "\t" and unicodedata.category(character) not in _UNSEEN)


def context_of(text: str, masks: Sequence[Mask], reach: int) -> str:
    """Return what a lexicon may read of the caller's string: the Han characters within reach of the blanks.

    Every other character is a full stop, a blank an underscore. Part of the cache key: a character that the vocabulary
    lacks is one token whatever it is, but not one phrase.
    """
    cells = cells_of(text, masks)
    near: set[int] = set()
    for at, cell in enumerate(cells):
        if isinstance(cell, int):
            near.update(range(max(0, at - reach), min(len(cells), at + reach + 1)))
    return "".join(_visible(cells[at]) for at in sorted(near))


def _visible(cell: Cell) -> str:
    if isinstance(cell, int):
        return "_"
    return cell if is_han(cell) else "."


def groups(lexicon: Lexicon, text: str, masks: Sequence[Mask]) -> list[Match]:
    """Return matches that share no blank: those over the most blanks first, then those that show the most of an entry.

    Entries of several windows over the same blanks compete with each other, if they are equally visible.
    """
    windows: dict[tuple[int, ...], list[Match]] = {}
    for match in _windows(lexicon, cells_of(text, masks)):
        windows.setdefault(match.slots, []).append(match)
    best = {slots: max(match.visible for match in matches) for slots, matches in windows.items()}
    chosen: list[Match] = []
    taken: set[int] = set()
    for slots in sorted(windows, key=lambda slots: (-len(slots), -best[slots], slots)):
        if taken.isdisjoint(slots):
            taken.update(slots)
            equal = [match for match in windows[slots] if match.visible == best[slots]]
            chosen.append(_merged(equal))
    return chosen


def _merged(matches: Sequence[Match]) -> Match:
    """Return one match; fillings that several windows agree on, or several entries, stand in it once."""
    ids = np.concatenate([match.ids for match in matches])
    distinct, places = np.unique(ids, axis=0, return_inverse=True)
    prior = np.zeros(len(distinct), dtype=np.float32)
    np.maximum.at(prior, places.reshape(-1), np.concatenate([match.prior for match in matches]))
    return Match(slots=matches[0].slots, visible=matches[0].visible, ids=distinct, prior=prior)


def _windows(lexicon: Lexicon, cells: Sequence[Cell]) -> Iterator[Match]:
    blanks = [at for at, cell in enumerate(cells) if isinstance(cell, int)]
    if not blanks:
        return
    first, end = max(0, blanks[0] - lexicon.longest), min(len(cells), blanks[-1] + lexicon.longest + 1)
    near = cells[first:end]
    blanks = [at - first for at in blanks]
    # Running counts say of any window at once how much of it is visible, and how much can stand in no phrase.
    visible = list(accumulate((isinstance(cell, str) for cell in near), initial=0))
    foreign = list(accumulate((isinstance(cell, str) and not is_han(cell) for cell in near), initial=0))
    # Neighbours that no phrase has side by side: most windows of a text hold some.
    strange = list(accumulate((_is_strange(lexicon, *pair) for pair in pairwise(near)), initial=0))
    for shelf in lexicon.shelves:
        last = len(near) - shelf.length
        starts = {start for at in blanks for start in range(max(0, at - shelf.length + 1), min(at, last) + 1)}
        for start in sorted(starts):
            stop = start + shelf.length
            shown = visible[stop] - visible[start]
            possible = foreign[stop] == foreign[start] and strange[stop - 1] == strange[start]
            if possible and _is_credible(near, start, stop, shown):
                yield from _match(shelf, near[start:stop], lexicon.prior_weight)


def _is_strange(lexicon: Lexicon, left: Cell, right: Cell) -> bool:
    return isinstance(left, str) and isinstance(right, str) and not lexicon.may_join(left, right)


def _is_credible(cells: Sequence[Cell], start: int, end: int, visible: int) -> bool:
    """Tell whether a window may be a phrase at all.

    Phrases begin and end where runs of blanks do, unless two visible characters speak for one; and of a longer phrase
    (a line of verse) most must be visible, since there is one for almost any few characters.
    """
    if end - start > IDIOM_CHARS and 2 * visible <= end - start:
        return False
    cuts_left = start > 0 and isinstance(cells[start - 1], int) and isinstance(cells[start], int)
    cuts_right = end < len(cells) and isinstance(cells[end], int) and isinstance(cells[end - 1], int)
    return visible >= 2 or not (cuts_left or cuts_right)


def _match(shelf: Shelf, window: Sequence[Cell], prior_weight: float) -> Iterator[Match]:
    columns = [at for at, cell in enumerate(window) if isinstance(cell, int)]
    found = shelf.matching([None if isinstance(cell, int) else cell for cell in window])
    if found.size:
        yield Match(
            slots=tuple(cell for cell in window if isinstance(cell, int)),
            visible=shelf.length - len(columns),
            ids=shelf.ids[columns][:, found].T,
            prior=shelf.prior[found] * np.float32(prior_weight),
        )
