"""Answers and errors as JSON objects, in the shape that the caller's request was put in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from handler.core.errors import Language, TiankongError
from handler.core.requests import FillMaskRequest, Request, ScoreRequest, Shape
from handler.core.types import (
    Answer,
    Candidate,
    CorrectedText,
    FailedText,
    FilledMask,
    FilledText,
    JointCandidate,
    ScoredText,
    TextResult,
    Timing,
)


def render(answer: Answer, request: Request, request_id: str, language: Language = "en") -> Any:
    """Return the JSON value that answers a request: an object, or for the Hugging Face shape a list.

    Only the native shape has a place for the error of one text; in the others such a request has failed as a whole
    before (FillMaskRequest.fails_one_by_one).
    """
    if not isinstance(request, FillMaskRequest) or request.shape is Shape.NATIVE:
        return _native(answer, request, request_id, language)
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


def _native(answer: Answer, request: Request, request_id: str, language: Language) -> dict[str, Any]:
    rendered: dict[str, Any] = {
        "request_id": request_id,
        "model": {"name": answer.model.name, "digest": answer.model.digest},
        "timing_ms": timing_ms(answer.timing),
        "results": [_native_text(result, language) for result in answer.results],
    }
    if isinstance(request, ScoreRequest) and request.batch:
        rendered["best"] = _best(answer.results)
    return rendered


def _best(results: Sequence[TextResult | FailedText]) -> int | None:
    """Return the index of the most natural text; None where none could be scored."""
    scored = {at: result for at, result in enumerate(results) if isinstance(result, ScoredText)}
    return max(scored, key=lambda at: (scored[at].mean_log_probability, -at), default=None)


def _native_text(result: TextResult | FailedText, language: Language) -> dict[str, Any]:
    match result:
        case FailedText():
            # Half a surrogate pair cannot travel back as UTF-8.
            text = result.text.encode("utf-8", "replace").decode("utf-8")
            return {"text": text, "error": _error(result.error, language)}
        case CorrectedText():
            return _corrected(result)
        case ScoredText():
            return _scored(result)
    return {
        "text": result.text,
        "truncated": result.truncated,
        "unknown_characters": result.unknown_characters,
        "cached": result.cached,
        "masks": [_native_mask(mask) for mask in result.masks],
        "joint": [_native_joint(candidate) for candidate in result.joint],
    }


def _corrected(result: CorrectedText) -> dict[str, Any]:
    return {
        "text": result.text,
        "corrected": result.corrected,
        "unknown_characters": result.unknown_characters,
        "cached": result.cached,
        "corrections": [
            {
                "start": found.start,
                "end": found.end,
                "original": found.original,
                "suggestions": [{"token": each.token, "margin": each.margin} for each in found.suggestions],
            }
            for found in result.corrections
        ],
    }


def _scored(result: ScoredText) -> dict[str, Any]:
    return {
        "text": result.text,
        "pseudo_log_likelihood": result.pseudo_log_likelihood,
        "mean_log_probability": result.mean_log_probability,
        "unknown_characters": result.unknown_characters,
        "cached": result.cached,
        "per_token": [
            {
                "token": piece.token,
                "start": piece.start,
                "end": piece.end,
                "log_probability": piece.log_probability,
            }
            for piece in result.per_token
        ],
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
                # The task has one id here; a target of several tokens has none.
                "token": candidate.token_ids[0] if len(candidate.token_ids) == 1 else None,
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
