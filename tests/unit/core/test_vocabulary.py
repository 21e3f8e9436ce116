"""What may be offered of a vocabulary, worked out from the spelling of its entries."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import numpy as np
import pytest

from handler.core import ranking
from handler.core.text import TextPreparer, splice
from handler.core.types import Neighbour
from handler.core.vocabulary import Vocabulary
from tests.support import embedded, vocabularies


@pytest.fixture(scope="module")
def standard() -> tuple[list[str], Vocabulary]:
    """A list built like the standard Chinese vocabulary, of which the tokenizer flags five entries."""
    tokens = vocabularies.standard_like()
    return tokens, Vocabulary(tokens, frozenset(map(tokens.index, vocabularies.CONTROL)))


def offered(tokens: list[str], vocabulary: Vocabulary, neighbour: Neighbour) -> set[str]:
    """Return the entries that may stand to the right of such a neighbour."""
    return {tokens[token_id] for token_id in np.flatnonzero(vocabulary.allowed(neighbour))}


def test_allowed_leaves_out_control_separators_and_pieces_of_a_standard_vocabulary(
    standard: tuple[list[str], Vocabulary],
) -> None:
    """Where no word goes on, exactly the 5 + 99 + 2 control entries, U+2028 and all ## pieces are left out."""
    tokens, vocabulary = standard
    words = {token for token in tokens if not token.startswith("##")}
    control = {token for token in words if token[0] in "[<" and len(token) > 1}

    assert len(control) == 5 + 99 + 2
    assert words - control - {"\u2028"} == offered(tokens, vocabulary, Neighbour.NONE)


def test_allowed_adds_latin_pieces_after_a_latin_neighbour_only(standard: tuple[list[str], Vocabulary]) -> None:
    """A third of the standard vocabulary, the ## pieces of Han characters, is never offered at all."""
    tokens, vocabulary = standard
    latin = {token for token in tokens if token.startswith("##p")}
    word = offered(tokens, vocabulary, Neighbour.NONE)

    assert latin == offered(tokens, vocabulary, Neighbour.LATIN) - word
    assert set() == offered(tokens, vocabulary, Neighbour.OTHER) - word


@pytest.mark.parametrize(
    ("piece", "after"),
    [
        ("##ing", Neighbour.LATIN),
        ("##2b", Neighbour.LATIN),
        ("##é", Neighbour.LATIN),
        ("##ｋｇ", Neighbour.LATIN),
        ("##かな", Neighbour.OTHER),
        ("##ж", Neighbour.OTHER),
    ],
)
def test_allowed_offers_a_piece_only_after_letters_of_its_kind(piece: str, after: Neighbour) -> None:
    """A word goes on in the script in which it began."""
    vocabulary = Vocabulary([piece], frozenset())

    assert [after] == [neighbour for neighbour in Neighbour if vocabulary.allowed(neighbour)[0]]
    assert [after] == [neighbour for neighbour in Neighbour if vocabulary.bans(neighbour)[0] == 0]
    assert {0.0, -np.inf} == {float(vocabulary.bans(neighbour)[0]) for neighbour in Neighbour}


@pytest.mark.parametrize(
    "token",
    [
        *("[PAD]", "[unused1]", "[unused99]", "<S>", "<T>", "<mask>", "\u2028", "##\u2028", "", " ", "\u3000", "\x00"),
        *("\u200b", "\ufeff", "##国", "##𠮷", "##。", "##!", "##国a", "##aЖ", "##\u0301"),
    ],
)
def test_is_offerable_denies_what_no_text_can_show(token: str) -> None:
    """Control entries, separators, invisible characters and pieces that input never produces are offered nowhere."""
    assert not Vocabulary([token], frozenset()).is_offerable(0)


@pytest.mark.parametrize("token", ["国", "，", "[", "<", "##", "#", "a", "1", "😂", "·", "…", "一下"])
def test_is_offerable_grants_what_a_text_can_show(token: str) -> None:
    """Everything else is offered, punctuation and a lone bracket included."""
    assert Vocabulary([token], frozenset()).is_offerable(0)


def test_is_offerable_denies_what_the_tokenizer_counts_as_control() -> None:
    """A control token by any other name is control."""
    assert not Vocabulary(["好"], frozenset({0})).is_offerable(0)


def test_allowed_of_the_embedded_vocabulary_is_visible_text() -> None:
    """Nothing that the shipped model may offer is control, invisible or a Han piece."""
    vocabulary = embedded.vocabulary()
    for neighbour in Neighbour:
        for token_id in np.flatnonzero(vocabulary.allowed(neighbour)):
            surface = vocabulary.surface(int(token_id))

            assert token_id not in embedded.tokenizer().special_ids
            assert all(unicodedata.category(character)[0] not in "ZC" for character in surface)
            assert not vocabulary.continues(int(token_id)) or surface.isascii()


@pytest.mark.parametrize(
    ("token", "surface", "continues"),
    [("##ing", "ing", True), ("##", "##", False), ("#", "#", False), ("好", "好", False)],
)
def test_surface_drops_the_mark_of_a_piece(token: str, surface: str, continues: bool) -> None:
    """A piece appears in a text without its mark; the mark on its own is text."""
    vocabulary = Vocabulary([token], frozenset())

    assert (surface, continues, token) == (vocabulary.surface(0), vocabulary.continues(0), vocabulary.piece(0))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The cat play[MASK] on the mat.", ["playing", "played", "plays"]),
        ("The [MASK] sat on the mat.", ["The the sat", "The cat sat", "The dog sat"]),
        ("[MASK] cat sat.", ["the cat", "cat cat", "dog cat"]),
    ],
)
def test_an_english_vocabulary_is_prepared_ranked_and_spliced_by_the_same_rules(
    tmp_path: Path, text: str, expected: list[str]
) -> None:
    """A WordPiece vocabulary of English, its control ids in the middle, needs no special case."""
    tokens = vocabularies.ENGLISH
    tokenizer = vocabularies.load(tokens, tmp_path)
    vocabulary = Vocabulary(tokenizer.vocabulary, tokenizer.special_ids)
    prepared = TextPreparer(tokenizer, vocabulary, embedded.limits()).prepare(text)
    wanted = [*vocabularies.CONTROL, "##.", "##ing", "##ed", "##s", "the", "cat", "dog"]  # the model's order
    logits = np.array(
        [-wanted.index(token) if token in wanted else -99 for token in tokens], dtype=np.float32
    )  # (vocab,)

    best = ranking.best(logits, vocabulary.bans(prepared.neighbours[0]), 3)
    filled = [splice(text, prepared.masks[0], vocabulary.surface(entry.token_ids[0])) for entry in best]

    assert tokens.index("[MASK]") == prepared.sequence.ids[prepared.sequence.mask_positions[0]]
    assert tokens.index("[UNK]") not in prepared.sequence.ids
    assert all(part in whole for part, whole in zip(expected, filled, strict=True))
