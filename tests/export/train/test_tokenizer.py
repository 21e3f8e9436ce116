"""The vocabulary."""

from pathlib import Path

import tokenizers

from export.train.tokenizer import MASK, SPECIAL, Tokenizer, save_for_transformers, vocabulary


def test_vocabulary_is_ordered_by_frequency_after_the_fixed_entries() -> None:
    """Ties are broken by code point, so the same text gives the same numbers."""
    entries = vocabulary(["人人人山海海Ａ"], min_count=1)
    assert entries[:5] == list(SPECIAL)
    assert entries[-3:] == ["人", "海", "山"]
    assert len(set(entries)) == len(entries)
    assert "人" not in vocabulary(["人"], min_count=2)


def test_encoding_follows_bert(tmp_path: Path) -> None:
    """Characters one by one, Latin in pieces, the mask as such, the rest unknown; a saved vocabulary is the same."""
    tokenizer = Tokenizer(vocabulary(["天气好"], min_count=1))
    tokenizer.save(tmp_path / "vocab.txt")
    again = Tokenizer.load(tmp_path / "vocab.txt")
    numbers = again.encode(f"天{MASK}“Ok1”龘")
    assert [again.entries[n] for n in numbers] == ["天", MASK, '"', "o", "##k", "##1", '"', "[UNK]"]
    assert again.mask_id == tokenizer.mask_id


def test_the_saved_pipeline_cuts_as_training_did_and_keeps_offsets(tmp_path: Path) -> None:
    """Curly quotes and dashes as typed become the plain marks that the model knows."""
    tokenizer = Tokenizer(vocabulary(["他说好"], min_count=1))
    save_for_transformers(tokenizer, tmp_path, 128)
    text = "他说“好”——Ok，‘龘’"
    encoding = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json")).encode(text, add_special_tokens=False)
    assert encoding.ids == tokenizer.encode(text).tolist()
    assert encoding.offsets == [(at, at + 1) for at in range(len(text))]
