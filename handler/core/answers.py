"""Answers and errors as JSON objects, in the shape that the caller's request was put in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from handler.core.errors import Language, TiankongError
from handler.core.requests import FillMaskRequest, Shape
from handler.core.types import (
    Candidate,
    FailedText,
    FilledMask,
    FilledText,
    FillMaskAnswer,
    JointCandidate,
    TargetSet,
    Timing,
)

ENVELOPE_BYTES: Final = 1024  # request id, model, times and brackets
_TEXT_BYTES: Final = 256  # the fields of one text or mask, without its strings
_CANDIDATE_BYTES: Final = 320  # keys, numbers and the token of one candidate
_TOKEN_BYTES: Final = 128  # one token of a joint filling


def render(answer: FillMaskAnswer, request: FillMaskRequest, request_id: str, language: Language = "en") -> Any:
    """Return the JSON value that answers a request: an object, or for the Hugging Face shape a list.

    Only the native shape has a place for the error of one text; in the others such a request has failed as a whole
    before (FillMaskRequest.fails_one_by_one).
    """
    if request.shape is Shape.NATIVE:
        return _native(answer, request_id, language)
    texts = [result for result in answer.results if isinstance(result, FilledText)]
    if request.shape is Shape.PREDICT:
        first = texts[0].masks[0]
        return {"results": [{"token": c.token, "probability": round(c.score * 100, 2)} for c in first.candidates]}
    lists = [_hugging_face(text) for text in texts]
    return lists if request.batch else lists[0]


def render_error(error: TiankongError, request_id: str, language: Language = "en") -> dict[str, Any]:
    """Return the error object that every door sends."""
    return {"error": {**_error(error, language), "request_id": request_id}}


def timing_ms(timing: Timing) -> dict[str, float]:
    """Return the latency split of an answer, in milliseconds."""
    return {
        "total": round(timing.total_ms, 3),
        "encode": round(timing.encode_ms, 3),
        "run": round(timing.run_ms, 3),
        "decode": round(timing.decode_ms, 3),
        "cache": round(timing.cache_ms, 3),
    }


def worst_text_bytes(text: str, masks: int, top_k: int, targets: Sequence[TargetSet] | None, joint_top_k: int) -> int:
    """Return an upper bound of the bytes that one answered text takes, with all the escaping on its way."""
    length = _worst_string_bytes(text)
    size = _TEXT_BYTES + length + joint_top_k * (length + _CANDIDATE_BYTES + masks * _TOKEN_BYTES)
    for index in range(masks):
        count = top_k
        if targets is not None:
            spellings = targets[index].spellings.values()
            count = min(top_k, len(spellings))
            size += 2 * sum(map(_worst_string_bytes, spellings))  # the token, and the token in its text
            size += sum(_TEXT_BYTES + _worst_string_bytes(entry.target) for entry in targets[index].unusable)
        size += _TEXT_BYTES + count * (length + _CANDIDATE_BYTES)
    return size


def worst_failure_bytes(text: str) -> int:
    """Return an upper bound of the bytes that a failed text of a batch takes."""
    return _worst_string_bytes(text) + 4 * _TEXT_BYTES


def _worst_string_bytes(text: str) -> int:
    r"""Bound a string's bytes as JSON inside a JSON string.

    Beyond ASCII that is \uXXXX or a pair of them; quotes and backslashes are escaped twice, control characters \\uXXXX.
    """
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return len(text)
    astral = sum(character > "\uffff" for character in text)
    plain = sum(" " <= character <= "~" and character not in '"\\' for character in text)
    return plain + 12 * astral + 7 * (len(text) - plain - astral)


def _native(answer: FillMaskAnswer, request_id: str, language: Language) -> dict[str, Any]:
    return {
        "request_id": request_id,
        "model": {"name": answer.model.name, "digest": answer.model.digest},
        "timing_ms": timing_ms(answer.timing),
        "results": [_native_text(result, language) for result in answer.results],
    }


def _native_text(result: FilledText | FailedText, language: Language) -> dict[str, Any]:
    if isinstance(result, FailedText):
        # Half a surrogate pair cannot travel back as UTF-8.
        text = result.text.encode("utf-8", "replace").decode("utf-8")
        return {"text": text, "error": _error(result.error, language)}
    return {
        "text": result.text,
        "truncated": result.truncated,
        "unknown_characters": result.unknown_characters,
        "cached": result.cached,
        "masks": [_native_mask(mask) for mask in result.masks],
        "joint": [_native_joint(candidate) for candidate in result.joint],
    }


def _native_mask(filled: FilledMask) -> dict[str, Any]:
    mask = filled.mask
    rendered: dict[str, Any] = {
        "index": mask.index,
        "start": mask.start,
        "end": mask.end,
        "candidates": [_native_candidate(candidate) for candidate in filled.candidates],
    }
    if filled.unusable_targets is not None:
        rendered["unusable_targets"] = [
            {"target": unusable.target, "reason": unusable.reason} for unusable in filled.unusable_targets
        ]
    return rendered


def _native_candidate(candidate: Candidate) -> dict[str, Any]:
    rendered: dict[str, Any] = {"token": candidate.token, "score": candidate.score, "text": candidate.text}
    if candidate.target_score is not None:
        rendered["target_score"] = candidate.target_score
    return rendered


def _native_joint(candidate: JointCandidate) -> dict[str, Any]:
    rendered: dict[str, Any] = {
        "tokens": list(candidate.tokens),
        "score": candidate.score,
        "text": candidate.text,
        "source": candidate.source.value,
    }
    if candidate.lexicon_score is not None:
        rendered["lexicon_score"] = candidate.lexicon_score
    return rendered


def _hugging_face(text: FilledText) -> list[Any]:
    """Return a list of fillings for one mask, a list of such lists for several, as the fill-mask task does."""
    masks = [
        [
            {
                "score": candidate.score,
                "token": candidate.token_id,
                "token_str": candidate.piece,
                "sequence": candidate.text,
            }
            for candidate in mask.candidates
        ]
        for mask in text.masks
    ]
    return masks if len(masks) > 1 else masks[0]


def _error(error: TiankongError, language: Language) -> dict[str, str]:
    return {"type": error.code, "message": error.message(language)}
