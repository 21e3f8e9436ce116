"""Which part of a path is ours: stages, base paths and trailing slashes are taken off before routing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Receive, Scope, Send

from handler import events

_GIVEN: Final = "tiankong.given_path"


def given_path(scope: Scope) -> str:
    """Return the path as the caller typed it, with whatever stands before our own and with or without a last slash."""
    path: str = scope[_GIVEN]
    return path


class PathPrefix:
    """Moves what stands before our own path into ``root_path``, where links and the documentation find it.

    Args:
        app: the application inside.
        routes: its routes; a stage is taken off only where none matches: one named ``v1`` must not eat ``/v1/…``.
        base_path: a custom domain's mapping, such as ``/nlp``; taken off once, at a segment's end.
    """

    def __init__(self, app: ASGIApp, *, routes: Sequence[BaseRoute], base_path: str) -> None:
        self._app = app
        self._routes = routes
        self._base_path = base_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Route a request by its own path."""
        if scope["type"] == "http":
            event = scope.get("aws.event")
            prefix, path = self._split(scope["path"], events.stage(event))
            root_path = events.outer_prefix(event) + prefix
            scope = {**scope, "root_path": root_path, "path": root_path + path, _GIVEN: _given(scope["path"], event)}
        await self._app(scope, receive, send)

    def _split(self, path: str, stage: str) -> tuple[str, str]:
        """Return the prefix and our own path."""
        prefix, path = _strip(path, self._base_path)
        stripped_base = bool(prefix)
        if stage and not self._is_ours(path):
            stage_prefix, path = _strip(path, f"/{stage}")
            prefix += stage_prefix
            if stage_prefix and not stripped_base:
                base_prefix, path = _strip(path, self._base_path)
                prefix += base_prefix
        return prefix, path.rstrip("/") or "/"

    def _is_ours(self, path: str) -> bool:
        scope = {"type": "http", "method": "GET", "path": path.rstrip("/") or "/", "root_path": ""}
        return any(route.matches(scope)[0] is not Match.NONE for route in self._routes)


def _strip(path: str, prefix: str) -> tuple[str, str]:
    """Take a whole prefix off a path; return what was taken and what is left."""
    if prefix and (path == prefix or path.startswith(prefix + "/")):
        return prefix, path[len(prefix) :] or "/"
    return "", path


def _given(path: str, event: object) -> str:
    outer = events.outer_path(event)
    return path if outer is None else outer
