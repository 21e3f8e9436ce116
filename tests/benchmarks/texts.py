"""Random texts of an exact number of tokens."""

from __future__ import annotations

import random
from typing import Final

COMMON: Final = (
    "的一是了我不人在他有这个上们来到时大地为子中你说生国年着就那和要她出也得里后自以会家可下而过天去能对小多"
)
_FRAME: Final = 2  # [CLS] and [SEP]


def text_of(tokens: int, chance: random.Random) -> str:
    """Return common characters around one [MASK]; with [CLS] and [SEP] it is so many tokens for every contender."""
    characters: list[str] = [chance.choice(COMMON) for _ in range(tokens - _FRAME)]
    characters[chance.randrange(len(characters))] = "[MASK]"
    return "".join(characters)
