"""The error model's build: syllables and shapes that are taken for each other, and a file that the service reads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from export.error_model import LARGEST_GROUP, facts, shape_groups, similar_syllables, vocabulary_characters
from handler.core.error_model import parse
from tests.support import embedded

PARTS = {"晴": ["日", "青"], "睛": ["目", "青"], "情": ["忄", "青"], "明": ["日", "月"], "青": None, "人": None}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("zhang", "zang"),
        ("shi", "si"),
        ("ning", "ling"),
        ("fei", "hei"),
        ("xin", "xing"),
        ("guan", "guang"),
        ("ran", "lan"),
    ],
)
def test_confusable_syllables_are_similar_both_ways(one: str, other: str) -> None:
    """Initials and finals that speakers mix up make two syllables similar, whichever of them is written."""
    similar = similar_syllables([one, other, "qqq"])

    assert other in similar[one]
    assert one in similar[other]


@pytest.mark.parametrize(("one", "other"), [("ma", "ba"), ("zhi", "chi"), ("shi", "hi"), ("si", "si"), ("xin", "xun")])
def test_other_syllables_are_not_similar(one: str, other: str) -> None:
    """Only what is really mixed up, only one place at a time, and never a syllable with itself."""
    assert other not in similar_syllables([one, other]).get(one, [])


def test_similar_syllables_exist() -> None:
    """A syllable that nobody says is no confusion."""
    assert similar_syllables(["zhang"]) == {}


def test_shapes_share_a_part_in_the_same_place() -> None:
    """晴, 睛 and 情 share their right half with 青 itself; 晴 and 明 their left one; 人 looks like none of them."""
    groups = shape_groups(PARTS.get, PARTS)

    assert "".join(sorted("晴睛情青")) in groups
    assert "".join(sorted("晴明")) in groups
    assert not any("人" in group for group in groups)


def test_a_part_that_very_many_share_says_little() -> None:
    """A group beyond the limit is left out."""
    parts = {chr(0x4E00 + at): ["氵", chr(0x5E00 + at)] for at in range(LARGEST_GROUP + 1)}

    assert shape_groups(parts.get, parts) == []
    parts.popitem()
    assert len(shape_groups(parts.get, parts)) == 1


def test_written_facts_are_read_by_the_service() -> None:
    """What the command writes is what the service parses."""
    content = facts({"心": ["xin"], "兴": ["xing"], "行": ["hang", "xing"]}, ["晴睛"], 2.5)

    found = parse(json.dumps(content))

    assert found.threshold == 2.5
    assert found.sounds == {"心": ["xin"], "兴": ["xing"], "行": ["hang", "xing"]}
    assert found.similar_sounds == {"xin": ["xing"], "xing": ["xin"]}
    assert found.shapes == ["晴睛"]
    assert found.classes.same > found.classes.same_sound > found.classes.similar_sound > found.classes.unrelated


def test_vocabulary_characters_are_its_single_han(tmp_path: Path) -> None:
    """Of a tokenizer's entries only whole Chinese characters take part."""
    file = tmp_path / "tokenizer.json"
    file.write_text(json.dumps({"model": {"vocab": {"好": 0, "##好": 1, "a": 2, "，": 3, "天气": 4, "天": 5}}}))

    assert vocabulary_characters(file) == ["天", "好"]
    assert "好" in vocabulary_characters(embedded.artifact().path("tokenizer.json"))
