"""The vocabulary."""

from pathlib import Path

from export.train.tokenizer import MASK, SPECIAL, Tokenizer, vocabulary


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
