"""The labelled sentences of clozes.txt."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

CLOZES_FILE: Final = Path(__file__).with_name("clozes.txt")
CATEGORIES: Final = ("idioms", "poems", "common sense", "function words", "measure words", "characters")
_BLANK: Final = re.compile(r"\{([^|{}]+)(?:\|([^|{}]+))?\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cloze:
    """A sentence with one blank."""

    category: str
    text: str  # with [MASK] in place of the character
    gold: str  # the right character
    wrong: str | None  # what is often written instead; in the category "characters" only

    @property
    def sentence(self) -> str:
        """The sentence with its right character."""
        return self.text.replace("[MASK]", self.gold)


def read_clozes(path: Path = CLOZES_FILE) -> Sequence[Cloze]:
    """Read the sentences; see check.py for what must hold of them.

    Raises:
        ValueError: a line has not exactly one blank, or stands before the first category.
    """
    clozes: list[Cloze] = []
    category = ""
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            category = line.strip("[]")
            continue
        blanks = list(_BLANK.finditer(line))
        if len(blanks) != 1 or not category:
            raise ValueError(f"{path.name}:{number} must have one blank, below a category")
        [blank] = blanks
        text = f"{line[: blank.start()]}[MASK]{line[blank.end() :]}"
        clozes.append(Cloze(category=category, text=text, gold=blank[1], wrong=blank[2]))
    return tuple(clozes)
