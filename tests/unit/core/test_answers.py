"""Answers as JSON, and the bound on their size that is held before any work."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handler.core import answers
from handler.core.errors import AnswerTooLargeError, MaskMissingError
from handler.core.requests import FillMaskRequest, parse_hugging_face, parse_native, parse_predict
from handler.core.types import FilledText
from tests.support import embedded
from tests.support.doubles import FakeModel, FixedDeadline, descending

MODEL = FakeModel(descending(embedded.artifact().vocabulary_size))
WORST = '"\\\x00\x1f\n\x7f\u2028👍𠮷é天a '
TEXT = st.text(st.one_of(st.sampled_from(WORST), st.characters(exclude_characters="[［【<")), max_size=40)
PARTS = st.lists(TEXT, min_size=1, max_size=4)
TARGET = st.text(st.sampled_from('天地人a"\\👍é'), min_size=1, max_size=6)
OPTIONS = st.fixed_dictionaries(
    {}, optional={"top_k": st.integers(1, 100), "targets": st.lists(TARGET, min_size=1, max_size=8)}
)
REQUEST_ID = st.text(st.sampled_from('𠮷"\\a'), min_size=128, max_size=128)


def rendered_bytes(request: FillMaskRequest, request_id: str) -> int:
    """Return the length of an answer as JSON inside JSON, all but ASCII escaped: what leaves the function."""
    answer = embedded.service(model=MODEL).answer(request, FixedDeadline())
    body = json.dumps(answers.render(answer, request, request_id), ensure_ascii=False)
    return len(json.dumps(body).encode())


def assert_bound_holds(request: FillMaskRequest, request_id: str) -> None:
    """A service that may send one byte less than the answer takes must refuse the request."""
    size = rendered_bytes(request, request_id)
    service = embedded.service(model=MODEL, limits=replace(embedded.limits(), max_body_bytes=size - 1))
    with pytest.raises(AnswerTooLargeError):
        service.answer(request, FixedDeadline())


@given(st.lists(PARTS, min_size=1, max_size=4), OPTIONS, REQUEST_ID)
@settings(max_examples=60)
def test_answer_is_never_larger_than_the_bound(
    parts: list[list[str]], options: dict[str, Any], request_id: str
) -> None:
    """Whatever the texts, ids and targets, no answer outgrows what was reckoned before the work."""
    payload = {"texts": ["[MASK]".join(part) for part in parts], **options}

    assert_bound_holds(parse_native(payload, embedded.limits()), request_id)


@given(PARTS, OPTIONS)
@settings(max_examples=30)
def test_answer_in_the_hugging_face_shape_is_never_larger_than_the_bound(
    parts: list[str], options: dict[str, Any]
) -> None:
    """The same bound holds for the other shape."""
    payload = {"inputs": "[MASK]".join(["天", *parts]), "parameters": options}

    assert_bound_holds(parse_hugging_face(payload, embedded.limits()), "")


def test_bound_lets_ordinary_batches_through() -> None:
    """The bound is not so careful that it refuses the largest batch of ordinary sentences."""
    payload = {"texts": ["今天天气真[MASK]啊，" + "我们一起去散步吧。" * 12] * 256}

    answer = embedded.fill(embedded.service(model=MODEL), payload)

    assert len(answer.results) == 256


def test_bound_is_held_before_any_work() -> None:
    """64 texts of 200 characters with 100 candidates each would be above 6 MB: refused without a run."""
    model = FakeModel(descending(embedded.artifact().vocabulary_size))
    payload = {"texts": ["[MASK]" + "天" * 200] * 64, "top_k": 100}
    with pytest.raises(AnswerTooLargeError):
        embedded.fill(embedded.service(model=model), payload)

    assert model.sequences == []


def test_render_gives_the_native_shape() -> None:
    """The fields that the design names, no more and no less."""
    request = parse_native({"texts": ["守[MASK]", "没有"], "targets": ["株", "𠮷"]}, embedded.limits())
    rendered = answers.render(embedded.service().answer(request, FixedDeadline()), request, "id-1")
    [good, bad] = rendered["results"]

    assert {"request_id", "model", "timing_ms", "results"} == set(rendered)
    assert {"name", "digest"} == set(rendered["model"])
    assert {"total", "encode", "run", "decode", "cache"} == set(rendered["timing_ms"])
    assert {"text", "truncated", "unknown_characters", "cached", "masks", "joint"} == set(good)
    assert {"index", "start", "end", "candidates", "unusable_targets"} == set(good["masks"][0])
    assert {"token", "score", "text", "target_score"} == set(good["masks"][0]["candidates"][0])
    assert good["masks"][0]["unusable_targets"] == [{"target": "𠮷", "reason": "not_in_vocabulary"}]
    assert {"text": "没有", "error": {"type": "mask_missing", "message": MaskMissingError().message()}} == bad


def test_render_leaves_out_target_fields_without_targets() -> None:
    """Who asked for no targets sees none."""
    request = parse_native({"text": "守[MASK]"}, embedded.limits())
    rendered = answers.render(embedded.service().answer(request, FixedDeadline()), request, "")
    [mask] = rendered["results"][0]["masks"]

    assert {"index", "start", "end", "candidates"} == set(mask)
    assert {"token", "score", "text"} == set(mask["candidates"][0])


def test_render_gives_the_reference_designs_shape() -> None:
    """Five tokens of the first mask, each with its percentage to two decimals."""
    request = parse_predict({"text": "守[MASK][MASK]"}, embedded.limits())
    answer = embedded.service().answer(request, FixedDeadline())
    [result] = answer.results
    assert isinstance(result, FilledText)
    first = result.masks[0].candidates

    rendered = answers.render(answer, request, "")

    assert list(rendered) == ["results"]
    assert [round(candidate.score * 100, 2) for candidate in first] == [
        entry["probability"] for entry in rendered["results"]
    ]
    assert [candidate.token for candidate in first] == [entry["token"] for entry in rendered["results"]]


@pytest.mark.parametrize(
    ("inputs", "depth"),
    [("守[MASK]", 1), ("守[MASK][MASK]", 2), (["守[MASK]"], 2), (["守[MASK]", "[MASK]天[MASK]"], 2)],
)
def test_render_gives_the_hugging_face_shape(inputs: str | list[str], depth: int) -> None:
    """A list for one mask, a list of lists for several masks or several texts."""
    request = parse_hugging_face({"inputs": inputs}, embedded.limits())
    rendered = answers.render(embedded.service().answer(request, FixedDeadline()), request, "")
    entry = rendered
    for _ in range(depth):
        assert isinstance(entry, list)
        entry = entry[0]

    assert {"score", "token", "token_str", "sequence"} == set(entry)


def test_render_replaces_half_a_surrogate_pair_in_a_failed_text() -> None:
    """Even the echo of a text that is no Unicode can be sent as UTF-8."""
    request = parse_native({"texts": ["\ud800天[MASK]", "天[MASK]"]}, embedded.limits())
    rendered = answers.render(embedded.service().answer(request, FixedDeadline()), request, "")

    assert rendered["results"][0]["text"] == "?天[MASK]"
    assert json.dumps(rendered, ensure_ascii=False).encode("utf-8")


def test_render_speaks_the_callers_language_about_a_failed_text() -> None:
    """The error inside a batch follows the language of the request."""
    request = parse_native({"texts": ["没有", "天[MASK]"]}, embedded.limits())
    rendered = answers.render(embedded.service().answer(request, FixedDeadline()), request, "", "zh")

    assert rendered["results"][0]["error"]["message"] == MaskMissingError().message("zh")
