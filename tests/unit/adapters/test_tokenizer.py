"""Token ids against transformers' BertTokenizer, on a file that tests/support/golden.py wrote."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer as RustTokenizer

from handler.adapters.tokenizer import WordPieceTokenizer
from handler.core.errors import ArtifactCorruptError
from handler.core.ports import SpecialIds
from tests.support import embedded, golden, vocabularies

LINES: list[dict[str, Any]] = [json.loads(line) for line in golden.FILE.read_bytes().splitlines()]
EQUAL = [line for line in LINES if "deviation" not in line]
DEVIATING = [line for line in LINES if "deviation" in line]


def ids_of(text: str) -> list[int]:
    """Encode a whole text as the service does, control tokens and blanks included."""
    if "[MASK]" in text:
        return list(embedded.preparer(max_tokens=10_000).prepare(text).sequence.ids)
    special = embedded.tokenizer().special
    return [special.cls, *embedded.tokenizer().encode(text).ids, special.sep]


def test_golden_file_holds_500_different_texts_of_every_kind() -> None:
    """The comparison is worth something: many texts, and the deviations are the small part."""
    texts = golden.texts()

    assert texts == [line["text"] for line in LINES]
    assert golden.COUNT == len(set(texts)) == 500
    assert len(EQUAL) > 440
    assert sum("[MASK]" in line["text"] for line in EQUAL) > 50


def test_ids_equal_those_of_the_reference() -> None:
    """Modern, classical, Latin, emoji, rare characters, accents, controls: the same ids as BertTokenizer's."""
    different = [line["text"] for line in EQUAL if line["ids"] != ids_of(line["text"])]

    assert different == []


def test_ids_deviate_from_the_reference_only_as_listed() -> None:
    """Curly quotes and dashes are read as plain ones and a typed [CLS] as text: listed, and real."""
    kinds = Counter(line["deviation"] for line in DEVIATING if line["ids"] != line["ours"])

    assert {golden.CHARACTER_MAP, golden.TYPED_SPECIAL} == set(kinds)
    assert [line["ours"] for line in DEVIATING] == [ids_of(line["text"]) for line in DEVIATING]


@given(st.lists(st.text(st.sampled_from("好天𠮷豈，。；？！的一 a2[—“é\u0301\u200d"), max_size=12), max_size=6))
def test_what_is_remembered_changes_nothing(segments: list[str]) -> None:
    """A stretch of characters seen before is looked up: ids and offsets stay those of the library."""
    library = RustTokenizer.from_file(str(embedded.artifact().path("tokenizer.json")))
    library.encode_special_tokens = True
    ours = WordPieceTokenizer(
        embedded.artifact().path("tokenizer.json"), embedded.artifact().special, embedded.artifact().vocabulary_size
    )

    for segment in [*segments, *segments]:
        encoded, expected = ours.encode(segment), library.encode(segment, add_special_tokens=False)
        assert (encoded.ids, encoded.offsets) == (tuple(expected.ids), tuple(expected.offsets))


def test_vocabulary_that_does_not_set_han_characters_apart_is_left_to_the_library(tmp_path: Path) -> None:
    """Where 的一 is one word, 的 and 一 seen alone say nothing about it."""
    tokens = [*vocabularies.CONTROL, "的", "一", "的一", "，"]
    path = vocabularies.write(tokens, tmp_path / "tokenizer.json")
    settings = json.loads(path.read_text(encoding="utf-8"))
    settings["normalizer"]["handle_chinese_chars"] = False
    path.write_text(json.dumps(settings), encoding="utf-8")
    tokenizer = WordPieceTokenizer(path, vocabularies.special_ids(tokens), len(tokens))

    seen = [tokenizer.encode(segment).ids for segment in ("的", "一", "的一")]

    assert seen == [(5,), (6,), (7,)]


def test_character_map_of_the_manifest_is_what_the_tokenizer_does() -> None:
    """Each mapped character is one token, that of the character it is mapped to, and keeps its own offsets."""
    for character, read_as in embedded.artifact().manifest["character_map"].items():
        encoded = embedded.tokenizer().encode(f"天{character}天")

        assert embedded.tokenizer().encode(f"天{read_as}天").ids == encoded.ids
        assert encoded.offsets[1] == (1, 2)


def test_upper_case_is_read_as_lower_case() -> None:
    """The vocabulary has no upper-case Latin, so case makes no difference to the ids."""
    assert embedded.tokenizer().encode("abc é").ids == embedded.tokenizer().encode("ABC É").ids


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_offsets_are_ordered_code_points_of_the_segment(segment: str) -> None:
    """Whatever the text, its tokens lie in it, in order, in code points."""
    encoded = embedded.tokenizer().encode(segment)
    starts = [start for start, _ in encoded.offsets]

    assert len(encoded.ids) == len(encoded.offsets)
    assert starts == sorted(starts)
    assert all(0 <= start < end <= len(segment) for start, end in encoded.offsets)


def test_encode_finds_no_control_in_text() -> None:
    """Typed control tokens, [MASK] included, never become control ids here."""
    typed = "".join(vocabularies.CONTROL)

    assert embedded.tokenizer().special_ids.isdisjoint(embedded.tokenizer().encode(typed).ids)


def test_encode_of_nothing_is_nothing() -> None:
    """Between two adjacent blanks there is no token."""
    assert embedded.tokenizer().encode("").ids == ()


def test_constructor_refuses_a_file_that_is_no_tokenizer(tmp_path: Path) -> None:
    """Garbage, and JSON that is something else, end as a corrupt artifact."""
    for content in (b"", b"\x00\xff", b"{}", b'{"model": {"type": "WordPiece"}}'):
        path = tmp_path / "tokenizer.json"
        path.write_bytes(content)

        with pytest.raises(ArtifactCorruptError):
            WordPieceTokenizer(path, SpecialIds(unk=1, cls=2, sep=3, mask=4), 10)


@pytest.mark.parametrize("difference", [-1, 1])
def test_constructor_refuses_a_vocabulary_of_another_size(tmp_path: Path, difference: int) -> None:
    """A tokenizer whose ids the head does not score belongs to another model."""
    tokens = vocabularies.ENGLISH
    path = vocabularies.write(tokens, tmp_path / "tokenizer.json")

    with pytest.raises(ArtifactCorruptError):
        WordPieceTokenizer(path, vocabularies.special_ids(tokens), len(tokens) + difference)


@pytest.mark.parametrize("name", ["unk", "cls", "sep", "mask"])
def test_constructor_refuses_special_ids_that_are_no_control_tokens(tmp_path: Path, name: str) -> None:
    """A manifest that calls a word a control token is of another vocabulary."""
    tokens = vocabularies.ENGLISH
    right = vocabularies.special_ids(tokens)
    ids = {field: getattr(right, field) for field in ("unk", "cls", "sep", "mask")}
    path = vocabularies.write(tokens, tmp_path / "tokenizer.json")

    with pytest.raises(ArtifactCorruptError):
        WordPieceTokenizer(path, SpecialIds(**{**ids, name: tokens.index("cat")}), len(tokens))
    with pytest.raises(ArtifactCorruptError):
        WordPieceTokenizer(path, SpecialIds(**{**ids, name: ids["cls" if name != "cls" else "sep"]}), len(tokens))


def test_constructor_accepts_control_ids_anywhere(tmp_path: Path) -> None:
    """Nothing assumes that [MASK] is 103, or that control tokens come first."""
    tokenizer = vocabularies.load(vocabularies.ENGLISH, tmp_path)

    assert tokenizer.vocabulary == vocabularies.ENGLISH
    assert {vocabularies.ENGLISH.index(token) for token in vocabularies.CONTROL} == tokenizer.special_ids
