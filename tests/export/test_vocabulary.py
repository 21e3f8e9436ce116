"""Vocabularies of checkpoints and the tokenizer.json made of them."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

from export.architecture import Architecture
from export.errors import TokenizerError
from export.evaluation.clozes import read_clozes
from export.vocabulary import Vocabulary, read_vocabulary
from tests.export.checkpoints import chinese_vocabulary, english_vocabulary


def write_vocabulary(folder: Path, tokens: tuple[str, ...], **options: object) -> Vocabulary:
    """Write vocab.txt and tokenizer_config.json, and read them as the pipeline does."""
    (folder / "vocab.txt").write_text("\n".join(tokens) + "\n", encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps(options), encoding="utf-8")
    return read_vocabulary(folder, architecture(len(tokens)))


def architecture(entries: int) -> Architecture:
    """A network that scores so many entries."""
    return Architecture(
        family="bert",
        layers=1,
        hidden=16,
        heads=2,
        intermediate=16,
        embedding=16,
        vocab_size=entries,
        max_positions=16,
        type_vocab_size=2,
        layer_norm_epsilon=1e-12,
        activation="gelu",
    )


def test_vocabulary_without_capitals_is_lowercased_whatever_its_options_say(tmp_path: Path) -> None:
    """The published options of bert-base-chinese would make every capital [UNK]."""
    vocabulary = write_vocabulary(tmp_path, chinese_vocabulary(), do_lower_case=False)

    tokens = vocabulary.tokenizer({}).encode("ABC").tokens

    assert tokens == ["[CLS]", "a", "##b", "##c", "[SEP]"]


@pytest.mark.parametrize(
    ("options", "first"), [({"do_lower_case": False}, "P"), ({"do_lower_case": True}, "p"), ({}, "P")]
)
def test_vocabulary_with_capitals_keeps_them_unless_told(tmp_path: Path, options: dict[str, bool], first: str) -> None:
    """A cased English vocabulary."""
    vocabulary = write_vocabulary(tmp_path, english_vocabulary(), **options)

    assert vocabulary.tokenizer({}).encode("P").tokens[1] == first


def test_vocabulary_splits_at_line_feeds_only(tmp_path: Path) -> None:
    """The standard vocabulary holds U+2028 twice; splitlines would shift every later id."""
    tokens = chinese_vocabulary()

    vocabulary = write_vocabulary(tmp_path, tokens)

    assert vocabulary.tokens == tokens
    assert vocabulary.tokenizer({}).token_to_id("\u2028") == tokens.index("\u2028")


def test_vocabulary_of_tokenizer_json_is_the_same(tmp_path: Path) -> None:
    """Checkpoints saved by a fast tokenizer have no vocab.txt."""
    vocabulary = write_vocabulary(tmp_path, chinese_vocabulary())
    text = vocabulary.tokenizer_json({})
    (tmp_path / "vocab.txt").unlink()
    (tmp_path / "tokenizer.json").write_text(text, encoding="utf-8")

    again = read_vocabulary(tmp_path, architecture(len(vocabulary.tokens)))

    assert again == vocabulary


def test_vocabulary_with_an_entry_twice_is_refused(tmp_path: Path) -> None:
    """Two ids for one token: the later would win."""
    with pytest.raises(TokenizerError, match="twice"):
        write_vocabulary(tmp_path, (*chinese_vocabulary(), "的"))


def test_character_map_keeps_offsets(tmp_path: Path) -> None:
    """One character for one: the model reads plain quotes, the caller's string keeps its own."""
    vocabulary = write_vocabulary(tmp_path, chinese_vocabulary())
    mapping = {"“": '"', "”": '"', "—": "-"}

    encoding = vocabulary.tokenizer(mapping).encode("“好”—是")

    assert encoding.tokens == ["[CLS]", '"', "好", '"', "-", "是", "[SEP]"]
    assert encoding.offsets[1:-1] == [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]


@pytest.mark.torch
def test_ids_equal_those_of_transformers(tmp_path: Path) -> None:
    """On all our sentences and on what usually goes wrong: Latin words, digits, rare characters, emoji, odd spaces."""
    pytest.importorskip("transformers", reason="the export extra is not installed: ids are not compared")
    transformers = importlib.import_module("transformers")
    vocabulary = write_vocabulary(tmp_path, chinese_vocabulary(), do_lower_case=True)
    theirs = transformers.BertTokenizer(
        vocab={token: token_id for token_id, token in enumerate(vocabulary.tokens)}, do_lower_case=True
    )
    ours = vocabulary.tokenizer({})
    texts = [cloze.text for cloze in read_clozes()]
    texts += ["iPhone 15真Café", "𠮷野家👍🔥", "今天\u3000天气\u200b好\r\n吗", "a" * 120, "", "（好）……“好”"]

    assert [ours.encode(text).ids for text in texts] == [theirs(text)["input_ids"] for text in texts]
