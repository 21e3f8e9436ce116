"""Browsers on other origins: none may call unless the settings name them."""

from __future__ import annotations

from typing import Any

import pytest

from handler.entry import Function
from tests.functional.conftest import FunctionFactory
from tests.support.events import ORIGIN, TEXT, Context, Reply, http_v2, reply, rest_v1

PREFLIGHT = {"access-control-request-method": "POST", "access-control-request-headers": "content-type"}


def preflight(function: Function, build: Any = http_v2, path: str = "/v1/fill-mask", **headers: str) -> Reply:
    """Ask as a browser does before it posts JSON."""
    return reply(function(build(path, method="OPTIONS", headers={**PREFLIGHT, **headers}), Context()))


@pytest.mark.parametrize("build", [http_v2, rest_v1])
@pytest.mark.parametrize("path", ["/v1/fill-mask", "/v1/fill-mask/", "/predict", "/", "/nope"])
def test_preflight_of_an_allowed_origin_passes(path: str, build: Any, function: Function) -> None:
    """The answer allows the origin, the method and the header that were asked for."""
    answer = preflight(function, build, path, origin=ORIGIN)

    assert answer.status in {200, 204}
    assert answer.headers["access-control-allow-origin"] == ORIGIN
    assert "POST" in answer.headers["access-control-allow-methods"]
    assert answer.headers["access-control-allow-headers"] == "content-type"
    assert "Origin" in answer.headers["vary"]


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": ORIGIN + ".evil.example"},
        {"origin": ORIGIN, "access-control-request-method": "DELETE"},
    ],
)
def test_preflight_refused_is_an_error_like_all(headers: dict[str, str], function: Function) -> None:
    """Another origin or method is refused in our body and without permission."""
    answer = preflight(function, **headers)

    assert (answer.status, answer.json["error"]["type"]) == (400, "cross_origin_refused")
    assert "access-control-allow-origin" not in answer.headers


def test_answer_allows_the_named_origin_only(function: Function) -> None:
    """The answer itself needs the permission too, and exposes the timing."""
    named = reply(function(http_v2(body={"text": TEXT}, headers={"origin": ORIGIN}), Context()))
    other = reply(function(http_v2(body={"text": TEXT}, headers={"origin": "https://evil.example"}), Context()))

    assert named.headers["access-control-allow-origin"] == ORIGIN
    assert named.headers["access-control-expose-headers"] == "Server-Timing"
    assert (other.status, other.headers.get("access-control-allow-origin")) == (200, None)


def test_nothing_is_allowed_by_default(start: FunctionFactory) -> None:
    """Without the setting no origin is allowed, and a preflight is a method that no address takes."""
    function = start(cors_origins=())

    answer = reply(function(http_v2(body={"text": TEXT}, headers={"origin": ORIGIN}), Context()))

    assert (answer.status, answer.headers.get("access-control-allow-origin")) == (200, None)
    assert preflight(function, origin=ORIGIN).status == 405


def test_star_allows_every_origin(start: FunctionFactory) -> None:
    """A public service may say so."""
    answer = preflight(start(cors_origins=("*",)), origin="https://anyone.example")

    assert (answer.status, answer.headers["access-control-allow-origin"]) == (200, "*")
