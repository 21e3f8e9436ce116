"""Whether a model reads characters that its vocabulary lacks better as their plain forms.

The standard vocabulary has neither curly quotes nor the dash nor the ellipsis: each is [UNK], in nearly every page of
Chinese prose. Each has a plain form, one character for one, so that offsets hold. Whether that helps is measured: the
other characters of sentences that hold them must become likelier.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from export.evaluation.sentences import PUNCTUATED
from export.reference import Reference
from export.statistics import Mean, mean_of
from export.vocabulary import Vocabulary

# What may stand for what, by kind; a kind is taken or left as a whole.
PLAIN_FORMS: Final[Mapping[str, Mapping[str, str]]] = {
    "double quotes": {"“": '"', "”": '"'},
    "single quotes": {"‘": "'", "’": "'"},
    "dash": {"—": "-", "–": "-"},
    "ellipsis": {"…": "."},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenMap:
    """The replacements to make, and the gain in log likelihood per character that decided for each kind."""

    mapping: Mapping[str, str]
    gains: Mapping[str, Mean]

    def facts(self) -> dict[str, Any]:
        """Return the decision as JSON."""
        return {"mapping": dict(self.mapping), "gains": {kind: gain.facts() for kind, gain in self.gains.items()}}


def choose_character_map(vocabulary: Vocabulary, reference: Reference) -> ChosenMap:
    """Measure each kind on its own sentences and keep those that gain.

    A gain within its interval of zero is kept as well: then it matters little, and the plain form says more than [UNK].
    """
    mapping: dict[str, str] = {}
    gains: dict[str, Mean] = {}
    known = set(vocabulary.tokens)
    for kind, forms in PLAIN_FORMS.items():
        usable = {old: new for old, new in forms.items() if old not in known and new in known}
        texts = [text for text in PUNCTUATED if any(old in text for old in usable)]
        if not texts:
            continue
        plain = _log_likelihoods(texts, vocabulary, reference, {})
        mapped = _log_likelihoods(texts, vocabulary, reference, usable)
        gains[kind] = mean_of(mapped - plain)
        if gains[kind].value > 0:
            mapping |= usable
    return ChosenMap(mapping=mapping, gains=gains)


def _log_likelihoods(
    texts: Sequence[str], vocabulary: Vocabulary, reference: Reference, mapping: Mapping[str, str]
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the log likelihood of every Han character, each masked in turn (a pseudo log likelihood)."""
    tokenizer = vocabulary.tokenizer(mapping)
    mask = vocabulary.special_ids["mask"]
    sequences: list[list[int]] = []
    positions: list[list[int]] = []
    truths: list[int] = []
    for text in texts:
        encoding = tokenizer.encode(text)
        for position, token in enumerate(encoding.tokens):
            if len(token) == 1 and "\u4e00" <= token <= "\u9fff":
                truths.append(encoding.ids[position])
                sequences.append([*encoding.ids[:position], mask, *encoding.ids[position + 1 :]])
                positions.append([position])
    logits = reference.masked_logits(sequences, positions).astype(np.float64)
    largest = logits.max(axis=1)
    total = largest + np.log(np.exp(logits - largest[:, None]).sum(axis=1))
    return np.asarray(logits[np.arange(len(truths)), truths] - total)
