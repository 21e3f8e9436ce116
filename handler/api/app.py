"""The HTTP application: the same for Mangum and for a local server."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, Final

from fastapi import FastAPI
from fastapi.telemetry import TelemetryConfig
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware

from handler.api import compat, docs, pages, routes
from handler.api.cross_origin import CrossOrigin
from handler.api.errors import CatchAll, http_exception, tiankong_error
from handler.api.methods import HeadAsGet
from handler.api.observing import Observing
from handler.api.paths import PathPrefix
from handler.core.errors import TiankongError
from handler.core.observation import Observation
from handler.core.service import Service
from handler.core.types import Limits

DESCRIPTION: Final = """
中文完形填空：文本里的每个 `[MASK]` 得到按概率排序的候选字。

Chinese fill-in-the-blank: each `[MASK]` of a text gets ranked candidates, spliced into the text as it was sent.
Offsets count code points. Scores are the softmax over the whole vocabulary.
"""

# FastAPI's own would send messages of exceptions, which may quote the caller's text, to wherever the environment says.
_NO_TELEMETRY: Final[TelemetryConfig] = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """What the HTTP door needs from the rest of the function.

    ``service`` raises ModelUnavailableError where there is no model. ``executor`` runs the model beside the event
    loop of a local server; Lambda gives an environment one request at a time, so there it is None.
    """

    service: Callable[[], Service]
    limits: Limits
    about: Callable[[], dict[str, Any]]
    observe: Callable[[Observation], None]
    fault: Callable[[BaseException, str], None]
    executor: Executor | None = None


def create_app(backend: Backend, *, cors_origins: tuple[str, ...] = (), base_path: str = "") -> FastAPI:
    """Build the application.

    Args:
        backend: what it answers with.
        cors_origins: origins whose pages may call it; none when empty.
        base_path: taken off the front of every path, once.
    """
    # The innermost last. Errors are met inside CORS, so that a browser may read them.
    middleware = [Middleware(Observing, backend=backend)]
    if cors_origins:
        middleware.append(
            Middleware(
                CrossOrigin,
                allow_origins=list(cors_origins),
                allow_methods=["GET", "HEAD", "POST"],
                allow_headers=["*"],
                expose_headers=["Server-Timing"],
                max_age=86_400,
            )
        )
    middleware += [Middleware(CatchAll, fault=backend.fault), Middleware(HeadAsGet)]
    app = FastAPI(
        title="Tiankong 填空",
        version="1",
        description=DESCRIPTION,
        docs_url=None,  # FastAPI's own page loads from a CDN
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,  # a redirect makes some clients lose the body
        telemetry=_NO_TELEMETRY,
        middleware=middleware,
        exception_handlers={TiankongError: tiankong_error, HTTPException: http_exception},
    )
    app.state.backend = backend
    for router in (routes.router, compat.router, docs.router, pages.router):
        app.include_router(router)
    app.add_middleware(PathPrefix, routes=app.router.routes, base_path=base_path)
    return app
