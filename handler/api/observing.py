"""Takes note of each HTTP request: an observation travels with it and is written when the answer has been sent."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from handler import events
from handler.core.observation import Observation

if TYPE_CHECKING:
    from handler.api.app import Backend

_KEY = "tiankong.observation"


def observation_of(scope: Scope) -> Observation:
    """Return the observation of the request that is being answered."""
    observation: Observation = scope[_KEY]
    return observation


class Observing:
    """The outermost layer but one: everything inside may add to the observation.

    Args:
        app: the application inside.
        backend: takes the observation when the answer is out.
    """

    def __init__(self, app: ASGIApp, *, backend: Backend) -> None:
        self._app = app
        self._backend = backend

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Observe a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start = time.perf_counter()
        request_id = events.request_id(scope.get("aws.event"), scope.get("aws.context"))
        observation = Observation(kind="http", request_id=request_id)
        scope[_KEY] = observation

        async def noting_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                observation.status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noting_send)
        finally:
            route = scope.get("route")
            observation.route = getattr(route, "path", None)
            observation.total_ms = (time.perf_counter() - start) * 1000
            self._backend.observe(observation)
