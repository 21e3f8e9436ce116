"""The order of reading."""

from itertools import islice

import numpy as np

from export.train.mixture import Mixture, idiom_rows, occurrences, packed, quatrains, single_sentences
from export.train.tokenizer import Tokenizer, vocabulary

TOKENIZER = Tokenizer(vocabulary(["甲乙丙丁戊己庚辛壬癸"], min_count=1))


def rows_of(*texts: str) -> list[np.ndarray]:
    """Encoded texts."""
    return [TOKENIZER.encode(text) for text in texts]


def mixture() -> Mixture:
    """Two kinds of rows; batches of 64 tokens."""
    rows = {"poem": rows_of(*["甲乙丙丁"] * 7, "戊己庚辛壬癸甲乙"), "news": rows_of("甲甲甲甲", "乙乙乙乙")}
    made = Mixture(rows, seed=1, batch_tokens=64, shares={"poem": 0.5, "news": 0.5})
    made.quota = {"poem": 12, "news": 9}
    return made


def test_a_resumed_run_reads_what_an_unbroken_one_would_have_read() -> None:
    """Position alone decides."""
    unbroken = list(islice(mixture().from_position(0, 0), 8))
    round_number, index, _ = unbroken[4]
    resumed = list(islice(mixture().from_position(round_number, index), 4))
    for (*at, one), (*there, other) in zip(unbroken[4:], resumed, strict=True):
        assert at == there
        assert all(np.array_equal(a, b) for a, b in zip(one.rows, other.rows, strict=True))


def test_rows_fit_their_bucket_and_every_row_of_a_kind_is_read_equally_often() -> None:
    """Nine rows a round out of two: four or five times each."""
    made = mixture()
    for batch in made.round(0):
        assert all(len(row) + 2 <= batch.bucket for row in batch.rows)
    read = [row[0] for row in made._rows_of("news", 0)]
    assert sorted((read.count(number) for number in set(read)), reverse=True) == [5, 4]


def test_packing_loses_nothing_and_keeps_sentences_whole() -> None:
    """A sentence that does not fit starts the next row; one that never fits is cut."""
    rows = list(packed("甲乙。丙丁。戊己庚辛壬癸甲乙丙。", TOKENIZER, limit=7))
    assert ["".join(TOKENIZER.entries[n] for n in row) for row in rows] == ["甲乙。丙丁。", "戊己庚辛壬癸甲", "乙丙。"]


def test_single_sentences_are_of_middling_length() -> None:
    """Neither a bare cry nor a paragraph."""
    assert len(single_sentences(["甲。乙丙丁戊己。" + "甲" * 50 + "。"], TOKENIZER)) == 1


def test_quatrains_are_read_whole_and_by_couplet() -> None:
    """Longer poems are not."""
    assert len(quatrains(["甲乙丙丁戊，己庚辛壬癸。戊己庚辛壬，癸甲乙丙丁。", "甲。" * 20], TOKENIZER)) == 3


def test_common_idioms_come_more_often_and_unknown_characters_not_at_all() -> None:
    """An idiom with a character outside the vocabulary would teach nothing but [UNK]."""
    idioms = {"甲乙丙丁": 1, "戊己庚辛": 200, "壬癸甲乙": 90, "丙丁戊己": 20, "人山人海": 900}
    occurring = occurrences(idioms, ["戊己庚辛" * 6, "壬癸甲乙，甲"])
    assert occurring["戊己庚辛"] == 6
    rows = ["".join(TOKENIZER.entries[number] for number in row) for row in idiom_rows(idioms, occurring, TOKENIZER)]
    assert (rows.count("戊己庚辛"), rows.count("壬癸甲乙")) == (4, 1)
    assert "甲乙丙丁" not in rows
    assert {len(row) for row in rows} == {4, 5, 14}
    assert not any("海" in row for row in rows)
