"""Correction of wrong characters, measured; and its threshold, tuned and kept with the artifact.

    python -m export.evaluation.correction --model DIR --development FILE [--error-model FILE]

FILE holds a label, a sentence and its right form on each line, with tabs (ECSpell's form). The threshold with the best
character F1 is chosen among those that touch at most every tenth clean sentence; it is written into the error model
file where one is named. After that the artifact's manifest must be written anew: its digest covers the file.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from export.statistics import Share
from handler.adapters.artifact import open_artifact
from handler.adapters.onnx_model import OnnxMaskedLanguageModel
from handler.adapters.tokenizer import WordPieceTokenizer
from handler.core.correction import Corrector
from handler.core.error_model import ErrorFacts, ErrorModel
from handler.core.error_model import parse as parse_error_model
from handler.core.sentences import parts_of
from handler.core.vocabulary import Vocabulary

THRESHOLDS: Final = tuple(step / 4 for step in range(57))  # 0 to 14
MOST_FALSE_ALARMS: Final = 0.1  # of the clean sentences


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A sentence as written and as it should be, of the same length."""

    written: str
    right: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The best suggestion for one character, and its margin."""

    start: int
    end: int
    token: str
    margin: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """How well a set was corrected at a threshold."""

    threshold: float
    right_changes: int  # characters that became right
    wrong_changes: int  # characters that were changed and are not right
    missed: int  # wrong characters that are not right afterwards
    sentences_mended: Share  # of the wrong sentences, wholly right afterwards
    sentences_touched: int  # changed anywhere
    false_alarms: Share  # of the clean sentences, changed

    @property
    def character_f1(self) -> float:
        """Of changed characters against wrong ones."""
        return _f1(self.right_changes, self.right_changes + self.wrong_changes, self.right_changes + self.missed)

    @property
    def sentence_f1(self) -> float:
        """Of changed sentences against wrong ones; right is a sentence that is wholly right afterwards."""
        return _f1(self.sentences_mended.hits, self.sentences_touched, self.sentences_mended.total)

    def facts(self) -> dict[str, Any]:
        """Return the figures as JSON."""
        return {
            "threshold": self.threshold,
            "character_precision": _ratio(self.right_changes, self.right_changes + self.wrong_changes),
            "character_recall": _ratio(self.right_changes, self.right_changes + self.missed),
            "character_f1": round(self.character_f1, 4),
            "sentence_precision": _ratio(self.sentences_mended.hits, self.sentences_touched),
            "sentences_mended": self.sentences_mended.facts(),
            "sentence_f1": round(self.sentence_f1, 4),
            "false_alarms": self.false_alarms.facts(),
        }


def _ratio(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0


def _f1(right: int, made: int, wanted: int) -> float:
    return 2 * right / (made + wanted) if made + wanted else 0.0


def read_pairs(path: Path) -> list[Pair]:
    """Read label, sentence and right form; lines whose two forms differ in length are left out, as out of reach."""
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").split("\n") if line]
    return [Pair(written=row[1], right=row[2]) for row in rows if len(row[1]) == len(row[2])]


def figures(pairs: Sequence[Pair], changes: Sequence[Sequence[Change]], threshold: float) -> Figures:
    """Count what making the changes above a threshold does to each sentence."""
    right = wrong = missed = mended = erroneous = touched = alarms = 0
    for pair, found in zip(pairs, changes, strict=True):
        result = _changed(pair.written, (change for change in found if change.margin > threshold))
        for before, gold, after in zip(pair.written, pair.right, result, strict=True):
            right += before != after == gold
            wrong += before != after != gold
            missed += before != gold != after
        touched += result != pair.written
        if pair.written == pair.right:
            alarms += result != pair.written
        else:
            erroneous += 1
            mended += result == pair.right
    return Figures(
        threshold=threshold,
        right_changes=right,
        wrong_changes=wrong,
        missed=missed,
        sentences_mended=Share(hits=mended, total=erroneous),
        sentences_touched=touched,
        false_alarms=Share(hits=alarms, total=len(pairs) - erroneous),
    )


def _changed(text: str, changes: Iterable[Change]) -> str:
    characters = list(text)
    for change in changes:
        characters[change.start : change.end] = change.token
    return "".join(characters)


def best_threshold(pairs: Sequence[Pair], changes: Sequence[Sequence[Change]]) -> Figures:
    """Return the figures at the threshold with the best character F1 among those with few false alarms.

    Where every threshold has too many, the one with the fewest is chosen.
    """
    tried = [figures(pairs, changes, threshold) for threshold in THRESHOLDS]
    calm = [each for each in tried if each.false_alarms.hits <= MOST_FALSE_ALARMS * each.false_alarms.total]
    if not calm:
        return min(tried, key=lambda each: each.false_alarms.hits)
    return max(calm, key=lambda each: (each.character_f1, each.threshold))


class CorrectionUnderTest:
    """The corrector of an artifact, with every margin above 0 reported.

    Args:
        folder: the artifact's.
        facts: an error model in place of the artifact's own.
    """

    def __init__(self, folder: Path, facts: ErrorFacts | None = None) -> None:
        artifact = open_artifact(folder)
        found = facts or artifact.error_model()
        if found is None:
            raise SystemExit("the artifact has no error model: name one with --error-model")
        self.threshold = found.threshold
        self._tokenizer = WordPieceTokenizer(
            artifact.path("tokenizer.json"), artifact.special, artifact.vocabulary_size
        )
        self._vocabulary = Vocabulary(self._tokenizer.vocabulary, self._tokenizer.special_ids)
        self._model = OnnxMaskedLanguageModel(
            artifact.path("model.onnx"), threads=1, vocabulary_size=artifact.vocabulary_size
        )
        self._room = min(128, artifact.max_positions) - 2
        ids = {token: token_id for token_id, token in enumerate(self._tokenizer.vocabulary)}
        errors = ErrorModel(found.with_threshold(0.0), ids, len(self._vocabulary))
        self._corrector = Corrector(self._tokenizer, self._vocabulary, errors)

    def changes(self, text: str) -> list[Change]:
        """Return the best suggestion for every character that has one."""
        parts = parts_of(text, self._tokenizer, self._room)
        found, _ = self._corrector.find(parts, self._model, particles=False)
        changes = []
        for each in found:
            start, end = parts[each.part].offsets[each.position]
            best = each.suggestions[0]
            changes.append(
                Change(start=start, end=end, token=self._vocabulary.surface(best.token_id), margin=best.margin)
            )
        return changes


def main() -> None:
    """Tune the threshold on a development set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True, help="folder of the artifact")
    parser.add_argument("--development", type=Path, required=True, help="label, sentence, right form; with tabs")
    parser.add_argument("--error-model", type=Path, help="the error model; the tuned threshold is written into it")
    arguments = parser.parse_args()
    text = arguments.error_model.read_text(encoding="utf-8") if arguments.error_model else None
    corrector = CorrectionUnderTest(arguments.model, parse_error_model(text) if text else None)
    pairs = read_pairs(arguments.development)
    best = best_threshold(pairs, [corrector.changes(pair.written) for pair in pairs])
    print(json.dumps(best.facts(), indent=2))
    if text:
        content = json.loads(text) | {"threshold": best.threshold}
        arguments.error_model.write_text(
            json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
