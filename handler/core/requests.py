"""The one parser that every door uses: the same payload gives the same request, or the same error, everywhere."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, NoReturn

from handler.core.errors import (
    BodyTooLargeError,
    NotJsonError,
    NotUtf8Error,
    RequestInvalidError,
    TargetsInvalidError,
    TooManyTextsError,
    TopKInvalidError,
)
from handler.core.text import is_unicode
from handler.core.types import Limits

DEFAULT_TOP_K: Final = 5
MAX_TARGETS: Final = 1000  # enough for every measure word or every character of a class
MAX_BEAM: Final = 8
MAX_REQUEST_ID_CHARS: Final = 128

_NATIVE_FIELDS: Final = ("text", "texts", "top_k", "targets", "joint", "lexicon", "beam", "request_id")
_HUGGING_FACE_FIELDS: Final = ("inputs", "parameters", "options", "request_id")
_CORRECT_FIELDS: Final = ("text", "texts", "particles", "request_id")

# Any of them makes a direct event a request, however wrong: the parser tells what is missing, the same at every door.
DIRECT_FIELDS: Final = frozenset({"operation", *_NATIVE_FIELDS, *_HUGGING_FACE_FIELDS, *_CORRECT_FIELDS})


class Shape(Enum):
    """In whose words the request was put, and so how the answer must look."""

    NATIVE = "native"
    HUGGING_FACE = "hugging_face"
    PREDICT = "predict"  # the reference design's contract


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What every request has, checked."""

    texts: tuple[str, ...]
    batch: bool  # a list was sent, and a list comes back
    request_id: str | None

    @property
    def fails_one_by_one(self) -> bool:
        """Whether a text that cannot be answered carries its own error."""
        return self.batch


@dataclass(frozen=True, slots=True, kw_only=True)
class FillMaskRequest(Request):
    """A request to fill blanks.

    ``targets`` holds one list for all masks, or one for each; ``top_k`` is None where the caller left it open.
    """

    top_k: int | None
    targets: tuple[str, ...] | tuple[tuple[str, ...], ...] | None
    shape: Shape
    joint: bool = False  # fill the blanks of a text together as well
    lexicon: bool = True  # from known phrases, where some complete the text
    beam: int = 1  # hypotheses that the model's own joint decoding keeps

    @property
    def fails_one_by_one(self) -> bool:
        """Whether a text that cannot be answered carries its own error: only the native shape has a place for it."""
        return self.batch and self.shape is Shape.NATIVE


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectRequest(Request):
    """A request to find wrong characters."""

    particles: bool  # whether 的, 地 and 得 are corrected into each other


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRequest(Request):
    """A request to score texts."""


def read_json(body: bytes, limits: Limits) -> Any:
    """Read a request body as JSON, whatever its content type says.

    Raises:
        BodyTooLargeError, NotUtf8Error, NotJsonError: in this order.
    """
    if len(body) > limits.max_body_bytes:
        raise BodyTooLargeError(limit=limits.max_body_bytes)
    try:
        text = body.decode("utf-8-sig")  # Windows editors put a byte order mark in front
    except UnicodeDecodeError as error:
        raise NotUtf8Error from error
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise NotJsonError from error


def _refuse_constant(_: str) -> NoReturn:
    raise ValueError("NaN and Infinity are no JSON")


def parse_native(payload: object, limits: Limits) -> FillMaskRequest:
    """Parse the body of ``/v1/fill-mask``.

    Raises:
        RequestInvalidError, TopKInvalidError, TargetsInvalidError, TooManyTextsError: see each.
    """
    fields = _object(payload, _NATIVE_FIELDS)
    texts, batch = _text_or_texts(fields, limits)
    return FillMaskRequest(
        texts=texts,
        batch=batch,
        top_k=_top_k(fields.get("top_k"), limits),
        targets=_targets(fields.get("targets")),
        request_id=_request_id(fields.get("request_id")),
        shape=Shape.NATIVE,
        joint=_joint(fields.get("joint")),
        lexicon=_flag(fields.get("lexicon"), "lexicon", default=True),
        beam=_beam(fields.get("beam")),
    )


def parse_predict(payload: object, limits: Limits) -> FillMaskRequest:
    """Parse the body of ``/predict``, the reference design's contract: a text, and nothing to choose.

    Raises:
        RequestInvalidError: no such object.
    """
    fields = _object(payload, ("text", "request_id"), required="text")
    return FillMaskRequest(
        texts=(_text(fields["text"], "text"),),
        batch=False,
        top_k=min(DEFAULT_TOP_K, limits.max_top_k),
        targets=None,
        request_id=_request_id(fields.get("request_id")),
        shape=Shape.PREDICT,
    )


def parse_hugging_face(payload: object, limits: Limits) -> FillMaskRequest:
    """Parse the body of the Hugging Face fill-mask task: ``inputs`` and ``parameters``.

    ``options`` (``wait_for_model``, ``use_cache``) is taken from older clients and has no effect: the model is always
    there, and cached answers are equal.

    Raises:
        RequestInvalidError, TopKInvalidError, TargetsInvalidError, TooManyTextsError: see each.
    """
    fields = _object(payload, _HUGGING_FACE_FIELDS, required="inputs")
    inputs = fields["inputs"]
    batch = isinstance(inputs, list)
    parameters = _object(_or_empty(fields.get("parameters")), ("top_k", "targets"), where="parameters")
    _object(_or_empty(fields.get("options")), ("wait_for_model", "use_cache", "use_gpu"), where="options")
    return FillMaskRequest(
        texts=_texts(inputs, "inputs", limits) if batch else (_text(inputs, "inputs"),),
        batch=batch,
        top_k=_top_k(parameters.get("top_k"), limits),
        targets=_targets(parameters.get("targets")),
        request_id=_request_id(fields.get("request_id")),
        shape=Shape.HUGGING_FACE,
    )


def parse_correct(payload: object, limits: Limits) -> CorrectRequest:
    """Parse the body of ``/v1/correct``.

    Raises:
        RequestInvalidError, TooManyTextsError: see each.
    """
    fields = _object(payload, _CORRECT_FIELDS)
    texts, batch = _text_or_texts(fields, limits)
    return CorrectRequest(
        texts=texts,
        batch=batch,
        request_id=_request_id(fields.get("request_id")),
        particles=_flag(fields.get("particles"), "particles", default=False),
    )


def parse_score(payload: object, limits: Limits) -> ScoreRequest:
    """Parse the body of ``/v1/score``.

    Raises:
        RequestInvalidError, TooManyTextsError: see each.
    """
    fields = _object(payload, ("text", "texts", "request_id"))
    texts, batch = _text_or_texts(fields, limits)
    return ScoreRequest(texts=texts, batch=batch, request_id=_request_id(fields.get("request_id")))


_OPERATIONS: Final = {"fill-mask": parse_native, "correct": parse_correct, "score": parse_score}


def parse_direct(payload: object, limits: Limits) -> Request:
    """Parse a direct event or a queue record: the body of an operation or, with ``inputs``, the Hugging Face one.

    ``operation`` is "fill-mask", "correct" or "score"; the first where it is absent.

    Raises:
        As the other parsers.
    """
    if not isinstance(payload, dict):
        return parse_native(payload, limits)
    fields = dict(payload)
    operation = fields.pop("operation", None)
    if operation is None:
        operation = "fill-mask"
    if not isinstance(operation, str) or operation not in _OPERATIONS:
        names = ", ".join(_OPERATIONS)
        _invalid(f'"operation" must be one of {names}.', f"operation 必须是 {names} 之一。")
    if "inputs" in fields and operation == "fill-mask":
        return parse_hugging_face(fields, limits)
    return _OPERATIONS[operation](fields, limits)


def request_id_of(payload: object) -> str | None:
    """Return the request id that a payload carries, however wrong the rest of it is."""
    try:
        return _request_id(payload.get("request_id")) if isinstance(payload, dict) else None
    except RequestInvalidError:
        return None


def _invalid(problem: str, problem_zh: str) -> NoReturn:
    raise RequestInvalidError(problem=problem, problem_zh=problem_zh)


def _or_empty(value: object) -> object:
    """A null stands for an absent object: generated clients send one."""
    return {} if value is None else value


def _object(value: object, allowed: tuple[str, ...], *, required: str | None = None, where: str = "") -> dict[str, Any]:
    names = ", ".join(allowed)
    if not isinstance(value, dict):
        what, what_zh = (f'"{where}"', where) if where else ("The request", "请求")
        _invalid(
            f"{what} must be a JSON object with the fields {names}.", f"{what_zh}必须是 JSON 对象，字段：{names}。"
        )
    if not set(value) <= set(allowed):
        place, place_zh = (f' in "{where}"', f"{where} 中") if where else ("", "")
        _invalid(f"Unknown field{place}. Allowed here: {names}.", f"{place_zh}有未知字段。此处允许：{names}。")
    if required is not None and required not in value:
        _invalid(f'"{required}" is missing.', f"缺少 {required} 字段。")
    return value


def _text_or_texts(fields: Mapping[str, Any], limits: Limits) -> tuple[tuple[str, ...], bool]:
    """Return the texts, and whether they were sent as a list."""
    given = [name for name in ("text", "texts") if fields.get(name) is not None]  # generated clients send nulls
    if len(given) != 1:
        _invalid(
            'Send either "text" (a string) or "texts" (a list of strings).',
            "请发送 text（字符串）或 texts（字符串列表），二者选一。",
        )
    if given == ["texts"]:
        return _texts(fields["texts"], "texts", limits), True
    return (_text(fields["text"], "text"),), False


def _text(value: object, field: str) -> str:
    if not isinstance(value, str):
        _invalid(f'"{field}" must be a string.', f"{field} 必须是字符串。")
    return value


def _texts(value: object, field: str, limits: Limits) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(text, str) for text in value):
        _invalid(f'"{field}" must be a non-empty list of strings.', f"{field} 必须是非空的字符串列表。")
    if len(value) > limits.max_texts:
        raise TooManyTextsError(limit=limits.max_texts, actual=len(value))
    return tuple(value)


def _top_k(value: object, limits: Limits) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= limits.max_top_k:
        raise TopKInvalidError(limit=limits.max_top_k)
    return value


def _joint(value: object) -> bool:
    if value not in (None, "auto", "off"):
        _invalid('"joint" must be "auto" or "off".', "joint 必须是 auto 或 off。")
    return value != "off"


def _flag(value: object, field: str, *, default: bool) -> bool:
    if value is None:
        return default
    if not isinstance(value, bool):
        _invalid(f'"{field}" must be true or false.', f"{field} 必须是 true 或 false。")
    return value


def _beam(value: object) -> int:
    if value is None:
        return 1
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MAX_BEAM:
        _invalid(f'"beam" must be a whole number from 1 to {MAX_BEAM}.', f"beam 必须是 1 到 {MAX_BEAM} 之间的整数。")
    return value


def _targets(value: object) -> tuple[str, ...] | tuple[tuple[str, ...], ...] | None:
    if value is None:
        return None
    if isinstance(value, list) and value and all(isinstance(part, list) for part in value):
        return tuple(_target_list(part) for part in value)
    return _target_list(value)


def _target_list(value: object) -> tuple[str, ...]:
    strings = value if isinstance(value, list) else []
    if not 1 <= len(strings) <= MAX_TARGETS or not all(
        isinstance(target, str) and target and is_unicode(target) for target in strings
    ):
        raise TargetsInvalidError(limit=MAX_TARGETS)
    return tuple(strings)


def _request_id(value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not 1 <= len(value) <= MAX_REQUEST_ID_CHARS or not value.isprintable():
        _invalid(
            f'"request_id" must be a string of 1 to {MAX_REQUEST_ID_CHARS} printable characters.',
            f"request_id 必须是 1 到 {MAX_REQUEST_ID_CHARS} 个可打印字符的字符串。",
        )
    return value
