"""The lexicon: its file, and which entries agree with what is shown."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handler.core.lexicon import DEFAULT_PRIOR_WEIGHT, parse
from tests.support.language import TINY, TINY_HAN, lexicon_of, token_ids

WORDS = st.text("一二三龘", min_size=2, max_size=4)
CELLS = st.lists(st.none() | st.sampled_from("一二三龘，"), min_size=2, max_size=4)


def test_parse_reads_phrases_and_frequencies_below_a_comment() -> None:
    """Comment lines come first; each further line is a phrase and how often it was counted."""
    content = parse("# where from\n# licence\n守株待兔\t60\n画龙点睛\t0\n")

    assert content.phrases == ("守株待兔", "画龙点睛")
    assert content.frequencies.tolist() == [60, 0]


@pytest.mark.parametrize(
    "text",
    [
        *("", "\n", "# nothing else\n", "守株待兔\n", "守株待兔\t\n", "\t5\n", "守株待兔\t5\t6\n", "守株待兔 5\n"),
        *("守株待兔\t-5\n", "守株待兔\t5.5\n", "守株待兔\t五\n", "守株待兔\tnan\n", "守株待兔\t1,2\n"),
        *(
            "守株待兔\t5\n\n画龙点睛\t6\n",
            "守株待兔\t5\n# late\n",
            "守株待兔\t5\n画龙点睛\t\n",
            "一心一意\t1\n一心一意\t2\n",
        ),
    ],
)
def test_parse_refuses_another_form(text: str) -> None:
    """A damaged file is no lexicon, rather than a lexicon with holes."""
    with pytest.raises(ValueError, match="lexicon"):
        parse(text)


@pytest.mark.parametrize(
    ("comment", "weight"),
    [("", DEFAULT_PRIOR_WEIGHT), ("# prior weight: 1.5\n", 1.5), ("# where from\n# prior weight: 3\n# more\n", 3.0)],
)
def test_parse_reads_the_weight_of_frequencies(comment: str, weight: float) -> None:
    """A lexicon is tuned for its model, and says so in a comment."""
    assert parse(comment + "守株待兔\t60\n").prior_weight == weight


@given(st.lists(st.text(min_size=2, max_size=9), unique=True, min_size=1, max_size=12))
def test_may_join_grants_every_pair_of_every_entry(words: list[str]) -> None:
    """Characters of any plane: an entry that is ruled out would never be found."""
    lexicon = lexicon_of(dict.fromkeys(words, 1), TINY)

    assert all(lexicon.may_join(*pair) for word in words for pair in itertools.pairwise(word))


def test_may_join_denies_nearly_all_pairs_that_no_entry_has() -> None:
    """One guess in ten may be wrong for 92,000 pairs in a million places; for a hundred entries hardly any is."""
    han = [chr(0x4E00 + at) for at in range(400)]
    lexicon = lexicon_of({"".join(han[at : at + 4]): 1 for at in range(0, 400, 4)}, TINY)
    others = [(first, second) for first in han for second in han if ord(second) != ord(first) + 1]

    assert sum(lexicon.may_join(*pair) for pair in others) < 0.001 * len(others)


@given(st.lists(WORDS, unique=True, min_size=1, max_size=12), CELLS)
def test_matching_agrees_with_trying_every_entry(words: list[str], cells: list[str | None]) -> None:
    """An entry matches when every shown cell is its character and every blank one that the vocabulary has."""
    lexicon = lexicon_of(dict.fromkeys(words, 1), TINY)
    expected = [
        word
        for word in words
        if len(word) == len(cells)
        and all(cell == own if cell is not None else own in TINY for cell, own in zip(cells, word, strict=True))
    ]

    found = [
        "".join(chr(code) for code in shelf.codes[:, at])
        for shelf in lexicon.shelves
        if shelf.length == len(cells)
        for at in shelf.matching(cells)
    ]

    assert expected == found


def test_lexicon_knows_its_size_and_its_longest_entry() -> None:
    """Entries of all lengths count; an entry of unknown characters is kept, to be shown."""
    lexicon = lexicon_of({"一二": 1, "一二三": 2, "龘龘龘龘龘": 3}, TINY)

    assert (len(lexicon), lexicon.longest) == (3, 5)
    assert token_ids(TINY)["一"] in lexicon.shelves[0].ids
    assert set(TINY_HAN) <= set(TINY)
