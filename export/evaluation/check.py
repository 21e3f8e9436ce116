"""Checks of the labelled sentences: python -m export.evaluation.check."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from typing import Final

from export.evaluation.clozes import CATEGORIES, Cloze, read_clozes

LEAST: Final = 300  # sentences in all
_EVEN: Final = 0.8  # the smallest category against the largest


def faults(clozes: Sequence[Cloze]) -> Sequence[str]:
    """Return every fault, one sentence each.

    One gold character each, no sentence twice, every category there and about as large as the others, and a usual
    wrong character in the category "characters" only.
    """
    found: list[str] = []
    if len(clozes) < LEAST:
        found.append(f"{len(clozes)} sentences, fewer than {LEAST}")
    sentences = Counter(cloze.sentence for cloze in clozes)
    found += [f"twice: {sentence}" for sentence, count in sentences.items() if count > 1]
    for cloze in clozes:
        if len(cloze.gold) != 1 or not "\u4e00" <= cloze.gold <= "\u9fff":
            found.append(f"the right answer is not one Han character: {cloze.text}")
        if (cloze.category == "characters") != (cloze.wrong is not None) or cloze.wrong == cloze.gold:
            found.append(f"a wrong character is missing, the right one, or out of place: {cloze.text}")
    sizes = Counter(cloze.category for cloze in clozes)
    if set(sizes) != set(CATEGORIES):
        found.append(f"categories {sorted(sizes)} instead of {sorted(CATEGORIES)}")
    elif min(sizes.values()) < _EVEN * max(sizes.values()):
        found.append(f"the categories are uneven: {dict(sizes)}")
    return found


def main() -> int:
    """Print the sizes and the faults; 1 where there are any."""
    clozes = read_clozes()
    print(", ".join(f"{category} {count}" for category, count in Counter(c.category for c in clozes).items()))
    found = faults(clozes)
    print("\n".join(found) if found else f"{len(clozes)} sentences, no faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
