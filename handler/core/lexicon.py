"""Set phrases that blanks may turn out to be part of: idioms, lines of verse. A swappable file of the artifact."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from handler.core.types import FloatArray

Codes = npt.NDArray[np.uint32]
Ids = npt.NDArray[np.int32]
_Points = TypeVar("_Points", int, Codes)

_DIGITS: Final = frozenset("0123456789")
_SPREAD: Final = 0x9E3779B1  # a prime near 2**32 over the golden ratio (Knuth, TAOCP 6.4)
_CODES: Final = 0x110000  # code points of Unicode
DEFAULT_PRIOR_WEIGHT: Final = 2.0  # where a file tells none
_PRIOR_WEIGHT: Final = re.compile(r"# prior weight: ([0-9]+(?:\.[0-9]+)?)")
_PAIR_BITS: Final = 20  # a byte for each of a million kinds of pairs; the 46,000 phrases have 92,000 distinct ones
NO_TOKEN: Final = -1  # in an array of ids: the vocabulary lacks the character


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """All entries of one length, column by column, so that a comparison runs over contiguous memory.

    ``codes`` and ``ids`` are (length, entries); ``prior`` is (entries,), the logarithm of 1 + the entry's frequency.
    """

    length: int
    codes: Codes
    ids: Ids
    prior: FloatArray

    def matching(self, cells: Sequence[str | None]) -> npt.NDArray[np.intp]:
        """Return which entries agree with the visible cells; None stands for a blank.

        Args:
            cells: as many as the entries are long.

        Returns:
            Indices in order, only of entries whose blanks are all tokens of the vocabulary.
        """
        candidates: npt.NDArray[np.intp] | None = None
        for at, cell in enumerate(cells):
            if cell is not None:
                column = self.codes[at] if candidates is None else self.codes[at][candidates]
                agreeing = np.flatnonzero(column == ord(cell))
                candidates = agreeing if candidates is None else candidates[agreeing]
                if not candidates.size:
                    return candidates
        found = np.arange(self.codes.shape[1]) if candidates is None else candidates
        for at, cell in enumerate(cells):
            if cell is None:
                found = found[self.ids[at][found] != NO_TOKEN]
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrases:
    """The content of a lexicon file.

    ``prior_weight`` is how much a phrase's log-frequency counts beside the model's log-probabilities: the weaker the
    model, the more. It is tuned for a model and kept with its lexicon.
    """

    phrases: tuple[str, ...]
    frequencies: FloatArray  # (phrases,)
    prior_weight: float = DEFAULT_PRIOR_WEIGHT


class Lexicon:
    """Phrases, ready to be looked up.

    Args:
        content: Han characters only.
        token_ids: id of every token of the vocabulary, by spelling.
    """

    def __init__(self, content: Phrases, token_ids: Mapping[str, int]) -> None:
        lengths = np.fromiter(map(len, content.phrases), dtype=np.int64, count=len(content.phrases))
        id_of_code = np.full(_CODES, NO_TOKEN, dtype=np.int32)
        for token, token_id in token_ids.items():
            if len(token) == 1:
                id_of_code[ord(token)] = token_id
        self.shelves = tuple(
            _shelf(int(length), np.flatnonzero(lengths == length), content, id_of_code) for length in np.unique(lengths)
        )
        self.prior_weight = content.prior_weight
        self.longest = int(lengths.max(initial=0))
        pairs = np.zeros(1 << _PAIR_BITS, dtype=np.bool_)
        for shelf in self.shelves:
            pairs[_pair_slot(shelf.codes[:-1], shelf.codes[1:])] = True
        self._pairs = pairs.tobytes()

    def __len__(self) -> int:
        return sum(shelf.codes.shape[1] for shelf in self.shelves)

    def may_join(self, first: str, second: str) -> bool:
        """Tell whether an entry may have these characters side by side; "no" is certain, "yes" is a guess.

        Most windows of a text are ruled out so, without a look at the entries (Bloom 1970, with one hash).
        """
        return bool(self._pairs[_pair_slot(ord(first), ord(second))])


def parse(text: str) -> Phrases:
    """Read a lexicon file: on each line a phrase, a tab and a frequency; comment lines, with #, come first.

    A comment "# prior weight: 1.5" tells that weight.

    Every cold start reads it, so the work is left to functions that loop in C: 46,000 phrases in 20 ms instead of 75.

    Raises:
        ValueError: the file is of another form.
    """
    lines = text.rstrip("\n").split("\n")
    first = next((at for at, line in enumerate(lines) if not line.startswith("#")), len(lines))
    parts = "\t".join(lines[first:]).split("\t")
    phrases, counts = parts[0::2], parts[1::2]
    if len(set(phrases)) < len(phrases):
        raise ValueError("a lexicon has each phrase once")
    if len(parts) != 2 * (len(lines) - first) or not all(parts) or not set("".join(counts)) <= _DIGITS:
        raise ValueError("a line of a lexicon is a phrase, a tab and a whole number")
    told = [found for line in lines[:first] if (found := _PRIOR_WEIGHT.fullmatch(line))]
    return Phrases(
        phrases=tuple(phrases),
        frequencies=np.fromstring(",".join(counts), dtype=np.float32, sep=","),
        prior_weight=float(told[-1][1]) if told else DEFAULT_PRIOR_WEIGHT,
    )


def _pair_slot(first: _Points, second: _Points) -> _Points:
    """Return where a pair of code points is noted; of arrays, whose products keep 32 bits by themselves, of each."""
    # numpy's stubs do not know that a Python number takes the array's own type (NEP 50).
    return ((first * _SPREAD + second) * _SPREAD & 0xFFFFFFFF) >> (32 - _PAIR_BITS)  # type: ignore[return-value]


def _shelf(length: int, chosen: npt.NDArray[np.intp], content: Phrases, id_of_code: Ids) -> Shelf:
    joined = "".join([content.phrases[at] for at in chosen])
    flat = np.frombuffer(joined.encode("utf-32-le"), dtype=np.uint32)
    codes = np.ascontiguousarray(flat.reshape(len(chosen), length).T)
    return Shelf(
        length=length,
        codes=codes,
        ids=id_of_code[codes],
        prior=np.log1p(content.frequencies[chosen]),
    )
