"""The figures of the language part, from numbers that can be counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from export.evaluation import language, prior_weight
from export.evaluation.correction import MOST_FALSE_ALARMS, Change, Pair, best_threshold, figures
from export.evaluation.prior_weight import Entries

PAIRS = [
    Pair(written="我很高心", right="我很高兴"),
    Pair(written="他来了", right="他来了"),
    Pair(written="天汽好", right="天气好"),
]
RIGHT = Change(start=3, end=4, token="兴", margin=5.0)
ALARM = Change(start=0, end=1, token="她", margin=2.0)
WRONG = Change(start=1, end=2, token="器", margin=3.0)


def test_figures_count_characters_and_sentences() -> None:
    """One right, one alarm, one changed into another wrong one: precision 1/3, recall 1/2, F1 2/5."""
    found = figures(PAIRS, [[RIGHT], [ALARM], [WRONG]], 0.0)

    assert (found.right_changes, found.wrong_changes, found.missed) == (1, 2, 1)
    assert found.character_f1 == pytest.approx(0.4)
    assert (found.sentences_mended.hits, found.sentences_mended.total, found.sentences_touched) == (1, 2, 3)
    assert found.sentence_f1 == pytest.approx(2 * 1 / (3 + 2))
    assert (found.false_alarms.hits, found.false_alarms.total) == (1, 1)


def test_a_threshold_lets_only_larger_margins_through() -> None:
    """At a margin's own value it is not made any more."""
    assert figures(PAIRS, [[RIGHT], [ALARM], [WRONG]], 3.0).sentences_touched == 1
    assert figures(PAIRS, [[RIGHT], [ALARM], [WRONG]], 5.0).sentences_touched == 0


def test_best_threshold_avoids_false_alarms() -> None:
    """The best F1 among the thresholds that touch few clean sentences; 2.0 silences the alarm and keeps the rest."""
    best = best_threshold(PAIRS, [[RIGHT], [ALARM], [WRONG]])

    assert best.false_alarms.hits <= MOST_FALSE_ALARMS
    assert 3.0 <= best.threshold < 5.0
    assert best.character_f1 == pytest.approx(2 / 3)


def entries(*rows: tuple[float, float], right: int | None) -> Entries:
    """Return entries with (log-probability, log-frequency) each."""
    values = np.asarray(rows, dtype=np.float32)
    return Entries(log_probabilities=values[:, 0], prior=values[:, 1], right=right)


def test_best_weight_balances_model_and_frequency() -> None:
    """One cloze needs a weight above 1, another one below 2, a third is lost: the smallest that serves both."""
    clozes = [
        entries((-2.0, 0.0), (-3.0, 1.0), right=1),
        entries((-1.0, 0.0), (-3.0, 1.0), right=0),
        entries((-1.0, 0.0), right=None),
    ]

    weight = prior_weight.best_weight(clozes)

    assert weight == 1.25
    assert (prior_weight.share_right(clozes, weight).hits, prior_weight.share_right(clozes, 0).hits) == (2, 1)
    assert prior_weight.share_right(clozes, prior_weight.BASELINE).hits == 1


def test_sentences_in_context_are_many_and_hold_their_idiom_once() -> None:
    """At least 60 sentences, each with another idiom of four characters that stands in it once."""
    sentences = language.in_context()

    assert len(sentences) >= 60
    assert len({idiom for _, idiom in sentences}) == len(sentences)
    assert all(len(idiom) == 4 and sentence.count(idiom) == 1 for sentence, idiom in sentences)


def test_cloze_shows_what_is_not_hidden() -> None:
    """The blanks stand where the characters were."""
    cloze = language.Cloze(before="不能", phrase="半途而废", after="。", hidden=(1, 3))

    assert cloze.text == "不能半[MASK]而[MASK]。"
    assert cloze.whole == "不能半途而废。"
