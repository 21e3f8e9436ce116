"""Builders of what Lambda is invoked with, and the reading of what it answers."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

TEXT: Final = "今天天气很[MASK]。"
ORIGIN: Final = "https://app.example"
PLAIN_STAGE: Final = "$default"

Event = dict[str, Any]
_VOLATILE: Final = frozenset({"request_id", "timing_ms", "cached"})


class Context:
    """What Lambda passes beside the event, as far as the function may read it. Its clock stands still.

    Args:
        remaining_ms: of the invocation's time, whenever it is asked for.
        request_id: of the invocation.
    """

    def __init__(self, remaining_ms: float = math.inf, request_id: str = "invocation-1") -> None:
        self.aws_request_id = request_id
        self._remaining_ms = remaining_ms

    def get_remaining_time_in_millis(self) -> float:
        """Return the same at every call."""
        return self._remaining_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An HTTP answer as the caller sees it; names of headers in lower case."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> Any:
        """The body, read as JSON without the constants that JSON has not."""
        return json.loads(self.text, parse_constant=lambda name: 1 / 0)


def reply(answer: Any) -> Reply:
    """Read what the function gives API Gateway or a load balancer."""
    headers = {name.lower(): value for name, value in (answer.get("headers") or {}).items()}
    headers |= {name.lower(): values[0] for name, values in (answer.get("multiValueHeaders") or {}).items()}
    body = answer.get("body") or ""
    text = base64.b64decode(body).decode() if answer.get("isBase64Encoded") else body
    return Reply(status=answer["statusCode"], headers=headers, text=text)


def steady(value: Any) -> Any:
    """Return an answer without what differs from one invocation to the next."""
    if isinstance(value, dict):
        return {name: steady(part) for name, part in value.items() if name not in _VOLATILE}
    if isinstance(value, list):
        return [steady(part) for part in value]
    return value


def encoded(body: bytes | str) -> str:
    """Return a body as API Gateway sends binary ones."""
    return base64.b64encode(body if isinstance(body, bytes) else body.encode()).decode()


def http_v2(
    path: str = "/v1/fill-mask",
    body: Any = None,
    *,
    method: str = "POST",
    stage: str = PLAIN_STAGE,
    headers: Mapping[str, Any] | None = None,
    is_base64: bool = False,
    host: str = "a2.execute-api.eu-central-1.amazonaws.com",
) -> Event:
    """Build an event of an HTTP API, payload format 2.0."""
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {"content-type": "application/json", "host": host, **(headers or {})},
        "requestContext": {
            "stage": stage,
            "requestId": "gateway-2",
            "domainName": host,
            "http": {
                "method": method,
                "path": path,
                "protocol": "HTTP/1.1",
                "sourceIp": "203.0.113.9",
                "userAgent": "tests",
            },
        },
        "body": _text(body),
        "isBase64Encoded": is_base64,
    }


def function_url(path: str = "/v1/fill-mask", body: Any = None, *, method: str = "POST") -> Event:
    """Build an event of a function URL: format 2.0 under its own host."""
    return http_v2(path, body, method=method, host="x1.lambda-url.eu-central-1.on.aws")


def rest_v1(
    path: str = "/v1/fill-mask",
    body: Any = None,
    *,
    method: str = "POST",
    stage: str = "prod",
    headers: Mapping[str, Any] | None = None,
    is_base64: bool = False,
) -> Event:
    """Build an event of a REST API: the stage stands in the context's path only."""
    return {
        "resource": "/{proxy+}",
        "path": path,
        "httpMethod": method,
        "headers": {
            "Content-Type": "application/json",
            "Host": "a1.execute-api.eu-central-1.amazonaws.com",
            "X-Forwarded-Proto": "https",
            "X-Forwarded-Port": "443",
            **(headers or {}),
        },
        "multiValueHeaders": None,
        "queryStringParameters": None,
        "multiValueQueryStringParameters": None,
        "pathParameters": {"proxy": path.lstrip("/")},
        "requestContext": {
            "stage": stage,
            "path": f"/{stage}{path}",
            "requestId": "gateway-1",
            "httpMethod": method,
            "identity": {"sourceIp": "203.0.113.9"},
        },
        "body": _text(body),
        "isBase64Encoded": is_base64,
    }


def payload_1_0(
    path: str = "/v1/fill-mask", body: Any = None, *, method: str = "POST", stage: str = PLAIN_STAGE
) -> Event:
    """Build an event of an HTTP API that speaks payload format 1.0: a named stage stands in the path itself."""
    event = rest_v1(path, body, method=method, stage=stage)
    event["version"] = "1.0"
    event["requestContext"]["path"] = path
    event["multiValueHeaders"] = {name: [value] for name, value in event["headers"].items()}
    return event


def load_balancer(
    path: str = "/v1/fill-mask", body: Any = None, *, method: str = "POST", multi_value: bool = False
) -> Event:
    """Build an event of an application load balancer, with its multi-value headers on or off."""
    headers = {
        "host": "lb.example",
        "content-type": "application/json",
        "x-forwarded-for": "203.0.113.9",
        "x-forwarded-proto": "http",
        "x-forwarded-port": "80",
    }
    event: Event = {
        "requestContext": {"elb": {"targetGroupArn": "arn:aws:elasticloadbalancing:eu-central-1:1:targetgroup/t/1"}},
        "httpMethod": method,
        "path": path,
        "body": _text(body) or "",
        "isBase64Encoded": False,
    }
    if multi_value:
        event["multiValueQueryStringParameters"] = {}
        event["multiValueHeaders"] = {name: [value] for name, value in headers.items()}
    else:
        event["queryStringParameters"] = {}
        event["headers"] = headers
    return event


def queue_batch(bodies: Sequence[Any], message_ids: Sequence[str] | None = None) -> Event:
    """Build an SQS batch; bodies that are no strings become their JSON."""
    ids = message_ids or [f"m{at}" for at in range(len(bodies))]
    return {
        "Records": [
            {
                "messageId": message_id,
                "receiptHandle": "h",
                "body": body if isinstance(body, str) else json.dumps(body),
                "attributes": {"ApproximateReceiveCount": "1"},
                "messageAttributes": {},
                "eventSource": "aws:sqs",
                "eventSourceARN": "arn:aws:sqs:eu-central-1:123456789012:texts",
                "awsRegion": "eu-central-1",
            }
            for message_id, body in zip(ids, bodies, strict=True)
        ]
    }


def _text(body: Any) -> str | None:
    return body if isinstance(body, str) or body is None else json.dumps(body, ensure_ascii=False)
