"""The native routes."""

from __future__ import annotations

from dataclasses import asdict

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from handler.api.answering import answer, backend_of
from handler.api.errors import json_response
from handler.api.schemas import ERRORS, FillMaskAnswer, FillMaskBody, Health, Model, body
from handler.core.requests import parse_native

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
