"""Queue batches: each record on its own, and nothing lost."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from handler.adapters.onnx_model import OnnxMaskedLanguageModel
from handler.core.errors import InferenceError
from handler.core.types import FloatArray, MaskedSequence
from tests.functional.conftest import FunctionFactory
from tests.support.events import TEXT, Context, queue_batch, steady
from tests.support.results_queue import RecordingResultsQueue

GOOD = {"text": TEXT}
BAD = {"text": "没有"}


def failures(answer: Any) -> list[str]:
    """Return the message ids that a partial batch response names."""
    assert set(answer) == {"batchItemFailures"}
    return [item["itemIdentifier"] for item in answer["batchItemFailures"]]


def test_answers_go_to_the_results_queue_in_order(start: FunctionFactory) -> None:
    """Each message names its record and its request and carries the direct event's answer."""
    results = RecordingResultsQueue()
    function = start(results_queue=results)
    payloads = [GOOD, {"text": "明天[MASK]", "request_id": "mine"}, {"inputs": TEXT}, {"texts": [TEXT, "没有"]}]

    assert failures(function(queue_batch(payloads), Context())) == []

    assert [(message["message_id"], message["request_id"]) for message in results.messages] == [
        ("m0", "m0"),
        ("m1", "mine"),
        ("m2", "m2"),
        ("m3", "m3"),
    ]
    assert all(set(message) == {"message_id", "request_id", "answer"} for message in results.messages)
    direct = [function(payload, Context()) for payload in payloads]
    assert [steady(message["answer"]) for message in results.messages] == [steady(answer) for answer in direct]
    assert results.messages[1]["answer"]["request_id"] == "mine"


def test_answers_warm_the_cache_without_a_results_queue(start: FunctionFactory) -> None:
    """Where no results queue is set, a batch prepares the direct answers."""
    function = start(max_text_chars=998)  # a function of its own: nothing is cached yet

    assert failures(function(queue_batch([GOOD]), Context())) == []

    assert function(GOOD, Context())["results"][0]["cached"] is True


@pytest.mark.parametrize(
    "poison", ["", "not JSON", "{", "{'text': '很[MASK]'}", '{"top_k": NaN}', "\ud800", "[" * 99_999]
)
def test_record_that_is_no_json_is_a_failed_item(poison: str, start: FunctionFactory) -> None:
    """It ends in the dead letters, with or without a results queue, and its neighbours are answered."""
    results = RecordingResultsQueue()
    batch = queue_batch([GOOD, poison, GOOD])

    assert failures(start(results_queue=results)(batch, Context())) == ["m1"]
    assert failures(start()(batch, Context())) == ["m1"]
    assert [message["message_id"] for message in results.messages] == ["m0", "m2"]


@pytest.mark.parametrize("body", [None, 5, ["x"]])
def test_record_without_a_text_as_body_is_a_failed_item(body: Any, start: FunctionFactory) -> None:
    """A hand-written record without a body takes nobody along."""
    batch = queue_batch([GOOD, GOOD])
    batch["Records"][0]["body"] = body

    assert failures(start()(batch, Context())) == ["m0"]


def test_bad_request_is_an_answer_where_a_results_queue_is_set(start: FunctionFactory) -> None:
    """Its sender learns what was wrong; the record is done."""
    results = RecordingResultsQueue()

    assert failures(start(results_queue=results)(queue_batch([BAD, GOOD]), Context())) == []

    error = results.messages[0]["answer"]["error"]
    assert (error["type"], error["request_id"]) == ("mask_missing", "m0")
    assert "results" in results.messages[1]["answer"]


def test_bad_request_is_a_failed_item_where_none_is_set(start: FunctionFactory) -> None:
    """With nobody to tell, the dead letters keep it."""
    assert failures(start()(queue_batch([BAD, GOOD, BAD]), Context())) == ["m0", "m2"]


def test_answer_that_the_results_queue_refuses_stays(start: FunctionFactory) -> None:
    """The record comes again; the others are done."""
    results = RecordingResultsQueue(refuses=lambda message: message["message_id"] == "m1")

    assert failures(start(results_queue=results)(queue_batch([GOOD, GOOD, GOOD]), Context())) == ["m1"]


def test_message_that_comes_twice_is_answered_twice(start: FunctionFactory) -> None:
    """A queue delivers at least once; two records of one id are two answers, and one failure is enough."""
    results = RecordingResultsQueue()
    bodies = [GOOD, {"text": "明天[MASK]"}, "no JSON", "no JSON"]
    batch = queue_batch(bodies, ["same", "same", "poison", "poison"])

    assert failures(start(results_queue=results)(batch, Context())) == ["poison"]
    assert [message["message_id"] for message in results.messages] == ["same", "same"]
    assert [message["answer"]["results"][0]["text"] for message in results.messages] == [TEXT, "明天[MASK]"]


def test_record_without_an_id_is_answered(start: FunctionFactory) -> None:
    """A hand-written record is named by its place."""
    results = RecordingResultsQueue()
    batch = queue_batch([GOOD, GOOD])
    for record in batch["Records"]:
        del record["messageId"]

    assert failures(start(results_queue=results)(batch, Context())) == []
    assert [message["message_id"] for message in results.messages] == ["0", "1"]


def test_too_little_time_leaves_records_in_the_queue(start: FunctionFactory) -> None:
    """A retry with more time may help, so nothing is answered with an error."""
    results = RecordingResultsQueue()

    assert failures(start(results_queue=results)(queue_batch([GOOD, BAD]), Context(remaining_ms=10)))[0] == "m0"
    assert all("results" not in message["answer"] for message in results.messages)


@pytest.mark.parametrize("error", [InferenceError, ZeroDivisionError])
def test_fault_of_one_record_is_its_own(
    error: type[Exception],
    start: FunctionFactory,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Whatever fails in one record, the others are answered, and the log names the one that stays."""
    function = start(cache_ttl_s=0)
    logits = OnnxMaskedLanguageModel.logits

    def sometimes(self: OnnxMaskedLanguageModel, sequences: Sequence[MaskedSequence]) -> list[FloatArray]:
        if any(len(sequence.ids) > 50 for sequence in sequences):
            raise error
        return logits(self, sequences)

    monkeypatch.setattr(OnnxMaskedLanguageModel, "logits", sometimes)

    answer = function(queue_batch([GOOD, {"text": TEXT + "好" * 60}, GOOD]), Context())

    notes = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert failures(answer) == ["m1"]
    assert next(note["records"] for note in notes if "records" in note).keys() == {"m1"}
    assert notes[-1]["Faults"] == 1


def test_log_line_of_a_batch_counts_all_its_texts(start: FunctionFactory, capsys: pytest.CaptureFixture[str]) -> None:
    """One line for the invocation, with the sums of its records."""
    start()(queue_batch([GOOD, {"texts": [TEXT, TEXT]}]), Context())

    [line] = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert (line["kind"], line["Texts"], line["Faults"]) == ("queue", 3, 0)


def test_answer_beyond_the_queues_message_size_is_an_error_answer(start: FunctionFactory) -> None:
    """SQS carries 1 MiB: an answer that a caller could have is one that a queue cannot carry."""
    results = RecordingResultsQueue()
    payload = {"text": "好" * 9_000 + "[MASK]", "top_k": 60, "joint": "off"}

    assert failures(start(results_queue=results)(queue_batch([payload]), Context())) == []
    assert results.messages[0]["answer"]["error"]["type"] == "answer_too_large"
    assert "results" in start()(payload, Context())
