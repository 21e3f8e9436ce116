"""Cloze exercises: fair blanks, choices of one kind, and a key that is right."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handler.core.cloze import (
    DISTRACTORS,
    FUNCTION,
    LEAST_BETWEEN,
    TOO_NATURAL,
    askable,
    letter,
    make_sheet,
    with_blank,
)
from handler.core.vocabulary import is_han

TEXT = "春天来了，花开了。"
OFFERED = [("天", 0.6), ("风", 0.1), ("的", 0.08), ("，", 0.05), ("ab", 0.04), ("雨", 0.03), ("水", 0.02), ("山", 0.01)]


def test_choices_are_of_the_answers_kind_and_less_natural() -> None:
    """Chinese characters of the same kind that the model likes less: no particle beside a noun, no mark, no letters."""
    [exercise] = make_sheet(TEXT, {1: OFFERED}, 3).exercises

    assert set(exercise.choices) == {"天", "风", "雨", "水"}
    assert exercise.answer == "天"
    assert exercise.choices["ABCD".index(exercise.key)] == "天"


def test_question_hides_just_the_answer() -> None:
    """The blank is numbered, and nothing else of the text is changed."""
    sheet = make_sheet(TEXT, {1: OFFERED}, 1)

    assert sheet.question == "春（1）来了，花开了。"
    assert sheet.facts()["exercises"][0]["choices"][sheet.exercises[0].key] == "天"


@pytest.mark.parametrize(
    "offered",
    [
        [],
        [("风", 0.5), ("雨", 0.2)],  # the right one is not among them
        [("天", 0.5), ("风", 0.1), ("雨", 0.1)],  # too few to choose from
        [("天", 0.3), ("风", 0.2), ("雨", 0.2), ("水", 0.2), ("山", 0.1)],  # three that could be right as well
    ],
)
def test_no_question_is_better_than_an_unfair_one(offered: list[tuple[str, float]]) -> None:
    """Where the model cannot tell the answer from the others, nothing is asked."""
    assert make_sheet(TEXT, {1: offered}, 3).exercises == ()


def test_clear_places_come_before_those_where_the_model_errs() -> None:
    """A place where the model's own first is the answer goes first, however sure it is elsewhere."""
    weak = [("花", 0.2), *[(character, 0.05) for character in "树草叶"]]
    wrong = [("风", 0.9), ("天", 0.8), *[(character, 0.05) for character in "雨水山"]]

    assert [each.answer for each in make_sheet(TEXT, {1: wrong, 5: weak}, 1).exercises] == ["花"]
    assert [each.answer for each in make_sheet(TEXT, {1: wrong, 5: weak}, 2).exercises] == ["天", "花"]


@given(st.text("春天来了花开，a。", max_size=20), st.data(), st.integers(1, 5))
def test_sheet_is_fair_whatever_the_model_offers(text: str, data: st.DataObject, blanks: int) -> None:
    """No more blanks than asked, none beside another, four choices each, all but one clearly less likely."""
    scores = st.dictionaries(st.sampled_from([*"春天来了花开的得草木", "，", "a"]), st.floats(0, 1), max_size=10)
    candidates = {at: sorted(data.draw(scores).items(), key=lambda entry: -entry[1]) for at in askable(text)}

    sheet = make_sheet(text, candidates, blanks)

    places = [each.start for each in sheet.exercises]
    assert len(places) <= blanks
    assert all(right - left > LEAST_BETWEEN for left, right in itertools.pairwise(places))
    for each in sheet.exercises:
        own = dict(candidates[each.start])
        assert text[each.start] == each.answer
        assert len(set(each.choices)) == len(each.choices) == DISTRACTORS + 1
        others = set(each.choices) - {each.answer}
        assert all(own[other] < TOO_NATURAL * own[each.answer] and is_han(other) for other in others)
        assert {(other in FUNCTION) for other in others} == {each.answer in FUNCTION}
    assert make_sheet(text, candidates, blanks) == sheet


@pytest.mark.parametrize(("text", "places"), [("", []), ("abc。", []), ("好", []), ("很好a天", [0, 1]), ("a好，", [])])
def test_askable_needs_a_chinese_character_beside_it(text: str, places: list[int]) -> None:
    """A lone character has no context worth asking about."""
    assert askable(text) == places


def test_letters_and_blanks() -> None:
    """Choices count from A; a blank takes the place of one character."""
    assert [letter(0), letter(3)] == ["A", "D"]
    assert with_blank("很好a", 1) == "很[MASK]a"
