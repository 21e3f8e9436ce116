"""The one parser: what each kind of request may hold, and the error for everything else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handler.core.errors import (
    BodyTooLargeError,
    InvalidInputError,
    NotJsonError,
    NotUtf8Error,
    RequestInvalidError,
    TargetsInvalidError,
    TiankongError,
    TooLargeError,
    TooManyTextsError,
    TopKInvalidError,
)
from handler.core.requests import (
    MAX_BEAM,
    MAX_TARGETS,
    CorrectRequest,
    FillMaskRequest,
    ScoreRequest,
    Shape,
    parse_correct,
    parse_direct,
    parse_hugging_face,
    parse_native,
    parse_predict,
    parse_score,
    read_json,
    request_id_of,
)
from tests.support import embedded

LIMITS = embedded.limits(max_texts=3, max_top_k=50)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
NAMES = (
    *("text", "texts", "inputs", "parameters", "options", "top_k", "targets", "joint", "lexicon", "beam", "particles"),
    *("request_id", "operation", "wrong"),
)
LIKELY = st.sampled_from(["天[MASK]", ["天[MASK]"], 5, "correct", {"top_k": 3}])
FIELDS = st.dictionaries(st.sampled_from(NAMES), JSON | LIKELY, max_size=4)
BAD_TARGETS: tuple[Any, ...] = (
    *([], "x", 5, {"a": 1}, [""], [5], [None]),
    *([[]], [["x"], "y"], [["x"], []], [[["x"]]]),
)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"text": "\xe5\xa4\xa9[MASK]"}', {"text": "天[MASK]"}),
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        (b" [1, null] ", [1, None]),
        (b'"\\ud800"', "\ud800"),
        (b"5", 5),
    ],
)
def test_read_json_takes_any_json(body: bytes, expected: object) -> None:
    """Objects and anything else, with or without a byte order mark."""
    assert expected == read_json(body, LIMITS)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"", NotJsonError),
        (b"{", NotJsonError),
        (b"text=1", NotJsonError),
        (b'{"a": NaN}', NotJsonError),
        (b'{"a": -Infinity}', NotJsonError),
        (b'{"a": 1} x', NotJsonError),
        (b"[" * 200_000, NotJsonError),
        (b"9" * 10_000, NotJsonError),
        ("今天".encode("gbk"), NotUtf8Error),
        (b"\xff\xfe{\x00}\x00", NotUtf8Error),
        (b"\xed\xa0\x80", NotUtf8Error),
    ],
)
def test_read_json_refuses_what_is_none(body: bytes, error: type[TiankongError]) -> None:
    """Each kind of bytes that are no JSON has its error, and none is a crash."""
    with pytest.raises(error):
        read_json(body, LIMITS)


def test_read_json_looks_at_the_size_before_anything_else() -> None:
    """A body of one byte more than Lambda delivers is too large, whatever it holds; of just as many it is read."""
    limits = embedded.limits(max_body_bytes=10)

    assert read_json(b'"12345678"', limits) == "12345678"
    with pytest.raises(BodyTooLargeError):
        read_json(b"\xff" * 11, limits)


def test_parse_native_reads_every_field() -> None:
    """What was sent is what the request holds."""
    request = parse_native(
        {
            "texts": ["a", "b"],
            "top_k": 7,
            "targets": [["x"], ["y", "z"]],
            "joint": "off",
            "lexicon": False,
            "beam": 2,
            "request_id": "id 号",
        },
        LIMITS,
    )

    assert request == FillMaskRequest(
        texts=("a", "b"),
        batch=True,
        top_k=7,
        targets=(("x",), ("y", "z")),
        request_id="id 号",
        shape=Shape.NATIVE,
        joint=False,
        lexicon=False,
        beam=2,
    )
    assert request.fails_one_by_one


@pytest.mark.parametrize("name", ["top_k", "targets", "joint", "lexicon", "beam", "request_id", "texts"])
def test_parse_native_takes_null_as_absent(name: str) -> None:
    """Generated clients send null for what they do not set."""
    assert parse_native({"text": "a"}, LIMITS) == parse_native({"text": "a", name: None}, LIMITS)


@pytest.mark.parametrize(
    ("payload", "error"),
    [
        *((value, RequestInvalidError) for value in (None, 5, "text", [], [{"text": "a"}], {}, {"top_k": 5})),
        ({"text": "a", "texts": ["a"]}, RequestInvalidError),
        ({"text": "a", "wrong": 1}, RequestInvalidError),
        ({"text": "a", "inputs": "a"}, RequestInvalidError),
        ({"text": "a", "operation": "fill-mask"}, RequestInvalidError),
        *(({"text": value}, RequestInvalidError) for value in (5, ["a"], {"a": 1}, True)),
        *(({"texts": value}, RequestInvalidError) for value in ("a", [], [5], ["a", None], {"a": 1})),
        ({"texts": ["a"] * 4}, TooManyTextsError),
        *(({"text": "a", "top_k": value}, TopKInvalidError) for value in (0, -1, 51, 1.0, "5", True, [5], 10**30)),
        *(({"text": "a", "targets": value}, TargetsInvalidError) for value in BAD_TARGETS),
        ({"text": "a", "targets": ["x"] * (MAX_TARGETS + 1)}, TargetsInvalidError),
        ({"text": "a", "targets": ["\ud800"]}, TargetsInvalidError),
        *(({"text": "a", "joint": value}, RequestInvalidError) for value in ("on", True, 0, ["auto"])),
        ({"text": "a", "lexicon": "true"}, RequestInvalidError),
        ({"text": "a", "lexicon": 1}, RequestInvalidError),
        ({"text": "a", "lexicon": []}, RequestInvalidError),
        *(({"text": "a", "beam": value}, RequestInvalidError) for value in (0, MAX_BEAM + 1, True, 1.0, "2")),
        *(({"text": "a", "request_id": value}, RequestInvalidError) for value in ("", "x" * 129, 5, "a\nb", "\ud800")),
    ],
)
def test_parse_native_refuses_everything_else(payload: object, error: type[TiankongError]) -> None:
    """A wrong type, an unknown field or a number out of range is an error of the caller, with its own name."""
    with pytest.raises(error):
        parse_native(payload, LIMITS)


@pytest.mark.parametrize("name", ["text", "wrong 字段 <b>"])
def test_errors_do_not_repeat_the_input(name: str) -> None:
    """A message tells what is allowed and never what was sent."""
    with pytest.raises(InvalidInputError) as caught:
        parse_native({name: 5, "wrong 字段 <b>": "secret"}, LIMITS)

    assert "<b>" not in caught.value.message("en") + caught.value.message("zh")


def test_parse_predict_takes_a_text_and_nothing_to_choose() -> None:
    """The reference design's contract: five candidates of one text."""
    request = parse_predict({"text": "a", "request_id": "id"}, LIMITS)

    assert (
        request.texts,
        request.batch,
        request.top_k,
        request.targets,
        request.shape,
    ) == (("a",), False, 5, None, Shape.PREDICT)
    for payload in ({}, {"texts": ["a"]}, {"text": "a", "top_k": 5}, {"text": ["a"]}):
        with pytest.raises(RequestInvalidError):
            parse_predict(payload, LIMITS)


def test_parse_hugging_face_reads_inputs_and_parameters() -> None:
    """Both spellings of inputs, nulls, and options that have no effect."""
    one = parse_hugging_face({"inputs": "a", "parameters": {"top_k": 3, "targets": ["x"]}}, LIMITS)
    many = parse_hugging_face({"inputs": ["a"], "parameters": None, "options": {"use_cache": False}}, LIMITS)

    assert (one.texts, one.batch, one.top_k, one.targets) == (("a",), False, 3, ("x",))
    assert (many.texts, many.batch, many.top_k, many.targets) == (("a",), True, None, None)
    assert not many.fails_one_by_one


@pytest.mark.parametrize(
    "payload",
    [
        *({}, {"inputs": 5}, {"inputs": []}, {"inputs": [5]}, {"inputs": "a", "text": "a"}, {"inputs": None}),
        *(
            {"inputs": "a", "parameters": []},
            {"inputs": "a", "parameters": {"wrong": 1}},
            {"inputs": "a", "options": 5},
        ),
        *({"inputs": "a", "parameters": {"top_k": 0}}, {"inputs": "a", "parameters": {"targets": []}}),
        {"inputs": "a", "options": {"wrong": 1}},
    ],
)
def test_parse_hugging_face_refuses_everything_else(payload: object) -> None:
    """The other shape is checked as strictly."""
    with pytest.raises(InvalidInputError):
        parse_hugging_face(payload, LIMITS)


def test_parse_correct_and_score_read_their_fields() -> None:
    """One text or several, and for a correction whether particles count."""
    assert parse_correct({"text": "a", "particles": True}, LIMITS) == CorrectRequest(
        texts=("a",), batch=False, request_id=None, particles=True
    )
    assert parse_score({"texts": ["a", "b"], "request_id": "id"}, LIMITS) == ScoreRequest(
        texts=("a", "b"), batch=True, request_id="id"
    )
    for parse in (parse_correct, parse_score):
        for payload in ({"text": "a", "top_k": 5}, {"text": 5}, {}, {"text": "a", "particles": "yes"}):
            with pytest.raises(RequestInvalidError):
                parse(payload, LIMITS)


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ({"text": "a"}, parse_native({"text": "a"}, LIMITS)),
        ({"text": "a", "operation": "fill-mask"}, parse_native({"text": "a"}, LIMITS)),
        ({"text": "a", "operation": None}, parse_native({"text": "a"}, LIMITS)),
        ({"inputs": ["a"]}, parse_hugging_face({"inputs": ["a"]}, LIMITS)),
        ({"text": "a", "operation": "correct"}, parse_correct({"text": "a"}, LIMITS)),
        ({"text": "a", "operation": "score"}, parse_score({"text": "a"}, LIMITS)),
    ],
)
def test_parse_direct_chooses_the_parser_by_operation(payload: dict[str, Any], expected: object) -> None:
    """A direct event is what the route of the same operation takes."""
    before = json.dumps(payload)

    assert expected == parse_direct(payload, LIMITS)
    assert before == json.dumps(payload), "the event is the caller's own"


@pytest.mark.parametrize(
    "payload",
    [
        *(None, 5, [], "text", {"text": "a", "operation": "fill"}, {"text": "a", "operation": 5}),
        *({"text": "a", "operation": []}, {"text": "a", "inputs": "a"}, {"inputs": "a", "operation": "score"}),
    ],
)
def test_parse_direct_refuses_everything_else(payload: object) -> None:
    """An operation that is none, and fields of two shapes at once."""
    with pytest.raises(RequestInvalidError):
        parse_direct(payload, LIMITS)


@given(FIELDS | JSON)
def test_parsers_raise_only_declared_errors(payload: object) -> None:
    """Whatever JSON comes, each parser gives a request or an error of the caller."""
    for parse in (parse_native, parse_predict, parse_hugging_face, parse_correct, parse_score, parse_direct):
        messages: tuple[str, ...]
        try:
            request = parse(payload, LIMITS)
        except (InvalidInputError, TooLargeError) as error:
            messages = (error.message("en"), error.message("zh"))
        else:
            messages = request.texts

        assert all(isinstance(text, str) for text in messages)


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ({"request_id": "id", "wrong": 1}, "id"),
        ({"request_id": ""}, None),
        ({"request_id": 5}, None),
        ({}, None),
        (None, None),
        (["request_id"], None),
    ],
)
def test_request_id_of_is_found_in_wrong_requests_too(payload: object, expected: str | None) -> None:
    """An error names the caller's own id, however wrong the rest is."""
    assert expected == request_id_of(payload)
