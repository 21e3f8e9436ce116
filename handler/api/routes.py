"""The native routes."""

from __future__ import annotations

from dataclasses import asdict

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from handler.api.answering import answer, backend_of
from handler.api.errors import json_response
from handler.api.schemas import (
    ERRORS,
    CorrectAnswer,
    CorrectBody,
    FillMaskAnswer,
    FillMaskBody,
    Health,
    Model,
    ScoreAnswer,
    ScoreBody,
    body,
)
from handler.core.requests import parse_correct, parse_native, parse_score

router = APIRouter()


@router.post(
    "/v1/fill-mask",
    summary="Fill the blanks of one text or many",
    openapi_extra=body(FillMaskBody),
    responses={200: {"model": FillMaskAnswer}, **ERRORS},
)
async def fill_mask(request: Request) -> Response:
    """Each `[MASK]` gets ranked candidates. A text of a batch that cannot be answered carries its own `error`."""
    return await answer(request, parse_native)


@router.post(
    "/v1/correct",
    summary="Find likely wrong characters (错别字)",
    openapi_extra=body(CorrectBody),
    responses={200: {"model": CorrectAnswer}, **ERRORS},
)
async def correct(request: Request) -> Response:
    """Suggestions with margins and offsets; lengths never change: missing and superfluous characters are out of reach.

    Digits, Latin letters, punctuation and characters that the vocabulary lacks are left alone.
    """
    return await answer(request, parse_correct)


@router.post(
    "/v1/score",
    summary="Score texts by how natural they are",
    openapi_extra=body(ScoreBody),
    responses={200: {"model": ScoreAnswer}, **ERRORS},
)
async def score(request: Request) -> Response:
    """The pseudo-log-likelihood of each text, and for several the index of the most natural one (by the mean)."""
    return await answer(request, parse_score)


@router.get("/v1/model", summary="The model that answers, its limits and its proof", responses={200: {"model": Model}})
async def model(request: Request) -> Response:
    """Name, digest, vocabulary size, limits, measured agreement with fp32, processor features seen."""
    backend = backend_of(request)
    return json_response({**backend.about(), "limits": asdict(backend.limits)})


@router.get("/healthz", summary="Ready or not, without inference", responses={200: {"model": Health}})
async def healthz(request: Request) -> Response:
    """200 when the model is loaded, 503 when it could not be."""
    backend_of(request).service()
    return json_response({"status": "ready"})
