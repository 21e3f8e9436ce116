"""Events written by hand, or by tools that leave things out: repaired, never an exception."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handler.entry import lambda_handler
from tests.support.events import TEXT, Context, Event, http_v2, load_balancer, payload_1_0, reply, rest_v1

BODY = {"text": TEXT}
BUILDERS: dict[str, Callable[..., Event]] = {
    "2.0": http_v2,
    "REST": rest_v1,
    "1.0": payload_1_0,
    "load balancer": load_balancer,
}
NESTED: Any = "x"
for _ in range(20_000):  # deeper than the JSON of any supported Python goes
    NESTED = [NESTED]


def without(event: Event, *keys: str) -> Event:
    """Return an event that lacks some of its keys."""
    return {name: value for name, value in event.items() if name not in keys}


REPAIRABLE: dict[str, Event] = {
    "2.0 headers null": {**http_v2(body=BODY), "headers": None},
    "REST headers null": {**rest_v1(body=BODY), "headers": None},
    "load balancer headers null": {**load_balancer(body=BODY), "headers": None},
    "2.0 headers absent": without(http_v2(body=BODY), "headers"),
    "load balancer headers absent": without(load_balancer(body=BODY), "headers"),
    "headers a list": {**http_v2(body=BODY), "headers": ["content-type"]},
    "header values of all types": http_v2(body=BODY, headers={"a": 5, "b": None, "c": ["x", 1], "d": {}, "e": True}),
    "header names and values of half characters": http_v2(body=BODY, headers={"\ud800": "\udfff"}),
    "host with an odd port": http_v2(body=BODY, headers={"host": "a.example:port"}),
    "host with two colons": http_v2(body=BODY, headers={"host": "[::1]:8000"}),
    "host that ends in a colon": rest_v1(body=BODY, headers={"Host": "a.example:"}),
    "port no number": load_balancer(body=BODY) | {"headers": {"x-forwarded-port": "https"}},
    "port list": rest_v1(body=BODY, headers={"X-Forwarded-Port": "443, 443"}),
    "multi-value headers null": {**load_balancer(body=BODY), "multiValueHeaders": None},
    "multi-value headers of all types": {
        **rest_v1(body=BODY),
        "multiValueHeaders": {"a": None, "b": [1, None], "c": "x", "X-Forwarded-Port": ["443", "443"]},
    },
    "multi-value host with two colons": {**rest_v1(body=BODY), "multiValueHeaders": {"Host": ["a:1:2"]}},
    "load balancer multi-value port": {
        **load_balancer(body=BODY, multi_value=True),
        "multiValueHeaders": {"host": ["x:1:2"], "x-forwarded-port": ["80", "81"]},
    },
    "2.0 without request context": without(http_v2(body=BODY), "requestContext"),
    "2.0 with a route key only": {
        **without(http_v2(body=BODY), "requestContext"),
        "routeKey": "POST /v1/fill-mask",
    },
    "2.0 request context a list": {**http_v2(body=BODY), "requestContext": []},
    "2.0 without a method": {**http_v2(body=BODY), "requestContext": {"http": {"path": "/v1/fill-mask"}}},
    "2.0 path only in rawPath": {**http_v2(body=BODY), "requestContext": {"http": {"method": "POST"}}},
    "REST without request context": without(rest_v1(body=BODY), "requestContext"),
    "REST request context null": {**rest_v1(body=BODY), "requestContext": None},
    "REST identity null": {**rest_v1(body=BODY), "requestContext": {"identity": None, "stage": None}},
    "REST method in lower case": {**rest_v1(body=BODY), "httpMethod": "post"},
    "2.0 method in lower case": http_v2(body=BODY, method="post"),
    "path without its slash": {**rest_v1(body=BODY), "path": "v1/fill-mask"},
    "query null": {**load_balancer(body=BODY), "queryStringParameters": None},
    "query of all types": {**load_balancer(body=BODY), "multiValueQueryStringParameters": {"a": [1, None], "b": 5}},
    "query of half characters": {**rest_v1(body=BODY), "queryStringParameters": {"a": "\ud800"}},
    "raw query of half characters": {**http_v2(body=BODY), "rawQueryString": "a=\ud800"},
    "raw query null": {**http_v2(body=BODY), "rawQueryString": None},
    "cookies of all types": {**http_v2(body=BODY), "cookies": [1, None]},
    "body an object": {**http_v2(), "body": BODY},
    "body an object, said to be base64": {**http_v2(), "body": BODY, "isBase64Encoded": True},
    "base64 flag null": {**rest_v1(body=BODY), "isBase64Encoded": None},
    "base64 flag a word": {**rest_v1(body=BODY), "isBase64Encoded": "false"},
    "base64 flag absent": without(load_balancer(body=BODY), "isBase64Encoded"),
    "request id of half a character": {
        **http_v2(body=BODY),
        "requestContext": {**http_v2(body=BODY)["requestContext"], "requestId": "\ud800"},
    },
    "request id a number": {**rest_v1(body=BODY), "requestContext": {"requestId": 7}},
}
UNREPAIRABLE: dict[str, tuple[Event, int, str]] = {
    "body absent": (without(http_v2(), "body"), 400, "not_json"),
    "body null": (http_v2(), 400, "not_json"),
    "body empty": (rest_v1(body=""), 400, "not_json"),
    "body a number": ({**http_v2(), "body": 5}, 422, "request_invalid"),
    "body a list": ({**http_v2(), "body": [BODY]}, 422, "request_invalid"),
    "body of half characters": (http_v2(body='{"text":"\ud83d[MASK]"}'), 400, "not_utf8"),
    "body an object nested deeply": ({**http_v2(), "body": {"text": NESTED}}, 400, "not_json"),
    "body an object with half a character": (
        {**http_v2(), "body": {"text": "\ud83d[MASK]"}},
        422,
        "text_not_unicode",
    ),
    "path absent": (without(rest_v1(method="DELETE"), "path"), 405, "method_not_allowed"),
    "path null": ({**rest_v1(method="DELETE"), "path": None}, 405, "method_not_allowed"),
    "path a number": ({**rest_v1(body=BODY), "path": 5}, 404, "not_found"),
    "path of half characters": (http_v2("/\ud800", BODY), 404, "not_found"),
    "path of broken escapes": (http_v2("/%FF%00%", BODY), 404, "not_found"),
    "method unknown": (http_v2(method="BREW"), 405, "method_not_allowed"),
    "method empty": (rest_v1(method=""), 405, "method_not_allowed"),
}


@pytest.mark.parametrize("name", REPAIRABLE)
def test_repairable_event_is_answered(name: str) -> None:
    """What is missing or malformed beside method, path and body does not matter."""
    before = copy.deepcopy(REPAIRABLE[name])

    answer = reply(lambda_handler(REPAIRABLE[name], Context()))

    assert (answer.status, answer.json["results"][0]["text"]) == (200, TEXT)
    assert before == REPAIRABLE[name], "the caller's event was changed"


@pytest.mark.parametrize("name", UNREPAIRABLE)
def test_unrepairable_event_gets_its_error(name: str) -> None:
    """What cannot be guessed is an error with our body, not an exception."""
    event, status, error_type = UNREPAIRABLE[name]

    answer = reply(lambda_handler(event, Context()))

    assert (answer.status, answer.json["error"]["type"]) == (status, error_type)


def test_get_is_guessed_where_there_is_no_method_and_no_body() -> None:
    """A hand-written event with a path alone opens the page."""
    assert reply(lambda_handler({"version": "2.0", "rawPath": "/docs"}, Context())).status == 200


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just("\ud800")
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5) | st.just("\ud800"), inner),
    max_leaves=5,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_http_event_with_anything_in_any_place_is_answered(data: st.DataObject) -> None:
    """Whatever stands in place of any part of an HTTP event, its answer is one that API Gateway can send."""
    event = data.draw(st.sampled_from(list(BUILDERS.values())))(body=BODY)
    parts = [(event, key) for key in event] + [(event["requestContext"], key) for key in event["requestContext"]]
    if isinstance(event.get("headers"), dict):
        parts += [(event["headers"], key) for key in event["headers"]]
    for place, key in data.draw(st.lists(st.sampled_from(parts), min_size=1, max_size=3)):
        place[key] = data.draw(VALUES)

    answer = lambda_handler(event, Context())

    if "statusCode" in answer:
        sent = reply(answer)
        assert sent.status in {200, 304, 400, 404, 405, 413, 422}
        sent.text.encode("utf-8")
    else:  # so broken that it is no HTTP event any more
        assert answer["error"]["type"] == "request_invalid"
