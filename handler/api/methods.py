"""Methods beside those that a route declares: HEAD wherever GET is answered, and the list for a 405."""

from __future__ import annotations

from collections.abc import Iterable

from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_DECLARED = ("GET", "POST")


class HeadAsGet:
    """Answers HEAD as GET without the body. Mangum would send one, where a server drops it.

    Args:
        app: the application inside.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request through."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def send_head(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        await self._app({**scope, "method": "GET"}, receive, send_head)


def allowed_methods(scope: Scope, routes: Iterable[BaseRoute]) -> list[str]:
    """Return the methods that an address takes, whichever of several routes takes them."""
    routes = list(routes)
    allowed = [
        method
        for method in _DECLARED
        if any(route.matches({**scope, "method": method})[0] is Match.FULL for route in routes)
    ]
    return ["GET", "HEAD", *allowed[1:]] if "GET" in allowed else allowed
