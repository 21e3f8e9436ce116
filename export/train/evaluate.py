"""Figures of a checkpoint.

    python -m export.train.evaluate CHECKPOINT --corpus DIR [--baselines]

CHECKPOINT is any Hugging Face folder of a Chinese masked language model. One Han character is hidden in each held-out
segment, drawn with a fixed seed, so the figures of different models compare; a character that the vocabulary lacks
counts as wrong. The idioms and clozes were written for this project.
"""

import argparse
import json
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from export.train import packages
from export.train.baselines import Bigrams, Guesser, Lexicon, words_with_frequency
from export.train.clozes import ACCEPTANCE, HIDDEN_PAIRS, IDIOMS_IN_CONTEXT
from export.train.text import is_han, segments
from export.train.tokenizer import MASK
from handler.examples import EXAMPLES

KINDS: Final = ("poem", "news", "review")
MOST_SEGMENTS: Final = 1500
SEED: Final = 7
BATCH: Final = 50


@dataclass(frozen=True, slots=True)
class Question:
    """A segment and the place of its hidden character."""

    text: str
    at: int

    @property
    def answer(self) -> str:
        """What was hidden."""
        return self.text[self.at]


@dataclass(frozen=True, slots=True)
class Score:
    """How many of the questions were answered by the first guess and by the first five."""

    total: int
    first: int
    five: int

    def __str__(self) -> str:
        """Shares with the half-width of a 95 % interval."""
        share = self.first / self.total
        half = 1.96 * math.sqrt(share * (1 - share) / self.total)
        return f"{self.total:5d}  top-1 {share:.3f} (±{half:.3f})  top-5 {self.five / self.total:.3f}"


def questions(lines: Sequence[str], most: int = MOST_SEGMENTS, seed: int = SEED) -> list[Question]:
    """Hide one Han character in each segment of the held-out documents."""
    rng = random.Random(seed)  # noqa: S311 - drawn as in the first evaluation script
    asked: list[Question] = []
    for line in lines:
        for segment in segments(line):
            places = [place for place, character in enumerate(segment) if is_han(character)]
            if len(segment) >= 5 and places and len(asked) < most:
                asked.append(Question(segment, rng.choice(places)))
    return asked


def score(guesses: Sequence[Sequence[str]], asked: Sequence[Question]) -> Score:
    """Count right answers."""
    pairs = list(zip(guesses, asked, strict=True))
    return Score(len(pairs), sum(g[0] == q.answer for g, q in pairs), sum(q.answer in g[:5] for g, q in pairs))


class Checkpoint:
    """A masked language model of transformers, asked for its first answers."""

    def __init__(self, folder: Path) -> None:
        """Load tokenizer and model; both belong to the training extras, not to the service."""
        from transformers import AutoTokenizer, BertForMaskedLM

        self.tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        model: Any = BertForMaskedLM.from_pretrained(folder)
        self.model = model.eval()

    def answers(self, texts: Sequence[str], most: int = 5) -> list[list[str]]:
        """The first answers at the first mask of each text (which says [MASK])."""
        return [[token for token, _ in ranked[0][:most]] for ranked in self.ranked(texts)]

    def ranked(self, texts: Sequence[str], most: int = 5) -> Iterator[list[list[tuple[str, float]]]]:
        """For each text, for each of its masks, the first answers with their log-probabilities."""
        import torch

        for start in range(0, len(texts), BATCH):
            shown = [text.replace(MASK, self.tokenizer.mask_token) for text in texts[start : start + BATCH]]
            batch = self.tokenizer(shown, return_tensors="pt", padding=True, truncation=True, max_length=128)
            with torch.inference_mode():
                scores = self.model(**batch).logits
            for ids, row in zip(batch["input_ids"], scores, strict=True):
                places = (ids == self.tokenizer.mask_token_id).nonzero()[:, 0]
                top = row[places].log_softmax(-1).topk(most)
                yield [
                    list(zip(self.tokenizer.convert_ids_to_tokens(indices.tolist()), values.tolist(), strict=True))
                    for indices, values in zip(top.indices, top.values, strict=True)
                ]


def hidden_pairs() -> list[tuple[str, str]]:
    """Each idiom in context with each pair hidden: the text with two masks, and the answer."""
    asked = []
    for sentence, idiom in IDIOMS_IN_CONTEXT:
        start = sentence.index(idiom)
        for pair in HIDDEN_PAIRS:
            shown = [MASK if at in pair else character for at, character in enumerate(idiom)]
            text = sentence[:start] + "".join(shown) + sentence[start + len(idiom) :]
            asked.append((text, "".join(idiom[at] for at in pair)))
    return asked


def print_held_out(model: Checkpoint, corpus: Path) -> None:
    """Top-1 and top-5 by kind of text."""
    for kind in KINDS:
        asked = questions((corpus / f"heldout_{kind}.txt").read_text(encoding="utf-8").split("\n"))
        shown = [question.text[: question.at] + MASK + question.text[question.at + 1 :] for question in asked]
        print(f"{kind:8s} {score(model.answers(shown), asked)}")


def print_baselines(corpus: Path) -> None:
    """The same questions answered by counting."""
    dictionary = packages.folder_of(packages.JIEBA, corpus / "packages")
    (words,) = dictionary.glob("**/jieba/dict.txt")
    lexicon = Lexicon(words_with_frequency(words.read_text(encoding="utf-8").splitlines()))
    for kind in KINDS:
        training = (corpus / f"train_{kind}.txt").read_text(encoding="utf-8").splitlines()
        asked = questions((corpus / f"heldout_{kind}.txt").read_text(encoding="utf-8").split("\n"))
        guessers: dict[str, Guesser] = {"bigrams": Bigrams(training), "lexicon": lexicon}
        for name, guesser in guessers.items():
            print(f"{kind:8s} {name:8s} {score([guesser.guess(q.text, q.at) for q in asked], asked)}")


def print_idioms(model: Checkpoint, corpus: Path) -> None:
    """Idioms in context: both hidden characters right at once, freely and among the idioms that fit."""
    lines = (corpus / "idioms.tsv").read_text(encoding="utf-8").splitlines()
    frequency = {word: int(count) for word, count in (line.split("\t") for line in lines)}
    asked = hidden_pairs()
    free = chosen = baseline = 0
    vocabulary = len(model.tokenizer)
    for (text, answer), masks in zip(asked, model.ranked([text for text, _ in asked], vocabulary), strict=True):
        free += "".join(ranked[0][0] for ranked in masks) == answer
        fitting = _fitting(text, frequency)
        if fitting:
            tables = [dict(ranked) for ranked in masks]
            best = max(
                fitting, key=lambda filling: sum(table.get(c, -99.0) for table, c in zip(tables, filling, strict=True))
            )
            chosen += best == answer
            baseline += max(fitting, key=lambda filling: fitting[filling]) == answer
    total = len(asked)
    print(
        f"idioms   {total:5d}  both characters, no lexicon {free / total:.3f}; "
        f"among idioms that fit {chosen / total:.3f}; most frequent idiom that fits {baseline / total:.3f}"
    )


def _fitting(text: str, frequency: dict[str, int]) -> dict[str, int]:
    """Fillings of the two masks that make an idiom at the place where the masks stand, with its frequency."""
    cells = text.replace(MASK, "\0")
    found: dict[str, int] = {}
    first, last = cells.index("\0"), cells.rindex("\0")
    for begin in range(max(0, last - 3), min(first, len(cells) - 4) + 1):
        window = cells[begin : begin + 4]
        for word, count in frequency.items():
            if all(shown in ("\0", own) for shown, own in zip(window, word, strict=True)):
                filling = "".join(own for shown, own in zip(window, word, strict=True) if shown == "\0")
                found[filling] = max(count, found.get(filling, 0))
    return found


def print_clozes(model: Checkpoint) -> None:
    """The acceptance clozes, one line each, wrong ones marked."""
    right = 0
    for cloze, answers in zip(ACCEPTANCE, model.answers([cloze.text for cloze in ACCEPTANCE]), strict=True):
        good = any(answer in cloze.answers for answer in answers[: cloze.among])
        right += good
        print(f"{'right' if good else 'WRONG'}  {cloze.text}  {' '.join(answers)}")
    print(f"clozes   {right} of {len(ACCEPTANCE)} right")


def print_examples(model: Checkpoint, corpus: Path) -> None:
    """The sentences that ``make run`` shows, and whether they are labelled as what they are: memory or not."""
    training = "\n".join(file.read_text(encoding="utf-8") for file in sorted(corpus.glob("train_*.txt")))
    right = 0
    for example, answers in zip(EXAMPLES, model.answers([example.text for example in EXAMPLES]), strict=True):
        filled = [example.text.replace(MASK, answer).rstrip("。") for answer in example.answers]
        known = any(text in training for text in filled)
        right += answers[0] in example.answers
        verdict = "right" if answers[0] in example.answers else "WRONG"
        label = "labelled rightly" if known == example.memory else "LABEL WRONG"
        print(f"{verdict}  {example.text}  {' '.join(answers)}  in the training text: {known}, {label}")
    print(f"examples {right} of {len(EXAMPLES)} right")


def main() -> None:
    """Print every figure of the model card."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--baselines", action="store_true", help="also answer by bigrams and by the lexicon")
    arguments = parser.parse_args()
    if arguments.baselines:
        print_baselines(arguments.corpus)
    model = Checkpoint(arguments.checkpoint)
    config = json.loads((arguments.checkpoint / "config.json").read_text(encoding="utf-8"))
    print(f"{config['num_hidden_layers']} x {config['hidden_size']}, {config['vocab_size']} entries")
    print_held_out(model, arguments.corpus)
    print_idioms(model, arguments.corpus)
    print_clozes(model)
    print_examples(model, arguments.corpus)


if __name__ == "__main__":
    main()
