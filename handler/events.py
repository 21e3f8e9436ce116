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

BODY_IS_NO_BASE64: Final = "tiankong.body_is_no_base64"  # set in a repaired event; the HTTP door answers 400

_DIRECT_FIELDS: Final = frozenset({"text", "texts", "inputs", "operation"})
_WARM_UP_SOURCES: Final = frozenset({"aws.events", "serverless-plugin-warmup"})


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
    if "httpMethod" in event or isinstance(_part(_part(event, "requestContext"), "http").get("method"), str):
        return Kind.HTTP
    if _DIRECT_FIELDS & set(event):
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
    return str(given or getattr(context, "aws_request_id", None) or uuid.uuid4())


def stage(event: object) -> str:
    """Return the stage that an HTTP event came through; empty for the default one."""
    name = _part(event, "requestContext").get("stage")
    return name if isinstance(name, str) and name != "$default" else ""


def outer_prefix(event: object) -> str:
    """Return what stood before the event's path in the address that the caller used: REST APIs take the stage off."""
    outer = _part(event, "requestContext").get("path")
    path = event.get("path") if isinstance(event, dict) else None
    if isinstance(outer, str) and isinstance(path, str) and path != "/" and outer.endswith(path):
        return outer[: -len(path)].rstrip("/")
    if path == "/" and isinstance(outer, str):
        return outer.rstrip("/")
    return ""


def repaired(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return an HTTP event with every key that Mangum reads, of the type that it expects.

    Nulls become empty, header values become strings, an object as body becomes its JSON, and a body that cannot be
    decoded is marked, so that the caller gets a 400 instead of an exception.
    """
    whole = dict(event)
    context = dict(_part(event, "requestContext"))
    whole["headers"] = _strings(event.get("headers"))
    whole["body"], whole["isBase64Encoded"], bad = _body(event.get("body"), bool(event.get("isBase64Encoded")))
    if bad:
        whole[BODY_IS_NO_BASE64] = True
    if isinstance(context.get("http"), Mapping):
        http = dict(context["http"])
        path = http.get("path") or event.get("rawPath") or "/"
        context["http"] = {**http, "path": str(path), "sourceIp": str(http.get("sourceIp") or "")}
        whole["version"] = "2.0"
        whole["rawQueryString"] = str(event.get("rawQueryString") or "")
        if not isinstance(event.get("cookies"), list):
            whole.pop("cookies", None)
    else:
        multi = event.get("multiValueHeaders")
        whole["path"] = str(event.get("path") or "/")
        whole["httpMethod"] = str(event.get("httpMethod"))
        for name in ("queryStringParameters", "multiValueQueryStringParameters"):
            whole[name] = event.get(name) if isinstance(event.get(name), Mapping) else {}
        if isinstance(multi, Mapping):
            whole["multiValueHeaders"] = {
                str(name): [str(value) for value in values]
                for name, values in multi.items()
                if isinstance(values, list)
            }
        else:
            whole.pop("multiValueHeaders", None)
        if "elb" not in context:
            whole.setdefault("resource", "/{proxy+}")
            whole.pop("version", None)  # an HTTP API that speaks format 1.0: a REST event in all but this
        identity = context.get("identity")
        context["identity"] = identity if isinstance(identity, Mapping) else {}
    whole["requestContext"] = context
    return whole


def _body(body: object, encoded: bool) -> tuple[str, bool, bool]:
    """Return the body as base64, that it is, and whether it could not be read."""
    if body is None or body == "":
        return "", False, False
    if encoded:
        try:
            base64.b64decode(str(body).encode("ascii", "replace"), validate=True)
        except (binascii.Error, ValueError):
            return "", False, True
        return str(body), True, False
    text = body if isinstance(body, str) else json.dumps(body)
    # Half a surrogate pair is no UTF-8. Passed on as it is, it is found, and refused, where bodies are read.
    return base64.b64encode(text.encode("utf-8", "surrogatepass")).decode("ascii"), True, False


def _strings(headers: object) -> dict[str, str]:
    if not isinstance(headers, Mapping):
        return {}
    clean = {str(name): _header_value(value) for name, value in headers.items() if value is not None}
    port = next((value for name, value in clean.items() if name.lower() == "x-forwarded-port"), "80")
    if not port.isdecimal():
        clean = {name: value for name, value in clean.items() if name.lower() != "x-forwarded-port"}
    host = next((value for name, value in clean.items() if name.lower() == "host"), "")
    if ":" in host and (host.count(":") > 1 or not host.rpartition(":")[2].isdecimal()):
        clean = {name: value for name, value in clean.items() if name.lower() != "host"}
    return clean


def _header_value(value: object) -> str:
    return str(value).encode("utf-8", "replace").decode("utf-8")


def _part(value: object, name: str) -> Mapping[str, Any]:
    part = value.get(name) if isinstance(value, Mapping) else None
    return part if isinstance(part, Mapping) else {}
