"""What all routes that run the model share: read the body, parse it, answer, and say where the time went."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from handler import events
from handler.api.errors import json_response
from handler.api.language import language_of
from handler.api.observing import observation_of
from handler.core import answers
from handler.core.errors import BadBase64Error
from handler.core.requests import Request, read_json, request_id_of
from handler.core.types import Limits, Timing

if TYPE_CHECKING:
    from handler.api.app import Backend

Parser = Callable[[object, Limits], Request]


def backend_of(request: HttpRequest) -> Backend:
    """Return what the application answers with."""
    backend: Backend = request.app.state.backend
    return backend


async def answer(request: HttpRequest, parse: Parser) -> Response:
    """Answer a request whose body such a parser reads.

    Raises:
        TiankongError: turned into a response by the application's handler.
    """
    backend, observation = backend_of(request), observation_of(request.scope)
    payload = await _payload(request, backend.limits)
    observation.request_id = request_id_of(payload) or observation.request_id
    parsed = parse(payload, backend.limits)
    deadline = events.ContextDeadline(request.scope.get("aws.context"))
    run = functools.partial(backend.service().answer, parsed, deadline)
    if backend.executor is None:
        filled = run()
    else:
        filled = await asyncio.get_running_loop().run_in_executor(backend.executor, run)
    observation.take(filled)
    value = answers.render(filled, parsed, observation.request_id, language_of(request))
    return json_response(value, headers={"Server-Timing": _server_timing(filled.timing)})


async def _payload(request: HttpRequest, limits: Limits) -> Any:
    if events.BODY_IS_NO_BASE64 in request.scope.get("aws.event", {}):
        raise BadBase64Error
    return read_json(await request.body(), limits)


def _server_timing(timing: Timing) -> str:
    return ", ".join(f"{part};dur={ms}" for part, ms in answers.timing_ms(timing).items())
