"""Which character is written for which: classes against trying them one by one, and files that are refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from handler.core.error_model import parse
from tests.support.language import ERRORS, errors_of, token_ids

TOKENS = ("[UNK]", *"心新兴行的地得睛晴人入好", "ok")
IDS = token_ids(TOKENS)


def plain_class(written: str, right: str) -> str:
    """Return the likeliest class by which one character is written for another, asked pair by pair."""
    sounds = {character: set(syllables.split()) for character, syllables in ERRORS["sounds"].items()}
    mine, its = sounds.get(written, set()), sounds.get(right, set())
    similar = {other for syllable in mine for other in ERRORS["similar_sounds"].get(syllable, "").split()}
    if written == right:
        return "same"
    if mine & its:
        return "same_sound"
    if similar & its:
        return "similar_sound"
    if any(written in group and right in group for group in ERRORS["shapes"]):
        return "similar_shape"
    return "unrelated"


@pytest.mark.parametrize("written", "心新兴行的地得睛晴人入好")
def test_log_probabilities_agree_with_asking_pair_by_pair(written: str) -> None:
    """Every token has the number of the likeliest class that relates it to what is written; none is impossible."""
    row = errors_of(TOKENS).log_probabilities(written, IDS[written])

    expected = [ERRORS["log_probabilities"][plain_class(written, right)] for right in TOKENS]
    assert row.tolist() == pytest.approx(expected)


def test_characters_outside_the_vocabulary_take_no_part() -> None:
    """A file for a larger vocabulary serves a smaller one."""
    row = errors_of(("心", "好")).log_probabilities("心", 0)

    assert row.tolist() == pytest.approx([-0.05, -9.5])


def broken(**changes: Any) -> str:
    """Return the file with changes; None takes a field away."""
    return json.dumps({name: value for name, value in {**ERRORS, **changes}.items() if value is not None})


CLASSES: dict[str, Any] = ERRORS["log_probabilities"]


@pytest.mark.parametrize(
    "text",
    [
        *("", "null", "[]", "{}", "5", "no JSON"),
        *(broken(schema=2), broken(schema=None), broken(threshold=None), broken(sounds=None), broken(shapes=None)),
        *(broken(threshold="high"), broken(threshold=-1), broken(threshold=float("nan")), broken(threshold=1e999)),
        *(broken(log_probabilities={}), broken(log_probabilities={**CLASSES, "other": 1.0})),
        *(broken(log_probabilities={**CLASSES, "same": float("nan")}), broken(log_probabilities=[1, 2, 3, 4, 5])),
        *(broken(sounds=["心"]), broken(sounds={"心": 5}), broken(similar_sounds={"xin": ["xing"]})),
        *(broken(shapes=5), broken(shapes=[5]), broken(shapes=[["人", "入"]])),
    ],
)
def test_parse_refuses_another_form(text: str) -> None:
    """A damaged file ends the start of the function, not a request."""
    with pytest.raises(ValueError, match=r"error model|Expecting|convert"):
        parse(text)


def test_threshold_can_be_changed() -> None:
    """Tuning writes another threshold and touches nothing else."""
    facts = parse(json.dumps(ERRORS))

    changed = facts.with_threshold(2.5)

    assert changed.threshold == 2.5
    assert changed.with_threshold(facts.threshold) == facts
