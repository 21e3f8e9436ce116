"""Pages on other origins: Starlette's rules for them, and refusals that a caller can read."""

from __future__ import annotations

from http import HTTPStatus
from typing import ClassVar

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from handler.api.errors import error_response
from handler.core.errors import TiankongError


class CrossOriginRefusedError(TiankongError):
    """A page asks whether it may call, and it may not."""

    code: ClassVar[str] = "cross_origin_refused"
    english: ClassVar[str] = "A page of this origin, or with this method, may not call the service: see CORS_ORIGINS."
    chinese: ClassVar[str] = "此来源的网页或此方法不允许调用本服务：见 CORS_ORIGINS 设置。"


class CrossOrigin(CORSMiddleware):
    """CORS as Starlette does it, but for a refused preflight, which it would answer in plain text."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a preflight, or pass a request through."""
        headers = Headers(scope=scope) if scope["type"] == "http" else Headers()
        asks = headers.get("origin") is not None and "access-control-request-method" in headers
        if asks and scope["method"] == "OPTIONS":
            response = self.preflight_response(headers)
            if response.status_code != HTTPStatus.OK:
                refusal = CrossOriginRefusedError()
                response = error_response(Request(scope), refusal, response.status_code, {"Vary": "Origin"})
            await response(scope, receive, send)
            return
        await super().__call__(scope, receive, send)
