"""Other people's request shapes: the reference design's ``/predict`` and the Hugging Face fill-mask task."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from handler.api.answering import answer
from handler.api.schemas import ERRORS, HuggingFaceAnswer, HuggingFaceBody, PredictAnswer, PredictBody, body
from handler.core.requests import parse_hugging_face, parse_predict

router = APIRouter()


@router.post(
    "/predict",
    summary="The reference design's contract: five candidates for the first blank, in percent",
    openapi_extra=body(PredictBody),
    responses={200: {"model": PredictAnswer}, **ERRORS},
)
async def predict(request: Request) -> Response:
    """Percentages have two decimals. A text without a blank is 422."""
    return await answer(request, parse_predict)


@router.post(
    "/hf/fill-mask",
    summary="The Hugging Face fill-mask task",
    openapi_extra=body(HuggingFaceBody),
    responses={200: {"model": HuggingFaceAnswer}, **ERRORS},
)
async def hugging_face(request: Request) -> Response:
    """A list of fillings for one blank, a list of lists for several; a list of inputs gives a list of such answers.

    `huggingface_hub.InferenceClient` works unchanged: it posts to exactly the address that it is given, so the same
    answer is at `/` and at `/models/{any}`.
    """
    return await answer(request, parse_hugging_face)


router.add_api_route("/", hugging_face, methods=["POST"], include_in_schema=False)
router.add_api_route("/models/{model:path}", hugging_face, methods=["POST"], include_in_schema=False)
