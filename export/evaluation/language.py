"""The language part, measured: idioms, idioms in context, lines of verse, correction.

    python -m export.evaluation.language --data DIR [--model DIR] [--sample N] [--out FILE]

DIR holds THUOCL_chengyu.txt and THUOCL_poem.txt (phrase, tab, frequency) and ecspell_law.test.tsv, ecspell_med.test.tsv
and ecspell_odw.test.tsv (label, sentence, right form); a file that is absent is left out. The baseline for idioms is
the lexicon's entry of the highest frequency among those that complete the text. Shares come with 95 % intervals.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from export.evaluation.correction import CorrectionUnderTest, figures, read_pairs
from export.statistics import Share
from handler import bootstrap, settings
from handler.core.requests import parse_native
from handler.core.types import FilledText

SENTENCES: Final = Path(__file__).with_name("idioms_in_context.txt")
DEVELOPMENT: Final = "law"  # the set that thresholds are tuned on
CORRECTION_SETS: Final = (DEVELOPMENT, "med", "odw")
PAIRS: Final = tuple(itertools.combinations(range(4), 2))
_SEED: Final = 20261130
_MASK: Final = "[MASK]"


class _NoDeadline:
    def remaining_ms(self) -> float:
        return float("inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cloze:
    """A phrase with some characters hidden, perhaps in a sentence."""

    before: str
    phrase: str
    after: str
    hidden: tuple[int, ...]

    @property
    def text(self) -> str:
        """The text with blanks."""
        shown = "".join(_MASK if at in self.hidden else character for at, character in enumerate(self.phrase))
        return self.before + shown + self.after

    @property
    def whole(self) -> str:
        """The text as it was."""
        return self.before + self.phrase + self.after


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one cloze."""

    right: bool
    baseline_right: bool
    passes: int


class FillingUnderTest:
    """The service on an artifact, as deployed, without caches.

    Args:
        folder: the artifact's; None for the embedded one.
    """

    def __init__(self, folder: Path | None) -> None:
        chosen = replace(settings.load(), cache_ttl_s=0, cache_table=None, results_queue=None, log_level="ERROR")
        environment = bootstrap.start(replace(chosen, model_dir=folder) if folder else chosen)
        self._service = environment.service()
        artifact = environment.artifact
        phrases = artifact.lexicon() if artifact else None
        if artifact is None or phrases is None:
            raise SystemExit("the artifact has no lexicon")
        self.folder, self.name = artifact.folder, f"{artifact.name} {artifact.digest[:12]}"
        self._by_length: dict[int, tuple[list[str], Any]] = {}
        for length in {len(phrase) for phrase in phrases.phrases}:
            chosen_at = [at for at, phrase in enumerate(phrases.phrases) if len(phrase) == length]
            self._by_length[length] = [phrases.phrases[at] for at in chosen_at], phrases.frequencies[chosen_at]

    def outcome(self, cloze: Cloze, *, lexicon: bool = True) -> Outcome:
        """Fill a cloze and judge it by the text that comes out first."""
        request = parse_native({"text": cloze.text, "top_k": 1, "lexicon": lexicon}, self._service.limits)
        answer = self._service.answer(request, _NoDeadline())
        [result] = answer.results
        assert isinstance(result, FilledText)
        filled = result.joint[0].text if result.joint else result.masks[0].candidates[0].text
        return Outcome(
            right=filled == cloze.whole,
            baseline_right=self.most_frequent(cloze.phrase, cloze.hidden) == cloze.phrase,
            passes=answer.passes,
        )

    def most_frequent(self, phrase: str, hidden: Sequence[int]) -> str | None:
        """Return the entry of the highest frequency that agrees with what is shown; the first of equals."""
        entries, frequencies = self._by_length.get(len(phrase), ([], None))
        shown = [at for at in range(len(phrase)) if at not in hidden]
        agreeing = [at for at, entry in enumerate(entries) if all(entry[place] == phrase[place] for place in shown)]
        if not agreeing or frequencies is None:
            return None
        return entries[agreeing[int(np.argmax(frequencies[agreeing]))]]


def summary(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return the figures of some clozes."""
    total = len(outcomes)
    return {
        "right": Share(hits=sum(each.right for each in outcomes), total=total).facts(),
        "baseline": Share(hits=sum(each.baseline_right for each in outcomes), total=total).facts(),
        "single_pass": Share(hits=sum(each.passes == 1 for each in outcomes), total=total).facts(),
        "mean_passes": round(sum(each.passes for each in outcomes) / total, 2) if total else None,
    }


def read_phrases(path: Path, lengths: Sequence[int]) -> list[str]:
    """Return the phrases of these lengths of a list in THUOCL's form."""
    lines = path.read_text(encoding="utf-8").split("\n")
    phrases = (line.split("\t")[0].strip() for line in lines if line.strip())
    return [phrase for phrase in phrases if len(phrase) in lengths]


def in_context() -> list[tuple[str, str]]:
    """Return sentences with their idioms."""
    lines = SENTENCES.read_text(encoding="utf-8").split("\n")
    return [(sentence, idiom) for sentence, idiom in (line.split("\t") for line in lines if line)]


def _pattern(hidden: Sequence[int]) -> str:
    return "".join("_" if at in hidden else "x" for at in range(4))


def idioms(under_test: FillingUnderTest, path: Path, sample: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Measure idioms alone, by hidden pattern."""
    drawn = random.Random(_SEED).sample(known := read_phrases(path, (4,)), min(sample, len(known)))  # noqa: S311 (a sample, no secret)
    for count in range(1, 5):
        for hidden in itertools.combinations(range(4), count):
            clozes = [Cloze(before="", phrase=idiom, after="", hidden=hidden) for idiom in drawn]
            yield f"idioms {_pattern(hidden)}", summary([under_test.outcome(cloze) for cloze in clozes])


def idioms_in_context(under_test: FillingUnderTest) -> Iterator[tuple[str, dict[str, Any]]]:
    """Measure idioms in sentences, two characters hidden, by pattern and together."""
    everything: list[Outcome] = []
    for hidden in PAIRS:
        outcomes = []
        for sentence, idiom in in_context():
            before, _, after = sentence.partition(idiom)
            outcomes.append(under_test.outcome(Cloze(before=before, phrase=idiom, after=after, hidden=hidden)))
        everything += outcomes
        yield f"in context {_pattern(hidden)}", summary(outcomes)
    yield "in context, all", summary(everything)


def verses(under_test: FillingUnderTest, path: Path, sample: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Measure lines of verse with one character hidden, with the lexicon and without."""
    chance = random.Random(_SEED)  # noqa: S311 (a sample, no secret)
    known = read_phrases(path, (5, 7))
    clozes = [
        Cloze(before="", phrase=line, after="", hidden=(chance.randrange(len(line)),))
        for line in chance.sample(known, min(sample, len(known)))
    ]
    yield "verse", summary([under_test.outcome(cloze) for cloze in clozes])
    yield "verse, model alone", summary([under_test.outcome(cloze, lexicon=False) for cloze in clozes])


def correction(under_test: CorrectionUnderTest, data: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Measure the correction of each set at the artifact's own threshold."""
    for name in CORRECTION_SETS:
        path = data / f"ecspell_{name}.test.tsv"
        if path.is_file():
            pairs = read_pairs(path)
            found = figures(pairs, [under_test.changes(pair.written) for pair in pairs], under_test.threshold)
            yield f"correction {name}" + (" (development)" if name == DEVELOPMENT else ""), found.facts()


def line(name: str, facts: dict[str, Any]) -> str:
    """Return the figures of one row for people."""
    if "right" in facts:
        shares = (
            f"{title} {facts[key]['value']:.1%} ({facts[key]['low']:.1%} to {facts[key]['high']:.1%})"
            for title, key in (("right", "right"), ("baseline", "baseline"), ("single pass", "single_pass"))
        )
        return f"{name} (n={facts['right']['total']}): " + ", ".join(shares) + f", passes {facts['mean_passes']}"
    mended, alarms = facts["sentences_mended"], facts["false_alarms"]
    return (
        f"{name}: character F1 {facts['character_f1']:.3f} (precision {facts['character_precision']:.3f}, "
        f"recall {facts['character_recall']:.3f}), sentence F1 {facts['sentence_f1']:.3f}, "
        f"mended {mended['value']:.1%} ({mended['low']:.1%} to {mended['high']:.1%}), "
        f"false alarms {alarms['value']:.1%} ({alarms['low']:.1%} to {alarms['high']:.1%}), "
        f"threshold {facts['threshold']}"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the public data")
    parser.add_argument("--model", type=Path, help="folder of an artifact; the embedded one by default")
    parser.add_argument("--sample", type=int, default=150, help="idioms and lines of verse that are drawn")
    parser.add_argument("--out", type=Path, help="the figures as JSON")
    arguments = parser.parse_args()
    filling = FillingUnderTest(arguments.model)
    print(filling.name, flush=True)
    found: dict[str, Any] = {"model": filling.name}
    rows: list[Iterator[tuple[str, dict[str, Any]]]] = [idioms_in_context(filling)]
    for measure, file in ((idioms, "THUOCL_chengyu.txt"), (verses, "THUOCL_poem.txt")):
        if (arguments.data / file).is_file():
            rows.append(measure(filling, arguments.data / file, arguments.sample))
    rows.append(correction(CorrectionUnderTest(filling.folder), arguments.data))
    for name, facts in itertools.chain.from_iterable(rows):
        found[name] = facts
        print(line(name, facts), flush=True)
    if arguments.out:
        arguments.out.write_text(json.dumps(found, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
