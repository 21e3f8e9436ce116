"""Which documents are never trained on, decided by a hash of the document before anything else."""

import hashlib
from collections.abc import Iterable
from typing import Final, Literal

from export.train.text import is_han, sentences

Part = Literal["heldout", "dev", "train"]
HELDOUT_BELOW: Final = 3  # of 1,000: figures are reported on these
DEV_BELOW: Final = 4  # of 1,000: between the two, choices are made on these
MIN_SHARED_HAN: Final = 10  # a couplet of five; shorter sentences recur in unrelated documents


def part_of(document: str) -> Part:
    """The part a cleaned document belongs to: the first six hex digits of its md5, modulo 1,000."""
    bucket = int(hashlib.md5(document.encode(), usedforsecurity=False).hexdigest()[:6], 16) % 1000
    if bucket < HELDOUT_BELOW:
        return "heldout"
    return "dev" if bucket < DEV_BELOW else "train"


def fingerprints(document: str) -> set[str]:
    """The longer sentences of a document, Han characters only, by which a second printing of it is recognised."""
    found = set()
    for sentence in sentences(document):
        han = "".join(character for character in sentence if is_han(character))
        if len(han) >= MIN_SHARED_HAN:
            found.add(han)
    return found


def fingerprints_of_all(documents: Iterable[str]) -> frozenset[str]:
    """The fingerprints of many documents together."""
    return frozenset().union(*(fingerprints(document) for document in documents))
