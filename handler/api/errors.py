"""How the core's errors travel over HTTP: a status each, one body for all."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, ClassVar, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from handler.api.language import language_of
from handler.api.methods import allowed_methods
from handler.api.observing import observation_of
from handler.core import answers
from handler.core.errors import (
    CacheError,
    EventNotRecognisedError,
    InferenceError,
    InvalidInputError,
    MalformedRequestError,
    ResultsQueueError,
    RetryableError,
    TiankongError,
    TooLargeError,
)

STATUS: Final[Mapping[type[TiankongError], HTTPStatus]] = {
    MalformedRequestError: HTTPStatus.BAD_REQUEST,
    TooLargeError: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    InvalidInputError: HTTPStatus.UNPROCESSABLE_ENTITY,
    RetryableError: HTTPStatus.SERVICE_UNAVAILABLE,
    InferenceError: HTTPStatus.INTERNAL_SERVER_ERROR,
}

# Errors that no HTTP request can raise; a test holds that every other one has its status above.
NOT_OVER_HTTP: Final = (CacheError, EventNotRecognisedError, ResultsQueueError)


class NotFoundError(TiankongError):
    """No such route."""

    code: ClassVar[str] = "not_found"
    english: ClassVar[str] = "There is nothing at this address. POST to /v1/fill-mask; /docs lists every route."
    chinese: ClassVar[str] = "此地址不存在。请 POST 到 /v1/fill-mask；/docs 列出全部路径。"


class MethodNotAllowedError(TiankongError):
    """The route exists, but not with this method."""

    code: ClassVar[str] = "method_not_allowed"
    english: ClassVar[str] = "This address does not take this method. The Allow header names those that it takes."
    chinese: ClassVar[str] = "此地址不支持该方法。可用的方法见 Allow 响应头。"


def status_of(error: TiankongError) -> HTTPStatus:
    """Return the status of an error: that of its nearest class in the table, 500 where there is none."""
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), HTTPStatus.INTERNAL_SERVER_ERROR)


def json_response(value: Any, status: int = HTTPStatus.OK, headers: Mapping[str, str] | None = None) -> Response:
    """Return a JSON response; Chinese stays readable, and nothing along the way may keep it."""
    body = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8")
    return Response(
        body, status, {"Cache-Control": "no-store", **(headers or {})}, media_type="application/json; charset=utf-8"
    )


def error_response(
    request: Request, error: TiankongError, status: int, headers: Mapping[str, str] | None = None
) -> Response:
    """Return the error body, in the language that the request asks for."""
    observation = observation_of(request.scope)
    observation.error_type = error.code
    observation.faulty = status >= HTTPStatus.INTERNAL_SERVER_ERROR
    body = answers.render_error(error, observation.request_id, language_of(request))
    return json_response(body, status, headers)


async def tiankong_error(request: Request, error: Exception) -> Response:
    """Answer an error of the core."""
    assert isinstance(error, TiankongError)  # registered for nothing else
    return error_response(request, error, status_of(error))


async def http_exception(request: Request, error: Exception) -> Response:
    """Answer an error of the framework's routing: 404 and 405."""
    assert isinstance(error, HTTPException)  # registered for nothing else
    if error.status_code != HTTPStatus.METHOD_NOT_ALLOWED:
        return error_response(request, NotFoundError(), error.status_code, error.headers)
    allow = ", ".join(allowed_methods(request.scope, request.app.router.routes))
    return error_response(request, MethodNotAllowedError(), error.status_code, {"Allow": allow})


class CatchAll:
    """Turns whatever nobody foresaw into a 500 with our body.

    Starlette's own handler for Exception stands outside all middleware, so its answer would lack the CORS headers.

    Args:
        app: the application inside.
        fault: takes note of the error.
    """

    def __init__(self, app: ASGIApp, *, fault: Callable[[BaseException, str], None]) -> None:
        self._app = app
        self._fault = fault

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request through."""
        started = False

        async def noting_send(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, noting_send)
        except Exception as error:
            if scope["type"] != "http" or started:
                raise
            request = Request(scope)
            self._fault(error, observation_of(scope).request_id)
            response = error_response(request, TiankongError(), HTTPStatus.INTERNAL_SERVER_ERROR)
            await response(scope, receive, send)
