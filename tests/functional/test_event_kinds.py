"""Every kind of event that Lambda delivers, through the one door."""

from __future__ import annotations

from typing import Any

import pytest

from handler.entry import Function, lambda_handler
from tests.support.events import (
    TEXT,
    Context,
    Event,
    encoded,
    function_url,
    http_v2,
    load_balancer,
    payload_1_0,
    queue_batch,
    reply,
    rest_v1,
    steady,
)

BODY = {"text": TEXT}
HTTP_EVENTS: dict[str, Event] = {
    "HTTP API": http_v2(body=BODY),
    "HTTP API, format 1.0": payload_1_0(body=BODY),
    "REST API": rest_v1(body=BODY),
    "function URL": function_url(body=BODY),
    "load balancer": load_balancer(body=BODY),
    "load balancer with multi-value headers": load_balancer(body=BODY, multi_value=True),
    "base64 body": http_v2(body=encoded('{"text":"今天天气很[MASK]。"}'), is_base64=True),
}
WARM_UPS: dict[str, Event] = {
    "schedule": {
        "version": "0",
        "id": "1",
        "detail-type": "Scheduled Event",
        "source": "aws.events",
        "time": "2026-01-01T00:00:00Z",
        "resources": [],
        "detail": {},
    },
    "scheduler": {"source": "aws.scheduler", "detail-type": "Scheduled Event", "detail": "{}"},
    "serverless-plugin-warmup": {"source": "serverless-plugin-warmup"},
    "lambda-warmer": {"warmer": True, "concurrency": 3},
}
OTHERS: dict[str, Any] = {
    "nothing": None,
    "list": [],
    "string": "今天天气很[MASK]。",
    "number": 5,
    "empty": {},
    "SNS": {"Records": [{"EventSource": "aws:sns", "Sns": {"Message": '{"text": "很[MASK]"}'}}]},
    "S3": {"Records": [{"eventSource": "aws:s3", "s3": {"object": {"key": "a.txt"}}}]},
    "DynamoDB stream": {"Records": [{"eventSource": "aws:dynamodb", "dynamodb": {}}]},
    "no records": {"Records": []},
    "records of two kinds": {"Records": [{"eventSource": "aws:sqs", "body": "{}"}, {"eventSource": "aws:s3"}]},
    "EventBridge": {"version": "0", "source": "shop.orders", "detail-type": "order", "detail": {"text": "很[MASK]"}},
    "WebSocket": {"requestContext": {"routeKey": "$connect", "connectionId": "c1", "stage": "prod"}},
    "unhashable source": {"source": ["aws.events"]},
    "not a warmer": {"warmer": "yes"},
    "keys that are no strings": {1: 2},
}


def refuse_to_load_a_model() -> Any:
    """Stand for a service in tests whose claim is that none is needed."""
    raise AssertionError("this event must be answered without the model")


@pytest.mark.parametrize("name", HTTP_EVENTS)
def test_every_http_event_gets_the_direct_answer(name: str) -> None:
    """Whatever delivers a request, the answer is that of the direct event, as JSON text with clean Chinese."""
    answer = reply(lambda_handler(HTTP_EVENTS[name], Context()))

    assert answer.status == 200
    assert answer.headers["content-type"].startswith("application/json")
    assert steady(answer.json) == steady(lambda_handler(BODY, Context()))
    assert TEXT in answer.text


def test_load_balancer_gets_headers_in_the_form_that_it_sent() -> None:
    """A target group with multi-value headers ignores plain ones, and the other way round."""
    plain = lambda_handler(load_balancer(body=BODY), Context())
    multi = lambda_handler(load_balancer(body=BODY, multi_value=True), Context())

    assert "headers" in plain
    assert "multiValueHeaders" not in plain
    assert "headers" not in multi
    assert all(isinstance(values, list) for values in multi["multiValueHeaders"].values())


@pytest.mark.parametrize("name", WARM_UPS)
def test_warm_up_is_answered_without_inference(name: str, function: Function, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ping costs nothing, not even a look at the model."""
    monkeypatch.setattr(type(function.environment), "service", lambda environment: refuse_to_load_a_model())

    assert function(WARM_UPS[name], Context()) == {"warm": True}


@pytest.mark.parametrize("name", OTHERS)
def test_anything_else_gets_one_clear_error_object(name: str) -> None:
    """The error names every shape that the function takes, and carries the invocation's id."""
    answer = lambda_handler(OTHERS[name], Context(request_id="invocation-7"))

    assert set(answer) == {"error"}
    assert set(answer["error"]) == {"type", "message", "request_id"}
    assert answer["error"]["request_id"] == "invocation-7"
    for shape in ('"text"', '"texts"', '"inputs"', "API Gateway", "load balancer", "SQS", "warm-up"):
        assert shape in answer["error"]["message"]


def test_queue_batch_gets_a_partial_batch_response() -> None:
    """A batch without failures is answered with an empty list, which SQS reads as success."""
    assert lambda_handler(queue_batch([BODY]), Context()) == {"batchItemFailures": []}


def test_context_is_not_needed() -> None:
    """A test or a terminal may call the handler without any context."""
    answer = lambda_handler(BODY, None)

    assert answer["results"][0]["text"] == TEXT
    assert answer["request_id"]


@pytest.mark.parametrize("request_id", ["mine-1", "我的"])
def test_request_id_of_the_body_comes_back_through_every_door(request_id: str) -> None:
    """A caller's own id wins over those of the gateway and of the invocation."""
    body = {"text": TEXT, "request_id": request_id}

    assert lambda_handler(body, Context())["request_id"] == request_id
    assert reply(lambda_handler(http_v2(body=body), Context())).json["request_id"] == request_id


@pytest.mark.parametrize(
    ("event", "request_id"),
    [
        (http_v2(body=BODY), "gateway-2"),
        (rest_v1(body=BODY), "gateway-1"),
        (load_balancer(body=BODY), "invocation-1"),
    ],
)
def test_request_id_is_the_gateways_else_the_invocations(event: Event, request_id: str) -> None:
    """Without an id in the body, the one that stands in the gateway's own log is used."""
    assert reply(lambda_handler(event, Context())).json["request_id"] == request_id


@pytest.mark.parametrize("body", [{"text": "没有", "request_id": "mine-1"}, {"texts": 5, "request_id": "mine-1"}])
def test_request_id_comes_back_with_an_error(body: Event) -> None:
    """An id that can be read is kept however wrong the rest is."""
    direct = lambda_handler(body, Context())

    assert direct["error"]["request_id"] == "mine-1"
    assert reply(lambda_handler(http_v2(body=body), Context())).json["error"]["request_id"] == "mine-1"
