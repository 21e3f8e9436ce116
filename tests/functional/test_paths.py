"""Stages, base paths and trailing slashes: the same route under every address that leads to it."""

from __future__ import annotations

import pytest

from handler.entry import Function
from tests.functional.conftest import FunctionFactory
from tests.support.events import (
    PLAIN_STAGE,
    TEXT,
    Context,
    Event,
    http_v2,
    load_balancer,
    payload_1_0,
    reply,
    rest_v1,
)

BODY = {"text": TEXT}


def status(function: Function, event: Event) -> int:
    """Return the status of one request."""
    return reply(function(event, Context())).status


@pytest.mark.parametrize(
    ("path", "method"),
    [
        ("/v1/fill-mask/", "POST"),
        ("/v1/fill-mask//", "POST"),
        ("/healthz/", "GET"),
        ("/v1/model/", "GET"),
        ("/docs/", "GET"),
        ("/openapi.json/", "GET"),
    ],
)
def test_trailing_slash_answers_as_without(path: str, method: str, function: Function) -> None:
    """No redirect: some clients lose the body on it."""
    assert status(function, http_v2(path, BODY, method=method)) == 200


@pytest.mark.parametrize("path", ["/predict/", "/hf/fill-mask/", "/models/a/"])
def test_trailing_slash_reaches_the_other_routes_too(path: str, function: Function) -> None:
    """The request is read, so its missing mask is found."""
    body = {"text": "没有"} if path == "/predict/" else {"inputs": "没有"}

    assert reply(function(http_v2(path, body), Context())).json["error"]["type"] == "mask_missing"


@pytest.mark.parametrize(
    ("path", "stage"),
    [
        ("/v1/fill-mask", PLAIN_STAGE),
        ("/v1/fill-mask", "dev"),
        ("/dev/v1/fill-mask", "dev"),
        ("/dev/v1/fill-mask/", "dev"),
        ("/v1/fill-mask", "v1"),
        ("/v1/v1/fill-mask", "v1"),
        ("/predict/v1/fill-mask", "predict"),
        ("/a.b-c_d/v1/fill-mask", "a.b-c_d"),
    ],
)
def test_stage_is_taken_off_where_it_is_no_route(path: str, stage: str, function: Function) -> None:
    """A named stage stands in the path of an HTTP API; one named like a part of a route must not eat it."""
    assert status(function, http_v2(path, BODY, stage=stage)) == 200
    assert status(function, payload_1_0(path, BODY, stage=stage)) == 200


@pytest.mark.parametrize(
    ("path", "stage"),
    [
        ("/dev/v1/fill-mask", PLAIN_STAGE),
        ("/dev/v1/fill-mask", "prod"),
        ("/device/v1/fill-mask", "dev"),
        ("/dev/dev/v1/fill-mask", "dev"),
        ("/$default/v1/fill-mask", PLAIN_STAGE),
    ],
)
def test_only_the_whole_stage_is_taken_off_once(path: str, stage: str, function: Function) -> None:
    """Another first segment, a longer one, or the stage twice leads nowhere."""
    assert status(function, http_v2(path, BODY, stage=stage)) == 404


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/nlp/v1/fill-mask", 200),
        ("/v1/fill-mask", 200),
        ("/nlp/v1/fill-mask/", 200),
        ("/nlpx/v1/fill-mask", 404),
        ("/nlp/nlp/v1/fill-mask", 404),
        ("/x/nlp/v1/fill-mask", 404),
    ],
)
def test_base_path_is_taken_off_once_and_whole(path: str, expected: int, start: FunctionFactory) -> None:
    """A custom domain's mapping is one prefix that ends where a segment ends."""
    function = start(base_path="/nlp")

    assert status(function, http_v2(path, BODY)) == expected
    assert status(function, load_balancer(path, BODY)) == expected


@pytest.mark.parametrize("path", ["/dev/nlp/v1/fill-mask", "/nlp/dev/v1/fill-mask", "/nlp/v1/fill-mask"])
def test_stage_and_base_path_may_stand_in_either_order(path: str, start: FunctionFactory) -> None:
    """Whether the domain or the stage comes first depends on who maps."""
    assert status(start(base_path="/nlp"), http_v2(path, BODY, stage="dev")) == 200


@pytest.mark.parametrize("base_path", ["/a/b", "/v1"])
def test_base_path_may_have_several_segments_or_look_like_a_route(base_path: str, start: FunctionFactory) -> None:
    """The base path is taken off first, whatever it is called."""
    assert status(start(base_path=base_path), http_v2(f"{base_path}/v1/fill-mask", BODY)) == 200


DOCUMENTATION: list[tuple[Event, str]] = [
    (http_v2("/docs", method="GET"), ""),
    (http_v2("/docs/", method="GET"), ""),
    (http_v2("/dev/docs", method="GET", stage="dev"), "/dev"),
    (http_v2("/v1/docs", method="GET", stage="v1"), "/v1"),
    (rest_v1("/docs", method="GET"), "/prod"),
    (rest_v1("/docs/", method="GET"), "/prod"),
    (payload_1_0("/docs", method="GET"), ""),
    (payload_1_0("/dev/docs", method="GET", stage="dev"), "/dev"),
    (load_balancer("/docs", method="GET"), ""),
    (load_balancer("/docs", method="GET", multi_value=True), ""),
]


@pytest.mark.parametrize(("event", "root"), DOCUMENTATION)
def test_docs_names_everything_by_its_full_path(event: Event, root: str, function: Function) -> None:
    """Under a stage the page finds its schema, scripts and styles where the caller found the page."""
    page = reply(function(event, Context()))

    assert page.status == 200
    for wanted in ("openapi.json", "docs/swagger-ui.css", "docs/swagger-ui-bundle.js", "docs/start.js"):
        assert f'"{root}/{wanted}"' in page.text


@pytest.mark.parametrize(
    ("path", "stage", "root"),
    [
        ("/nlp", PLAIN_STAGE, "/nlp"),
        ("/dev/nlp", "dev", "/dev/nlp"),
        ("", PLAIN_STAGE, ""),
    ],
)
def test_docs_and_schema_know_the_base_path(path: str, stage: str, root: str, start: FunctionFactory) -> None:
    """The schema's server is the address that the page was opened under."""
    function = start(base_path="/nlp")

    page = reply(function(http_v2(f"{path}/docs", method="GET", stage=stage), Context()))
    schema = reply(function(http_v2(f"{path}/openapi.json", method="GET", stage=stage), Context()))

    assert f'data-schema="{root}/openapi.json"' in page.text
    assert schema.json["servers"] == [{"url": root or "/"}]


def test_rest_apis_custom_domain_hides_the_stage(start: FunctionFactory) -> None:
    """Behind a custom domain the context's path has the mapping in place of the stage."""
    event = rest_v1("/nlp/docs", method="GET")
    event["requestContext"]["path"] = "/nlp/docs"

    assert 'data-schema="/nlp/openapi.json"' in reply(start(base_path="/nlp")(event, Context())).text


def test_start_page_is_that_of_a_stage(function: Function) -> None:
    """A REST API's root is the stage itself."""
    page = reply(function(rest_v1("/", method="GET"), Context()))

    assert page.status == 200
    assert '<div id="page">' in page.text
