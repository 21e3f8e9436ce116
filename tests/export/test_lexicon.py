"""The lexicon's build: what enters it, and a file that the service reads."""

from __future__ import annotations

from export.lexicon import entries, written
from handler.core.lexicon import parse

COUNTED = [
    ("画龙点睛", 80, "i"),
    ("一心一意", 300, "i"),
    ("高高兴兴", 90, "z"),
    ("不三", 5, "i"),
    ("守株待兔", 60, "n"),
]


def test_entries_are_known_idioms_and_what_is_tagged_as_one() -> None:
    """Both sources add up; the count comes from the dictionary, and is 1 where it has none."""
    found = entries(["守株待兔", "亡羊补牢"], COUNTED, [])

    assert found == {"守株待兔": 60, "亡羊补牢": 1, "画龙点睛": 80, "一心一意": 300}


def test_entries_are_han_characters_of_an_idioms_length() -> None:
    """Nothing of three or nine characters, nothing with a mark or a letter in it."""
    assert entries(["过犹不", "既来之，则安之", "abcd", "一二三四五六七八九"], [], []) == {}


def test_lines_of_verse_are_those_of_five_and_seven() -> None:
    """A poem is cut at its marks; a line that is also an idiom keeps the idiom's count."""
    poem = "床前明月光，疑是地上霜。三五七言。两个黄鹂鸣翠柳，一心一意"

    found = entries(["一心一意"], COUNTED, [poem])

    assert found == {"床前明月光": 1, "疑是地上霜": 1, "两个黄鹂鸣翠柳": 1, "画龙点睛": 80, "一心一意": 300}


def test_written_file_is_read_back_by_the_service() -> None:
    """The same phrases in any order give the same bytes, and the service reads phrases, counts and weight from them."""
    phrases = {"守株待兔": 60, "画龙点睛": 80}

    text = written(phrases, prior_weight=1.25)
    content = parse(text)

    assert text == written(dict(reversed(phrases.items())), prior_weight=1.25)
    assert dict(zip(content.phrases, content.frequencies.tolist(), strict=True)) == phrases
    assert content.prior_weight == 1.25
    assert "MIT License" in text
