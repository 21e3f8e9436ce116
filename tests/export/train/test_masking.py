"""Hidden entries."""

import numpy as np

from export.train.masking import IGNORE, Masker
from export.train.mixture import Batch
from export.train.tokenizer import Tokenizer, vocabulary

TOKENIZER = Tokenizer(vocabulary(["甲乙丙丁戊己庚辛壬癸"], min_count=1))
ROW = TOKENIZER.encode("甲乙丙丁戊己庚辛壬癸")


def test_hidden_entries_are_restored_by_their_labels_and_nothing_else_changes() -> None:
    """Special entries, padding and unknown characters are never hidden."""
    unknown = TOKENIZER.encode("龘甲龘")
    masked = Masker(TOKENIZER, (), 0.3).mask(Batch(16, [ROW, unknown]), np.random.default_rng(0))
    restored = masked.ids.copy()
    for row, (at, labels) in enumerate(zip(masked.at, masked.labels, strict=True)):
        used = labels != IGNORE
        assert (masked.ids[row, at[used]] == TOKENIZER.mask_id).all()
        restored[row, at[used]] = labels[used]
    assert restored[0].tolist()[:12] == [TOKENIZER.start_id, *ROW.tolist(), TOKENIZER.end_id]
    assert restored[1].tolist()[:5] == [TOKENIZER.start_id, *unknown.tolist(), TOKENIZER.end_id]
    assert (masked.ids == TOKENIZER.mask_id).sum() == (masked.labels != IGNORE).sum() == 4 + 1
    assert masked.real.sum() == 12 + 5


def test_every_row_hides_something() -> None:
    """Even one too short for its share."""
    masked = Masker(TOKENIZER, (), 0.01).mask(Batch(16, [ROW] * 20), np.random.default_rng(0))
    assert ((masked.labels != IGNORE).sum(1) == 1).all()


def test_idioms_are_hidden_more_often_than_chance() -> None:
    """About half of the places where one stands, one or two characters of it."""
    batch = Batch(16, [ROW] * 400)

    def share(*idioms: str) -> float:
        masked = Masker(TOKENIZER, idioms, 0.05).mask(batch, np.random.default_rng(0))
        inside = (masked.ids[:, 3:7] == TOKENIZER.mask_id).any(1)  # 丙丁戊己
        return float(inside.mean())

    assert share("丙丁戊己") > share() + 0.2


def test_the_same_generator_hides_the_same() -> None:
    """A step is a function of its number."""
    one, two = (Masker(TOKENIZER, (), 0.2).mask(Batch(16, [ROW] * 9), np.random.default_rng(5)) for _ in range(2))
    assert np.array_equal(one.ids, two.ids)
