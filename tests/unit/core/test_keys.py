"""Cache keys: equal keys mean equal answers, and whatever changes an answer changes the key."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from handler.core import keys
from handler.core.filling import Filling
from handler.core.requests import parse_native
from handler.core.types import MaskedSequence, Neighbour, PreparedText
from tests.support import embedded
from tests.support.doubles import FixedDeadline

PREPARED = embedded.preparer().prepare("天气[MASK]好[MASK]。")
BASE: dict[str, Any] = {"digest": "d", "text": PREPARED, "top_k": 5, "targets": None, "widened": [], "joint": None}

# Pieces that the model reads alike, or nearly: spacing, case, width, quotes, accents, spellings of a blank.
ALIKE = (
    ("天气", "天 气", "天\u3000气", "天\u200b气", "天\n气"),
    ("abc", "ABC", "Abc ", "ábc", "a\u0301bc", "abc\u200b", "abc，", "ab c"),
    ('"', "“", "”", "'", "‘"),
    ("-", "—", "–"),
    ("𠮷", "𪚥", "龘龘", "👨‍👩"),
    ("", " ", "\u200b", "\u0301"),
)
BLANKS = ("[MASK]", "【mask】", "<mask>", "[ MASK ]")


@st.composite
def alike_texts(draw: st.DrawFn) -> tuple[str, str]:
    """Draw two texts put together from the same pieces in different spellings."""
    first = second = ""
    for kind in draw(st.lists(st.sampled_from(ALIKE), min_size=1, max_size=3)):
        first += draw(st.sampled_from(kind))
        second += draw(st.sampled_from(kind))
        if draw(st.booleans()):
            first += draw(st.sampled_from(BLANKS))
            second += draw(st.sampled_from(BLANKS))
    return first + "[MASK]", second + draw(st.sampled_from(BLANKS))


OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "top_k": st.sampled_from([1, 3]),
        "targets": st.permutations(["好", "天", "的", "A", "天气", "不"]).map(lambda targets: targets[:4]),
    },
)


def test_equal_keys_mean_equal_uncached_answers() -> None:
    """Two requests that share a cache entry get exactly the same numbers without any cache."""
    service = embedded.service()
    filling = Filling(
        tokenizer=embedded.tokenizer(), vocabulary=service.vocabulary, lexicon=None, limits=service.limits, digest="d"
    )
    met = 0

    @given(alike_texts(), OPTIONS, OPTIONS)
    @settings(max_examples=300)
    def compare(texts: tuple[str, str], options: dict[str, Any], others: dict[str, Any]) -> None:
        nonlocal met
        requests = [
            parse_native({"text": text, **chosen}, service.limits)
            for text, chosen in zip(texts, (options, others), strict=True)
        ]
        first, second = (filling.job(request.texts[0], request).key for request in requests)
        if first != second:
            return
        event("equal keys")
        met += requests[0] != requests[1]
        answers = [service.answer(request, FixedDeadline()).results[0] for request in requests]

        assert embedded.scores(answers[0]) == embedded.scores(answers[1])

    compare()
    assert met > 10, "the texts are made so that keys meet"


def test_key_is_the_same_for_the_same_facts() -> None:
    """A key does not change from call to call or process to process: 64 digits of a digest."""
    key = keys.fill_mask_key(**BASE)

    assert key == keys.fill_mask_key(**BASE)
    assert len(bytes.fromhex(key)) == 32


def changed(**changes: Any) -> PreparedText:
    """Return the text with other facts."""
    return replace(PREPARED, **changes)


SEQUENCE = PREPARED.sequence


@pytest.mark.parametrize(
    "change",
    [
        {"digest": "e"},
        {"top_k": 6},
        {"targets": [[(1,), (2,)], [(1,), (2,)]]},
        {"targets": [[(12,)], [(1,), (2,)]]},
        {"targets": [[(1, 2)], [(1,), (2,)]]},
        {"widened": [PREPARED.sequence]},
        {"targets": [[], []]},
        {"joint": {"beam": 1}},
        {"joint": {}},
        {"text": changed(neighbours=(Neighbour.NONE, Neighbour.LATIN))},
        {"text": changed(neighbours=(Neighbour.OTHER, Neighbour.NONE))},
        {"text": changed(sequence=MaskedSequence(ids=(*SEQUENCE.ids, 7), mask_positions=SEQUENCE.mask_positions))},
        {"text": changed(sequence=MaskedSequence(ids=SEQUENCE.ids, mask_positions=SEQUENCE.mask_positions[:1]))},
    ],
)
def test_key_changes_with_every_fact_that_a_ranking_reads(change: dict[str, Any]) -> None:
    """Artifact, options, targets, neighbours, ids and positions each make another key."""
    assert keys.fill_mask_key(**BASE) != keys.fill_mask_key(**{**BASE, **change})


def test_key_changes_with_the_schema_of_payloads(monkeypatch: pytest.MonkeyPatch) -> None:
    """A version that writes payloads of another meaning does not read the old ones."""
    before = keys.fill_mask_key(**BASE)
    monkeypatch.setattr(keys, "PAYLOAD_SCHEMA", keys.PAYLOAD_SCHEMA + 1)

    assert before != keys.fill_mask_key(**BASE)


def test_keys_of_different_lists_never_run_together() -> None:
    """Where one list ends and the next begins is part of the key."""
    made = {
        keys.fill_mask_key(**{**BASE, "targets": targets})
        for targets in (
            [[(1, 2), (3,)]],
            [[(1,), (2, 3)]],
            [[(1,), (2,)], [(3,)]],
            [[(1,)], [(2,), (3,)]],
            [[(1, 23)]],
            [[(12, 3)]],
        )
    }

    assert len(made) == 6


@pytest.mark.parametrize(
    "change",
    [
        {"text": "另一个字符串"},
        {"truncated": True},
        {"unknown_characters": 3},
        {"masks": PREPARED.masks[::-1]},
    ],
)
def test_key_leaves_out_what_only_the_callers_string_tells(change: dict[str, Any]) -> None:
    """Spelling, offsets and counts are read from the request itself, so texts that the model reads alike share."""
    assert keys.fill_mask_key(**BASE) == keys.fill_mask_key(**{**BASE, "text": changed(**change)})
