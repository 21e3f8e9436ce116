"""Targets: each is used whole or reported with a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from handler.core import targets
from handler.core.errors import TargetListsMismatchError
from handler.core.types import TokenIds
from handler.core.vocabulary import Vocabulary
from tests.support import embedded, vocabularies

LETTER = embedded.tokenizer().encode("a").ids


def resolve(*wanted: str) -> tuple[dict[TokenIds, str], dict[str, str]]:
    """Resolve targets for one blank of the embedded vocabulary."""
    [found] = targets.resolve(wanted, 1, embedded.tokenizer(), embedded.vocabulary(), longest=5)
    return dict(found.spellings), {entry.target: entry.reason for entry in found.unusable}


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("天气真的很好", targets.TOO_LONG),
        ("𠮷", targets.NOT_IN_VOCABULARY),
        ("好𠮷", targets.NOT_IN_VOCABULARY),
        (" ", targets.NO_TEXT),
        ("\u3000\n", targets.NO_TEXT),
        ("\u200b", targets.NO_TEXT),
        ("\x00", targets.NO_TEXT),
        ("\u2028", targets.NO_TEXT),
    ],
)
def test_resolve_reports_what_the_model_cannot_score(target: str, reason: str) -> None:
    """A target is never cut to its first piece, never dropped in silence and never turned into [UNK]."""
    spellings, unusable = resolve("好", target)

    assert list(spellings.values()) == ["好"]
    assert {target: reason} == unusable


@pytest.mark.parametrize("target", ["天气", "好。", "天气真好呀"])
def test_resolve_takes_a_target_of_several_tokens_whole(target: str) -> None:
    """All its tokens, in their order, as the tokenizer has them, as many as fit the window."""
    spellings, unusable = resolve(target, "好")

    assert {embedded.tokenizer().encode(target).ids: target, embedded.tokenizer().encode("好").ids: "好"} == spellings
    assert unusable == {}


def test_resolve_keeps_order_and_spelling() -> None:
    """The ids come in the caller's order, with the caller's spelling, surrounding spaces included."""
    spellings, unusable = resolve("好", "A", " 天 ")

    assert list(spellings.values()) == ["好", "A", " 天 "]
    assert LETTER in spellings
    assert unusable == {}


def test_resolve_takes_a_target_sent_twice_once() -> None:
    """The same string again changes nothing."""
    assert resolve("好", "天") == resolve("好", "天", "好", "天", "天")


def test_resolve_reports_another_spelling_of_the_same_token() -> None:
    """Two spellings that the model reads as one token cannot both be ranked: the later one is named."""
    spellings, unusable = resolve("a", "A", "Ａ")

    assert spellings == {LETTER: "a"}
    assert unusable["A"] == targets.DUPLICATE


def test_resolve_gives_one_list_to_every_blank() -> None:
    """A list for all is the same list for each."""
    found = targets.resolve(("好", "天"), 3, embedded.tokenizer(), embedded.vocabulary(), longest=5)

    assert len(found) == 3
    assert all(found[0] == each for each in found)


def test_resolve_gives_each_blank_its_own_list() -> None:
    """Lists of different lengths go to the blanks in their order."""
    found = targets.resolve((("好",), ("天", "气")), 2, embedded.tokenizer(), embedded.vocabulary(), longest=5)

    assert [list(each.spellings.values()) for each in found] == [["好"], ["天", "气"]]


@pytest.mark.parametrize("masks", [1, 3])
def test_resolve_refuses_lists_for_another_number_of_blanks(masks: int) -> None:
    """Two lists do not fit one blank or three."""
    with pytest.raises(TargetListsMismatchError):
        targets.resolve((("好",), ("天",)), masks, embedded.tokenizer(), embedded.vocabulary(), longest=5)


def test_resolve_reports_a_token_that_is_never_offered(tmp_path: Path) -> None:
    """A vocabulary entry that is control by its spelling is no text, even as a target."""
    tokens = (*vocabularies.ENGLISH, "\ue000")
    tokenizer = vocabularies.load(tokens, tmp_path)
    vocabulary = Vocabulary(tokenizer.vocabulary, tokenizer.special_ids | {tokens.index("cat")})

    [found] = targets.resolve(("cat", "dog"), 1, tokenizer, vocabulary, longest=5)

    assert {(tokens.index("dog"),): "dog"} == found.spellings
    assert [(entry.target, entry.reason) for entry in found.unusable] == [("cat", targets.NOT_IN_VOCABULARY)]
