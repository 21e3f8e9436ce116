"""Cloze exercises: a text in, blanks with choices out, for a teacher to print.

A character that the model itself would put there makes a fair question; one that it finds unlikely would be a guess.
Distractors are characters of the same kind that the model also finds likely there, but much less than the right one, so
that they read well at first sight and are still wrong to the model. It knows no more than it has read: a teacher looks
over what comes out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from handler.core.vocabulary import is_han

DISTRACTORS: Final = 3
TOO_NATURAL: Final = 0.5  # of the right one's score: a character this likely could be right as well
ASKED_TOP_K: Final = 40  # candidates among which distractors are looked for
MASK: Final = "[MASK]"
LEAST_BETWEEN: Final = 2  # characters between two blanks, so that neither gives the other away

# Characters that only grammar decides; a question about one is a question about grammar.
FUNCTION: Final = frozenset("的地得了着过吗呢吧啊呀嘛么把被让给和与或在是不没很也都就还又再才只之而以于")


@dataclass(frozen=True, slots=True, kw_only=True)
class Exercise:
    """One blank with its choices, in the order in which they are printed."""

    number: int
    start: int  # of the hidden character in the text, in code points
    answer: str
    choices: tuple[str, ...]

    @property
    def key(self) -> str:
        """The letter of the right choice."""
        return letter(self.choices.index(self.answer))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A text with its blanks and the exercises to them."""

    text: str
    question: str  # the text with numbered blanks
    exercises: tuple[Exercise, ...]

    def facts(self) -> dict[str, Any]:
        """Return the sheet as JSON."""
        return {
            "text": self.text,
            "question": self.question,
            "exercises": [
                {
                    "number": each.number,
                    "start": each.start,
                    "choices": {letter(at): choice for at, choice in enumerate(each.choices)},
                    "answer": each.answer,
                    "key": each.key,
                }
                for each in self.exercises
            ],
        }


def letter(place: int) -> str:
    """Return A for the first choice, B for the second."""
    return chr(ord("A") + place)


def askable(text: str) -> list[int]:
    """Return where a character may be hidden: Chinese ones with a Chinese one beside them."""
    return [
        at
        for at, character in enumerate(text)
        if is_han(character) and any(is_han(beside) for beside in (text[at - 1 : at] + text[at + 1 : at + 2]))
    ]


def with_blank(text: str, at: int) -> str:
    """Return the text with one character hidden."""
    return text[:at] + MASK + text[at + 1 :]


def make_sheet(text: str, candidates: Mapping[int, Sequence[tuple[str, float]]], blanks: int) -> Sheet:
    """Choose the blanks of a text and their choices.

    Args:
        text: the whole text.
        candidates: for each place that may be hidden what the model offers there, with scores, best first.
        blanks: how many are wanted; fewer come where fewer places make a fair question.
    """
    fair = {at: found for at in candidates if (found := _distractors(text[at], candidates[at])) is not None}
    # The clearest first: where the right character is the model's own, and stands out most.
    chosen: list[int] = []
    for at in sorted(fair, key=lambda at: (candidates[at][0][0] != text[at], -fair[at][0], at)):
        if len(chosen) < blanks and all(abs(at - other) > LEAST_BETWEEN for other in chosen):
            chosen.append(at)
    exercises = tuple(
        Exercise(number=number, start=at, answer=text[at], choices=_shuffled(text, at, (text[at], *fair[at][1])))
        for number, at in enumerate(sorted(chosen), start=1)
    )
    return Sheet(text=text, question=_question(text, exercises), exercises=exercises)


def _distractors(right: str, offered: Sequence[tuple[str, float]]) -> tuple[float, tuple[str, ...]] | None:
    """Return the right character's score and what may stand beside it; None where the question would not be fair."""
    scores = dict(offered)
    if right not in scores:
        return None  # nobody could tell, as far as the model knows
    others = [
        token
        for token, score in offered
        if token != right
        and len(token) == 1
        and is_han(token)
        and (token in FUNCTION) is (right in FUNCTION)
        and score < TOO_NATURAL * scores[right]
    ]
    return (scores[right], tuple(others[:DISTRACTORS])) if len(others) >= DISTRACTORS else None


def _shuffled(text: str, at: int, choices: Sequence[str]) -> tuple[str, ...]:
    """Return the choices in an order that gives nothing away and is the same every time."""
    return tuple(sorted(choices, key=lambda choice: hashlib.sha256(f"{text}\n{at}\n{choice}".encode()).digest()))


def _question(text: str, exercises: Sequence[Exercise]) -> str:
    pieces, done = [], 0
    for each in exercises:
        pieces += [text[done : each.start], f"（{each.number}）"]
        done = each.start + 1
    return "".join(pieces) + text[done:]
