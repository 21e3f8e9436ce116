"""Correction against a plain reference in float64; what is never touched; passes; payloads."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handler.core.correcting import Correcting
from handler.core.correction import STRIDE, SUGGESTIONS, Corrector, passes_needed
from handler.core.errors import CacheRecordInvalidError, OperationUnavailableError, PassBudgetError
from handler.core.requests import parse_correct
from handler.core.sentences import parts_of
from handler.core.types import CorrectedText, FloatArray, MaskedSequence
from handler.core.vocabulary import is_han
from tests.support import embedded
from tests.support.doubles import FakeModel
from tests.support.language import (
    ERRORS,
    LIMITS,
    TINY,
    TINY_HAN,
    errors_of,
    plain_log_softmax,
    scattered,
    tiny_tokenizer,
    tiny_vocabulary,
    token_ids,
)

IDS = token_ids(TINY)
SOUNDS = {"一": "yi", "意": "yi", "二": "er", "四": "si", "的": "de di", "地": "de di"}
CHANGES = {"sounds": SOUNDS, "similar_sounds": {"yi": "si", "si": "yi"}, "shapes": ["马兔"]}
TEXTS = st.text("一二三四心意马兔的地a，龘 。", max_size=30)


def corrector() -> Corrector:
    """Return one of the tiny world."""
    return Corrector(tiny_tokenizer(), tiny_vocabulary(), errors_of(TINY, **CHANGES))


def correcting() -> Correcting:
    """Return the operation on the tiny world."""
    return Correcting(
        tokenizer=tiny_tokenizer(),
        vocabulary=tiny_vocabulary(),
        errors=errors_of(TINY, **CHANGES),
        limits=LIMITS,
        digest="d",
    )


def corrected(text: str, model: FakeModel, *, particles: bool = False) -> CorrectedText:
    """Correct a text of the tiny world."""
    operation = correcting()
    job = operation.job(text, parse_correct({"text": text, "particles": particles}, LIMITS))
    value, _ = operation.compute(job, model)
    assert operation.load(operation.dump(value), job) == value
    return operation.compose(job, value, cached=False)


def plain_suggestions(text: str, model: FakeModel, *, particles: bool) -> list[tuple[int, list[tuple[str, float]]]]:
    """Return (offset, suggestions) of what is likely wrong, character by character."""
    found = []
    errors = errors_of(TINY, **CHANGES)
    for part in parts_of(text, tiny_tokenizer(), LIMITS.max_tokens - 2):
        for at, token_id in enumerate(part.ids):
            written = TINY[token_id]
            if written not in TINY_HAN:
                continue
            # Its own pass, in which every seventh token before and after it is hidden as well, if it is a character.
            hidden = [other for other in range(at % STRIDE, len(part.ids), STRIDE) if TINY[part.ids[other]] in TINY_HAN]
            ids = [IDS["[MASK]"] if other in hidden else own for other, own in enumerate(part.ids)]
            sequence = MaskedSequence(ids=(IDS["[CLS]"], *ids, IDS["[SEP]"]), mask_positions=(at + 1,))
            row = plain_log_softmax(FakeModel(model._scores).logits([sequence])[0])[0]
            table = errors.log_probabilities(written, token_id)
            totals = {right: float(row[IDS[right]] + table[IDS[right]]) for right in TINY_HAN}
            if written in "的地" and not particles:
                totals.pop("的" if written == "地" else "地")
            margins = {right: total - totals[written] for right, total in totals.items() if right != written}
            best = sorted(margins, key=lambda right: -margins[right])[:SUGGESTIONS]
            if margins[best[0]] > ERRORS["threshold"]:
                found.append((part.offsets[at][0], [(right, margins[right]) for right in best if margins[right] > 0]))
    return found


@settings(max_examples=60)
@given(TEXTS, st.integers(0, 99), st.booleans())
def test_correction_agrees_with_the_plain_method(text: str, seed: int, particles: bool) -> None:
    """Places, suggestions, their order and their margins are those of the method done slowly."""
    model = scattered(5.0, seed)
    expected = plain_suggestions(text, model, particles=particles)

    found = corrected(text, model, particles=particles).corrections

    assert [place for place, _ in expected] == [each.start for each in found]
    for (_, suggestions), each in zip(expected, found, strict=True):
        assert [token for token, _ in suggestions] == [own.token for own in each.suggestions]
        assert [own.margin for own in each.suggestions] == pytest.approx(
            [m for _, m in suggestions], rel=1e-3, abs=1e-3
        )


@settings(max_examples=60)
@given(TEXTS, st.integers(0, 99))
def test_corrected_text_differs_only_where_a_correction_says(text: str, seed: int) -> None:
    """Lengths never change, offsets are the caller's own, and nothing but known Chinese characters is touched."""
    result = corrected(text, scattered(6.0, seed))
    best = {each.start: each.suggestions[0].token for each in result.corrections}

    assert len(result.corrected) == len(text)
    assert result.corrected == "".join(best.get(at, character) for at, character in enumerate(text))
    for each in result.corrections:
        assert (text[each.start : each.end], each.end - each.start) == (each.original, 1)
        assert each.original in TINY_HAN
        assert all(is_han(own.token) and own.token != each.original for own in each.suggestions)


def wishing(character: str) -> FakeModel:
    """Return a model that wants one character everywhere."""

    def scores(sequence: MaskedSequence) -> FloatArray:
        rows = np.zeros((len(sequence.mask_positions), len(TINY)), dtype=np.float32)
        rows[:, IDS[character]] = 30.0
        return rows

    return FakeModel(scores)


def test_an_unrelated_character_is_unlikely_but_not_impossible() -> None:
    """The error model is no filter: where the model is sure enough, a character of another class is suggested."""
    assert corrected("一二", wishing("心")).corrected == "心心"


@pytest.mark.parametrize(("particles", "expected"), [(False, "马的的"), (True, "马地地")])
def test_particles_are_corrected_into_each_other_on_request(particles: bool, expected: str) -> None:
    """的, 地 and 得 are written for each other by habit: left alone unless asked for; other mistakes are not."""
    model = wishing("地")
    text = "马的的"

    result = corrected(text, model, particles=particles)

    assert result.corrected[1:] == expected[1:]
    assert corrected("的的", wishing("马")).corrected == "马马"


@pytest.mark.parametrize(
    ("text", "passes"),
    [("", 0), ("a，a", 0), ("龘龘", 0), ("一", 1), ("一二三", 3), ("一" * 7, 7), ("一" * 30, 7), ("一" * 31, 8)],
)
def test_correction_takes_seven_passes_for_a_part(text: str, passes: int) -> None:
    """Seven for a part of any length, fewer where there is nothing to look at; 30 tokens are a part here."""
    model = scattered(1.0)
    parts = parts_of(text, tiny_tokenizer(), LIMITS.max_tokens - 2)

    _, spent = corrector().find(parts, model, particles=False)

    assert (spent, len(model.sequences)) == (passes, passes)
    assert spent <= passes_needed(parts)


def test_a_text_beyond_the_budget_is_refused_before_any_work() -> None:
    """128 passes are 18 parts; a longer text says so."""
    sentence = "一" * 29 + "。"
    operation, request = correcting(), parse_correct({"text": "一"}, LIMITS)
    assert len(operation.job(sentence * 6, request).parts) == 6

    tight = Correcting(
        tokenizer=tiny_tokenizer(),
        vocabulary=tiny_vocabulary(),
        errors=errors_of(TINY),
        limits=embedded.limits(max_tokens=32, max_passes=41),
        digest="d",
    )
    with pytest.raises(PassBudgetError):
        tight.job(sentence * 6, request)


def test_without_an_error_model_the_operation_says_so() -> None:
    """A model packaged without one answers with an error of its own, not with silence."""
    operation = Correcting(
        tokenizer=tiny_tokenizer(), vocabulary=tiny_vocabulary(), errors=None, limits=LIMITS, digest="d"
    )

    with pytest.raises(OperationUnavailableError):
        operation.job("一", parse_correct({"text": "一"}, LIMITS))


GOOD = [0, 1, [[IDS["心"], 2.5]]]


@pytest.mark.parametrize(
    "payload",
    [
        *("", "null", "5", "{}" + "}", '"ab"', "[1]", "[[]]", json.dumps([[0, 1]]), "[" * 100_000),
        *(json.dumps([[1, 1, GOOD[2]]]), json.dumps([[0, 3, GOOD[2]]]), json.dumps([[0, -1, GOOD[2]]])),
        *(json.dumps([[0, True, GOOD[2]]]), json.dumps([[0, 1, []]]), json.dumps([[0, 1, [[1, 2.0]] * 4]])),
        *(
            json.dumps([[0, 1, [[len(TINY), 2.0]]]]),
            json.dumps([[0, 1, [["心", 2.0]]]]),
            json.dumps([[0, 1, [[6, 2]]]]),
        ),
        *(json.dumps([[0, 1, [[6, -2.0]]]]), json.dumps([[0, 1, [[6, float("nan")]]]]), "[[0,1,[[6,Infinity]]]]"),
        json.dumps([GOOD, [0, 0, GOOD[2]]]),  # not in the order of the text
        json.dumps([GOOD, GOOD]),  # the same place twice
    ],
)
def test_load_refuses_what_was_not_written(payload: str) -> None:
    """Whatever else lies in a table is as good as nothing."""
    operation = correcting()
    job = operation.job("一二三", parse_correct({"text": "一二三"}, LIMITS))
    assert operation.load(json.dumps([GOOD]), job)[0].position == 1

    with pytest.raises(CacheRecordInvalidError):
        operation.load(payload, job)


def test_key_changes_with_whatever_changes_the_answer() -> None:
    """The tokens, where a part ends and the option enter the key; the spelling of an unknown character does not."""
    operation = correcting()

    def key(text: str, *, particles: bool = False) -> str:
        return operation.job(text, parse_correct({"text": text, "particles": particles}, LIMITS)).key

    assert len({key("一二"), key("二一"), key("一二", particles=True), key("一" * 31), key("一" * 30 + "。一")}) == 5
    assert key("一龘") == key("一 㐂")
