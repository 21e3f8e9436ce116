"""The labelled sentences are what they say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from export.evaluation.check import faults
from export.evaluation.clozes import read_clozes
from export.evaluation.sentences import CALIBRATION, PUNCTUATED, TRIVIAL
from export.positions import masked_texts


def test_labelled_sentences_have_no_faults() -> None:
    """At least 300, even over the categories, none twice, one right character each."""
    clozes = read_clozes()

    assert len(clozes) >= 300
    assert list(faults(clozes)) == []


def test_faults_are_found() -> None:
    """The check bites: a repetition, an answer of two characters, a wrong character that is the right one."""
    clozes = list(read_clozes())
    clozes[1] = clozes[0]
    clozes[2] = replace(clozes[2], gold="待兔")
    clozes[-1] = replace(clozes[-1], wrong=clozes[-1].gold)

    found = "\n".join(faults(clozes))

    assert "twice: " in found
    assert "not one Han character" in found
    assert "the right one" in found


def test_lines_with_two_blanks_are_refused(tmp_path: Path) -> None:
    """One right character each."""
    path = tmp_path / "clozes.txt"
    path.write_text("[idioms]\n守{株}待{兔}\n", encoding="utf-8")

    with pytest.raises(ValueError, match=r"clozes\.txt:2 must have one blank"):
        read_clozes(path)


def test_other_sentences_are_not_among_the_labelled() -> None:
    """What calibrates or decides must not be what is measured on."""
    labelled = {cloze.sentence for cloze in read_clozes()}
    trivial = {text.replace("[MASK]", right) for text, answers in TRIVIAL for right in answers}

    assert len(TRIVIAL) == 20
    assert not labelled & ({*CALIBRATION, *PUNCTUATED} | trivial)


@pytest.mark.parametrize(("wanted", "masks"), [(3000, 1), (300, 3)])
def test_masked_texts_give_the_positions_wanted(wanted: int, masks: int) -> None:
    """As many blanks as asked for, no text twice, and always the same ones."""
    texts = masked_texts(read_clozes(), wanted, masks=masks)

    assert sum(masked.text.count("[MASK]") for masked in texts) == wanted
    assert len({masked.text for masked in texts}) == len(texts)
    assert all(len(masked.golds) == masks for masked in texts)
    assert texts == masked_texts(read_clozes(), wanted, masks=masks)
    assert max(len(masked.text.replace("[MASK]", "字")) for masked in texts) <= 100


def test_masked_texts_know_what_stood_in_their_blanks() -> None:
    """Filled again, in order, they are the sentences that they came from."""
    clozes = read_clozes()
    everything = "".join(cloze.sentence for cloze in clozes)

    for masked in masked_texts(clozes, 300, masks=2):
        filled = masked.text
        for gold in masked.golds:
            filled = filled.replace("[MASK]", gold, 1)
        assert filled in everything
