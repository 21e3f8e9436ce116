"""Writes src/pinyin.txt, the page's table of readings (src/pinyin.ts reads it).

usage: python handler/web/scripts/pinyin.py        (needs pypinyin, MIT License)

Only characters of the committed vocabulary are listed, each with its commonest reading. Three lines: the syllables; the
characters in order, each by how many code points were left out before it; the syllable of each, as two digits. That
compresses to three quarters of a plain list.
"""

from __future__ import annotations

import json
from pathlib import Path

from pypinyin import Style, pinyin

WEB = Path(__file__).resolve().parents[1]
TOKENIZER = WEB.parents[1] / "layers" / "model" / "tokenizer.json"


FIRST = 0x3400
DIGITS = "".join(chr(code) for code in range(0x23, 0x7F) if chr(code) != "\\")
LAST = len(DIGITS) - 1  # as a gap: so many, and more to come


def main() -> None:
    """Write the table."""
    vocabulary = json.loads(TOKENIZER.read_text(encoding="utf-8"))["model"]["vocab"]
    readings = {}
    for character in sorted(token for token in vocabulary if len(token) == 1 and FIRST <= ord(token) <= 0x9FFF):
        reading = pinyin(character, style=Style.TONE, errors="ignore")
        if reading:
            readings[character] = reading[0][0]
    syllables = sorted(set(readings.values()))
    gaps, codes, expected = "", "", FIRST
    for character, syllable in readings.items():
        more, gap = divmod(ord(character) - expected, LAST)
        gaps += DIGITS[LAST] * more + DIGITS[gap]
        codes += "".join(DIGITS[digit] for digit in divmod(syllables.index(syllable), len(DIGITS)))
        expected = ord(character) + 1
    table = f"{' '.join(syllables)}\n{gaps}\n{codes}\n"
    (WEB / "src" / "pinyin.txt").write_text(table, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
