"""The same payload gives the same result, or the same type of error, through every door."""

from __future__ import annotations

import json
from typing import Any

import pytest

from handler.entry import Function
from tests.functional.conftest import FunctionFactory
from tests.functional.payloads import PAYLOADS
from tests.support.events import Context, http_v2, queue_batch, reply, steady
from tests.support.results_queue import RecordingResultsQueue


def through_http(function: Function, payload: Any) -> Any:
    """Send a payload to the route that speaks its shape."""
    path = "/v1/fill-mask"
    if isinstance(payload, dict) and "operation" in payload:
        path = f"/v1/{payload['operation']}"
        payload = {name: value for name, value in payload.items() if name != "operation"}
    elif isinstance(payload, dict) and "inputs" in payload:
        path = "/hf/fill-mask"
    return reply(function(http_v2(path, json.dumps(payload)), Context())).json


def through_queue(start: FunctionFactory, payload: Any) -> Any:
    """Send a payload as a record and take its answer from the results queue."""
    results = RecordingResultsQueue()
    failures = start(results_queue=results)(queue_batch([json.dumps(payload)]), Context())
    assert failures == {"batchItemFailures": []}
    [message] = results.messages
    return message["answer"]


def verdict(answer: Any) -> Any:
    """Return the error's type, or the answer without what differs by invocation."""
    if isinstance(answer, dict) and "error" in answer:
        return answer["error"]["type"]
    return steady(answer)


def unavailable(function: Function, payload: Any) -> set[str]:
    """Return the error of an operation that the artifact has no file for, where the payload names one."""
    artifact = function.environment.artifact
    assert artifact is not None
    corrects = isinstance(payload, dict) and payload.get("operation") == "correct"
    return {"operation_unavailable"} if corrects and "error_model.json" not in artifact.sha256 else set()


@pytest.mark.parametrize("name", PAYLOADS)
def test_doors_give_the_same_verdict(name: str, start: FunctionFactory) -> None:
    """Direct, HTTP and queue agree on every payload, and on the error that the table names."""
    payload, error_type = PAYLOADS[name]
    function = start()

    direct = verdict(function(payload, Context()))

    assert verdict(through_http(function, payload)) == direct
    assert verdict(through_queue(start, payload)) == direct
    assert (direct if isinstance(direct, str) else None) in {error_type, *unavailable(function, payload)}


def test_payloads_are_many_of_both_kinds() -> None:
    """The table holds at least 60 payloads, a third of them right and a third wrong."""
    wrong = sum(error_type is not None for _, error_type in PAYLOADS.values())

    assert len(PAYLOADS) >= 60
    assert len(PAYLOADS) / 3 <= wrong <= len(PAYLOADS) * 2 / 3


@pytest.mark.parametrize("payload", [{"operation": "fill-mask", "text": "很[MASK]"}, {"inputs": "很[MASK]"}])
def test_operation_and_inputs_are_no_fields_of_the_native_route(payload: Any, function: Function) -> None:
    """Over HTTP the route says what is wanted, so these two fields are unknown there."""
    answer = reply(function(http_v2(body=payload), Context()))

    assert (answer.status, answer.json["error"]["type"]) == (422, "request_invalid")


def test_operation_may_be_named_in_direct_and_queue_events(start: FunctionFactory) -> None:
    """Naming the operation changes nothing of the answer."""
    named = {"operation": "fill-mask", "text": "今天天气很[MASK]。"}

    direct = verdict(start()(named, Context()))

    assert direct == verdict(start()({"text": named["text"]}, Context()))
    assert direct == verdict(through_queue(start, named))


@pytest.mark.parametrize("operation", ["fill_mask", "", 5, ["fill-mask"]])
def test_unknown_operation_is_refused(operation: Any, start: FunctionFactory) -> None:
    """An operation that does not exist is a bad request at both doors that know operations."""
    payload = {"operation": operation, "text": "今天天气很[MASK]。"}

    assert verdict(start()(payload, Context())) == "request_invalid"
    assert verdict(through_queue(start, payload)) == "request_invalid"
