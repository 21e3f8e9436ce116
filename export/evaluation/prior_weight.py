"""How much an idiom's frequency should count beside what a model says of it: tuned for a model, kept in its lexicon.

    python -m export.evaluation.prior_weight --model DIR [--lexicon FILE]

Half of the sentences of idioms_in_context.txt choose the weight, two of four characters hidden in every way; the other
half reports it. The weight is written into the lexicon file where one is named; after that the artifact's manifest must
be written anew. The looks that close entries get again are left out here: they change a few answers in a hundred.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from export.evaluation.language import PAIRS, Cloze, in_context
from export.statistics import Share
from handler.adapters.artifact import open_artifact
from handler.adapters.onnx_model import OnnxMaskedLanguageModel
from handler.adapters.tokenizer import WordPieceTokenizer
from handler.core import phrases
from handler.core.lexicon import Lexicon, Phrases
from handler.core.lexicon import parse as parse_lexicon
from handler.core.ranking import log_softmax
from handler.core.text import TextPreparer
from handler.core.vocabulary import Vocabulary
from handler.settings import Settings

WEIGHTS: Final = tuple(step / 4 for step in range(33))  # 0 to 8
BASELINE: Final = 1e6  # so heavy that the frequency alone decides


@dataclass(frozen=True, slots=True, kw_only=True)
class Entries:
    """The entries that complete one cloze; none of them may be the right one."""

    log_probabilities: npt.NDArray[np.float32]  # (entries,)
    prior: npt.NDArray[np.float32]  # (entries,), unweighted
    right: int | None  # index of the right one

    def is_right(self, weight: float) -> bool:
        """Tell whether the right entry comes first at a weight."""
        scores = self.log_probabilities.astype(np.float64) + weight * self.prior
        return self.right is not None and int(scores.argmax()) == self.right


def share_right(clozes: Sequence[Entries], weight: float) -> Share:
    """Count the clozes whose right entry comes first."""
    return Share(hits=sum(cloze.is_right(weight) for cloze in clozes), total=len(clozes))


def best_weight(clozes: Sequence[Entries]) -> float:
    """Return the smallest weight among those with the most right answers: the model is trusted as far as it may be."""
    return max(WEIGHTS, key=lambda weight: (share_right(clozes, weight).hits, -weight))


def collected(folder: Path, content: Phrases) -> tuple[list[Entries], list[Entries]]:
    """Run the model on every cloze; return the half to tune on and the half to report."""
    artifact = open_artifact(folder)
    tokenizer = WordPieceTokenizer(artifact.path("tokenizer.json"), artifact.special, artifact.vocabulary_size)
    model = OnnxMaskedLanguageModel(artifact.path("model.onnx"), threads=1, vocabulary_size=artifact.vocabulary_size)
    ids = {token: token_id for token_id, token in enumerate(tokenizer.vocabulary)}
    vocabulary = Vocabulary(tokenizer.vocabulary, tokenizer.special_ids)
    preparer = TextPreparer(tokenizer, vocabulary, Settings().limits(artifact.max_positions))
    lexicon = Lexicon(replace(content, prior_weight=1.0), ids)
    halves: tuple[list[Entries], list[Entries]] = ([], [])
    for hidden in PAIRS:
        for at, (sentence, idiom) in enumerate(in_context()):
            before, _, after = sentence.partition(idiom)
            text = preparer.prepare(Cloze(before=before, phrase=idiom, after=after, hidden=hidden).text)
            rows = log_softmax(model.logits([text.sequence])[0])
            right = [ids.get(idiom[place]) for place in hidden]
            halves[at % 2].append(_entries(phrases.groups(lexicon, text.text, text.masks), rows, right))
    return halves


def _entries(matches: Sequence[phrases.Match], rows: npt.NDArray[np.float32], right: Sequence[int | None]) -> Entries:
    whole = [match for match in matches if len(match.slots) == len(right)]
    if not whole:
        nothing = np.zeros(1, dtype=np.float32)
        return Entries(log_probabilities=nothing, prior=nothing, right=None)
    [match] = whole
    at = next((place for place, entry in enumerate(match.ids.tolist()) if entry == list(right)), None)
    scores = np.asarray(sum(rows[slot][match.ids[:, place]] for place, slot in enumerate(match.slots)))
    return Entries(log_probabilities=scores, prior=match.prior, right=at)


def main() -> None:
    """Tune the weight and report it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True, help="folder of the artifact")
    parser.add_argument("--lexicon", type=Path, help="the lexicon; the tuned weight is written into it")
    arguments = parser.parse_args()
    text = arguments.lexicon.read_text(encoding="utf-8") if arguments.lexicon else None
    content = parse_lexicon(text) if text else open_artifact(arguments.model).lexicon()
    if content is None:
        raise SystemExit("the artifact has no lexicon: name one with --lexicon")
    development, report = collected(arguments.model, content)
    weight = best_weight(development)
    halves = {"development": development, "report": report}
    figures = {
        f"{name}, {title}": share_right(clozes, used).facts()
        for name, clozes in halves.items()
        for title, used in (("weight chosen", weight), ("model alone", 0.0), ("frequency alone", BASELINE))
    }
    print(json.dumps({"prior_weight": weight, **figures}, indent=2))
    if text:
        without = re.sub(r"# prior weight: .*\n", "", text)
        comments = re.match(r"(?:#.*\n)*", without)
        end = comments.end() if comments else 0
        changed = f"{without[:end]}# prior weight: {weight:g}\n{without[end:]}"
        arguments.lexicon.write_text(changed, encoding="utf-8")


if __name__ == "__main__":
    main()
