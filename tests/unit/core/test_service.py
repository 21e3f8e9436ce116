"""One request, start to end: batches, duplicates, caches and faults."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from handler.adapters.memory_cache import MemoryCache
from handler.core.cache_chain import CacheChain
from handler.core.errors import (
    AnswerTooLargeError,
    InferenceError,
    MaskMissingError,
    MaskMisspeltError,
    TargetListsMismatchError,
    TextNotUnicodeError,
    TextTooLongError,
    TiankongError,
    TooManyMasksError,
)
from handler.core.service import Service
from handler.core.types import EncodedSegment, FailedText, FilledText, FloatArray, MaskedSequence
from tests.support import embedded
from tests.support.doubles import (
    FailingCache,
    FakeModel,
    PlantedCache,
    RecordingCache,
    descending,
)

TEXT = "天天[MASK]"
LENGTH = 5  # its tokens: [CLS], two characters, the blank, [SEP]
TEXTS = [f"{character}天[MASK]" for character in "今明后春夏秋冬大小多"]
SIZE = embedded.artifact().vocabulary_size
OFF = {"joint": "off"}


def fake_model() -> FakeModel:
    """Return a model whose scores fall with the id."""
    return FakeModel(descending(SIZE))


BAD: list[tuple[str, type[TiankongError]]] = [
    ("没有空", MaskMissingError),
    ("有____吗", MaskMisspeltError),
    ("\ud800[MASK]", TextNotUnicodeError),
    ("[MASK]" * 17, TooManyMasksError),
    ("[MASK]" + "天" * 10_000, TextTooLongError),
]


def test_fill_gives_each_bad_text_of_a_batch_its_own_error() -> None:
    """Bad texts of every kind stand in their places, and their neighbours are answered as if alone."""
    service = embedded.service()
    alone = [embedded.scores(embedded.fill(service, {"text": text}).results[0]) for text in TEXTS[:5]]
    mixed = [part for good, (bad, _) in zip(TEXTS, BAD, strict=False) for part in (good, bad)]

    results = embedded.fill(service, {"texts": mixed}).results

    assert alone == [embedded.scores(result) for result in results[::2]]
    for result, (text, kind) in zip(results[1::2], BAD, strict=True):
        assert isinstance(result, FailedText)
        assert (text, kind) == (result.text, type(result.error))


@pytest.mark.parametrize(("text", "kind"), BAD)
def test_fill_raises_the_error_of_a_single_text(text: str, kind: type[TiankongError]) -> None:
    """A request of one text fails as a whole."""
    with pytest.raises(kind):
        embedded.fill(embedded.service(), {"text": text})


def broken_on(character: str) -> FakeModel:
    """Return a model whose scores are no numbers wherever it reads this character."""
    [broken] = embedded.tokenizer().encode(character).ids

    def scores(sequence: MaskedSequence) -> FloatArray:
        logits = descending(SIZE)(sequence)
        return np.full_like(logits, np.nan) if broken in sequence.ids else logits

    return FakeModel(scores)


def test_fill_gives_a_text_on_which_the_model_fails_its_own_error() -> None:
    """A fault of the runtime on one text does not fail its neighbours, and is not cached."""
    cache = RecordingCache(MemoryCache(ttl_s=60))
    service = embedded.service(model=broken_on("明"), local=cache)

    results = embedded.fill(service, {"texts": TEXTS[:3]}).results

    assert [FilledText, FailedText, FilledText] == [type(result) for result in results]
    assert isinstance(results[1], FailedText)
    assert isinstance(results[1].error, InferenceError)
    assert [len(write) for write in cache.writes] == [2]


@pytest.mark.parametrize("payload", [{"text": TEXTS[1]}, {"texts": [TEXTS[1], "明[MASK]", "没有空"]}])
def test_fill_raises_when_the_model_answers_nothing_at_all(payload: dict[str, Any]) -> None:
    """Where no text got an answer from the runtime a retry may help, so the request fails as a whole."""
    with pytest.raises(InferenceError):
        embedded.fill(embedded.service(model=broken_on("明")), payload)


def test_fill_runs_duplicates_of_a_batch_once() -> None:
    """Texts that the model reads alike are one run, and each comes back in its own spelling."""
    model = fake_model()
    texts = ["天天[MASK]好", "天天【mask】好", "天 天[MASK]好", "天天[MASK]好", "天天[MASK]坏"]

    answer = embedded.fill(embedded.service(model=model), {"texts": texts, **OFF})

    assert (len(model.sequences), answer.passes) == (2, 2)
    assert texts == [result.text for result in answer.results]
    assert len({str(embedded.scores(result)) for result in answer.results[:4]}) == 1


def test_fill_marks_what_a_cache_gave_and_gives_it_unchanged() -> None:
    """The second answer says that it is cached, took no pass, and is the same to the digit."""
    service = embedded.service(local=MemoryCache(ttl_s=60))
    payload = {"text": "今天天气真[MASK]啊，我们[MASK]去吧。"}

    first, second = (embedded.fill(service, payload) for _ in range(2))

    assert (first.cache_hits, second.cache_hits) == (0, 1)
    assert second.passes == 0
    assert embedded.scores(first.results[0]) == embedded.scores(second.results[0])


def test_fill_gives_a_cached_answer_in_the_callers_own_words() -> None:
    """A cache keeps rankings, not strings: another spelling of the same text gets its own offsets and text."""
    service = embedded.service(local=MemoryCache(ttl_s=60))
    embedded.fill(service, {"text": "ABC 天天[MASK]"})

    answer = embedded.fill(service, {"text": "abc天天 【MASK】"})
    [result] = answer.results

    assert answer.cache_hits == 1
    assert isinstance(result, FilledText)
    assert (result.masks[0].mask.start, result.masks[0].mask.end) == (6, 12)
    assert all(candidate.text.startswith("abc天天 ") for candidate in result.masks[0].candidates)


def test_fill_gives_a_cached_target_in_the_callers_own_spelling() -> None:
    """Targets that are one token in two spellings share an entry, and each caller sees their own."""
    service = embedded.service(local=MemoryCache(ttl_s=60))
    embedded.fill(service, {"text": TEXT, "targets": ["a", "好"]})

    answer = embedded.fill(service, {"text": TEXT, "targets": ["好", "A"]})
    [result] = answer.results

    assert answer.cache_hits == 1
    assert isinstance(result, FilledText)
    assert {"A", "好"} == {candidate.token for candidate in result.masks[0].candidates}


def test_fill_answers_when_every_cache_fails() -> None:
    """Two caches that fail on reading and on writing are four faults and the same answer."""
    payload = {"text": TEXT}
    answer = embedded.fill(embedded.service(local=FailingCache(), shared=FailingCache(), admit_after=1), payload)

    assert answer.cache_faults == 4
    assert embedded.scores(embedded.fill(embedded.service(), payload).results[0]) == embedded.scores(answer.results[0])


@pytest.mark.parametrize("options", [{}, {"targets": ["好", "天"]}, {"top_k": 1}])
@pytest.mark.parametrize(
    "payload", ["", "null", "[[[[5,0.5,null]]],[]]", "[[[[5,0.5,0.5],[6,0.5,0.5]]],[]]", "[[[]],[]]", "[" * 9999]
)
def test_fill_computes_anew_when_a_cache_answers_with_something_else(payload: str, options: dict[str, Any]) -> None:
    """A payload of another text, of other targets or of nobody is a fault, and the answer the uncached one."""
    request = {"text": "今天[MASK]", **options}
    expected = embedded.fill(embedded.service(), request).results[0]

    answer = embedded.fill(embedded.service(shared=PlantedCache(payload)), request)

    if answer.cache_hits == 0:
        assert answer.cache_faults == 1
        assert embedded.scores(expected) == embedded.scores(answer.results[0])
    else:  # one candidate asked for, one planted, and it may stand there: nothing tells it from ours
        assert (payload, options) == ("[[[[5,0.5,null]]],[]]", {"top_k": 1})


@pytest.mark.parametrize(
    "limits", [{"max_masks": 1}, {"max_text_chars": 1}, {"max_tokens": 3}, {"max_passes": 1}, {"max_texts": 1}]
)
def test_warm_up_runs_under_every_limit_that_the_settings_allow(limits: dict[str, int]) -> None:
    """The first run is not a caller's text: no limit on those can keep the function from starting."""
    model = fake_model()
    embedded.service(model=model, limits=embedded.limits(**limits)).warm_up()

    assert model.sequences
    assert all(len(sequence.ids) <= limits.get("max_tokens", SIZE) for sequence in model.sequences)


def test_fill_asks_for_as_many_candidates_as_wanted() -> None:
    """Five without a word, all targets where there are some, and top_k where it is given."""
    service = embedded.service(model=fake_model())
    counts = [
        len(embedded.scores(embedded.fill(service, {"text": TEXT, **options}).results[0])[0])
        for options in (
            {},
            {"top_k": 1},
            {"top_k": 100},
            {"targets": list("天气真好吗我们")},
            {"targets": ["好"], "top_k": 9},
        )
    ]

    assert counts == [5, 1, 100, 7, 1]


def test_fill_refuses_texts_that_are_too_large_together_before_encoding_them() -> None:
    """Two million characters come back at least once: refused without a look at one of them."""

    class Untouched:
        """A tokenizer that must not be asked to encode."""

        vocabulary = embedded.tokenizer().vocabulary
        special = embedded.tokenizer().special
        special_ids = embedded.tokenizer().special_ids

        def encode(self, segment: str) -> EncodedSegment:
            """See handler.core.ports.Tokenizer."""
            raise AssertionError("a text was encoded")

    service = Service(
        tokenizer=Untouched(),
        model=fake_model(),
        identity=embedded.artifact().identity,
        limits=embedded.limits(),
        cache=CacheChain(local=None, shared=None, admit_after=1),
    )

    with pytest.raises(AnswerTooLargeError):
        embedded.fill(service, {"texts": ["[MASK]" + "天" * 9000] * 200, "top_k": 1})


def test_fill_names_a_text_that_is_too_long_however_long_it_is() -> None:
    """A single text above its own limit is told so, not that its answer would be large."""
    with pytest.raises(TextTooLongError):
        embedded.fill(embedded.service(), {"text": "[MASK]" + "天" * 2_000_000})


def test_fill_refuses_lists_of_targets_for_another_number_of_blanks() -> None:
    """One list a blank, or one for all."""
    with pytest.raises(TargetListsMismatchError) as caught:
        embedded.fill(embedded.service(), {"text": TEXT, "targets": [["好"], ["坏"]]})

    assert caught.value.facts == {"actual": 2, "expected": 1}
