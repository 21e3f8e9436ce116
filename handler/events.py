"""Sorts what the function is invoked with, and repairs what hand-written HTTP events get wrong.

Everything the rest of the code sees is complete: an HTTP event has every key that Mangum reads.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import uuid
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Final

from handler.core.requests import DIRECT_FIELDS

BODY_IS_NO_BASE64: Final = "tiankong.body_is_no_base64"  # set in a repaired event; the HTTP door answers 400

_WARM_UP_SOURCES: Final = ("aws.events", "aws.scheduler", "serverless-plugin-warmup")


class Kind(Enum):
    """What an event is."""

    HTTP = "http"
    DIRECT = "direct"
    QUEUE = "queue"
    WARM_UP = "warm_up"
    OTHER = "other"


class ContextDeadline:
    """The deadline of a Lambda context; without one (a test, a terminal) time never runs out."""

    def __init__(self, context: object) -> None:
        self._remaining: Callable[[], float] = getattr(context, "get_remaining_time_in_millis", lambda: math.inf)

    def remaining_ms(self) -> float:
        """See handler.core.ports.Deadline."""
        return self._remaining()


def kind_of(event: object) -> Kind:
    """Sort an event by its shape."""
    if not isinstance(event, dict):
        return Kind.OTHER
    if event.get("source") in _WARM_UP_SOURCES or event.get("warmer") is True:
        return Kind.WARM_UP
    if _is_queue_batch(event):
        return Kind.QUEUE
    if _method(event) is not None:
        return Kind.HTTP
    if DIRECT_FIELDS & set(event):
        return Kind.DIRECT
    return Kind.OTHER


def _is_queue_batch(event: Mapping[str, Any]) -> bool:
    records = event.get("Records")
    return (
        isinstance(records, list)
        and bool(records)
        and all(isinstance(record, dict) and record.get("eventSource") == "aws:sqs" for record in records)
    )


def request_id(event: object, context: object) -> str:
    """Return the id that API Gateway gave the request, otherwise the invocation's, otherwise a new one."""
    given = _part(event, "requestContext").get("requestId")
    return _whole_characters(given or getattr(context, "aws_request_id", None) or uuid.uuid4())


def stage(event: object) -> str:
    """Return the stage that an HTTP event came through; empty for the default one."""
    name = _part(event, "requestContext").get("stage")
    return name if isinstance(name, str) and name != "$default" else ""


def outer_prefix(event: object) -> str:
    """Return what stood before the event's path in the address that the caller used: REST APIs take the stage off."""
    outer = outer_path(event)
    path = event.get("path") if isinstance(event, Mapping) else None
    if outer is None or not isinstance(path, str):
        return ""
    outer, path = outer.rstrip("/"), path.rstrip("/")
    return outer.removesuffix(path).rstrip("/") if outer.endswith(path) else ""


def outer_path(event: object) -> str | None:
    """Return the path that the caller used, where it is not the event's own: REST APIs tell it in the context."""
    path = _part(event, "requestContext").get("path")
    return path if isinstance(path, str) else None


def repaired(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return an HTTP event with every key that Mangum reads, of the type that it expects.

    Nulls become empty, header values become strings, an object as body becomes its JSON, and a body that cannot be
    decoded is marked, so that the caller gets a 400 instead of an exception. Queries and cookies, which no route
    reads, are left out: what is not there cannot be malformed.
    """
    whole = dict(event)
    headers = _headers(event)
    whole["headers"] = headers
    whole["body"], whole["isBase64Encoded"], bad = _body(event.get("body"), event.get("isBase64Encoded"))
    if bad:
        whole[BODY_IS_NO_BASE64] = True
    for name in ("cookies", "queryStringParameters", "multiValueQueryStringParameters"):
        whole.pop(name, None)
    context = dict(_part(event, "requestContext"))
    for name in ("path", "stage"):
        if isinstance(context.get(name), str):
            context[name] = _whole_characters(context[name])
    method = (_method(event) or "").upper()
    if isinstance(event.get("httpMethod"), str):
        whole["path"] = _path(event.get("path"))
        whole["httpMethod"] = method
        if isinstance(event.get("multiValueHeaders"), Mapping):  # a load balancer wants its answer in the same form
            whole["multiValueHeaders"] = {name: [value] for name, value in headers.items()}
        else:
            whole.pop("multiValueHeaders", None)
        if "elb" not in context:
            whole.setdefault("resource", "/{proxy+}")
            whole.pop("version", None)  # an HTTP API that speaks format 1.0: a REST event in all but this
        context["identity"] = _part(context, "identity")
    else:
        http = _part(context, "http")
        path = _path(http.get("path") or event.get("rawPath"))
        context.pop("elb", None)
        context["http"] = {**http, "method": method, "path": path, "sourceIp": str(http.get("sourceIp") or "")}
        whole["version"] = "2.0"
        whole["rawQueryString"] = ""
    whole["requestContext"] = context
    return whole


def _method(event: Mapping[str, Any]) -> str | None:
    """Return the HTTP method of an event of any format; None for one that is no HTTP event.

    Hand-written events of format 2.0 often lack the request context. Their route key may tell the method; otherwise a
    body does.
    """
    for method in (event.get("httpMethod"), _part(_part(event, "requestContext"), "http").get("method")):
        if isinstance(method, str):
            return method
    if not isinstance(event.get("rawPath"), str):
        return None
    from_route, _, path = str(event.get("routeKey") or "").partition(" ")
    return from_route if path else "POST" if event.get("body") else "GET"


def _path(path: object) -> str:
    return "/" + _whole_characters(path or "").removeprefix("/")


def _body(body: object, encoded: object) -> tuple[str, bool, bool]:
    """Return the body as base64, that it is, and whether it could not be read."""
    if body is None or body == "":
        return "", False, False
    if isinstance(body, str) and encoded in (True, "true"):
        try:
            base64.b64decode(body.encode("ascii", "replace"), validate=True)
        except (binascii.Error, ValueError):
            return "", False, True
        return body, True, False
    # Half a surrogate pair is no UTF-8. Passed on as it is, it is found, and refused, where bodies are read.
    text = body if isinstance(body, str) else _json(body)
    return base64.b64encode(text.encode("utf-8", "surrogatepass")).decode("ascii"), True, False


def _json(body: object) -> str:
    try:
        return json.dumps(body)
    except (RecursionError, TypeError, ValueError):
        return ""  # nested too deeply, most likely: refused like such a body sent as text


def _headers(event: Mapping[str, Any]) -> dict[str, str]:
    """Return one string for each header, by its lower-case name, without those that Mangum could not read."""
    clean: dict[str, str] = {}
    for name, value in [*_part(event, "headers").items(), *_part(event, "multiValueHeaders").items()]:
        values = [part for part in (value if isinstance(value, list) else [value]) if part is not None]
        if values:
            clean[_whole_characters(name).lower()] = ", ".join(map(_whole_characters, values))
    if not clean.get("x-forwarded-port", "80").isdecimal():
        del clean["x-forwarded-port"]
    host = clean.get("host", "")
    if ":" in host and (host.count(":") > 1 or not host.rpartition(":")[2].isdecimal()):
        del clean["host"]
    return clean


def _whole_characters(value: object) -> str:
    """Return the value as text that can be sent: half of a surrogate pair becomes a question mark."""
    return str(value).encode("utf-8", "replace").decode("utf-8")


def _part(value: object, name: str) -> Mapping[str, Any]:
    part = value.get(name) if isinstance(value, Mapping) else None
    return part if isinstance(part, Mapping) else {}
