"""The results queue as SQS itself behaves: limits of a batch, of a message and of its characters."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from moto import mock_aws

from handler.adapters.sqs_results import SqsResultsQueue
from tests.functional.conftest import FunctionFactory
from tests.support.events import TEXT, Context, queue_batch
from tests.support.results_queue import RecordingResultsQueue

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


@pytest.fixture
def sqs(monkeypatch: pytest.MonkeyPatch) -> Iterator[SQSClient]:
    """An SQS that lives in this process."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    with mock_aws():
        yield boto3.client("sqs", region_name="eu-central-1")


def received(sqs: SQSClient, url: str) -> list[Any]:
    """Take everything out of a queue."""
    messages: list[Any] = []
    while batch := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", []):
        messages += [json.loads(message["Body"]) for message in batch]
        for message in batch:
            sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
    return messages


def test_more_answers_than_one_send_takes_all_arrive(start: FunctionFactory, sqs: SQSClient) -> None:
    """SQS takes ten messages at once; an event source may deliver many more."""
    url = sqs.create_queue(QueueName="results")["QueueUrl"]
    function = start(results_queue=SqsResultsQueue(sqs, url))
    ids = [f"消息 {number}/?!" for number in range(25)]

    assert function(queue_batch([{"text": TEXT}] * 25, ids), Context()) == {"batchItemFailures": []}

    assert sorted(message["message_id"] for message in received(sqs, url)) == sorted(ids)


ODD_CHARACTERS = ["\x00", "\x1b", "\x7f", "\ufffe", "\uffff", "\U0001fffe", "\u2028", "🐶"]


@pytest.mark.parametrize("character", ODD_CHARACTERS)
def test_message_has_only_characters_that_sqs_takes(character: str, start: FunctionFactory) -> None:
    """SQS refuses a whole send for one character outside the list of its SendMessage; ours has none."""
    results = RecordingResultsQueue()

    start(results_queue=results)(queue_batch([{"text": f"今天{character}很[MASK]"}]), Context())

    [text] = results.texts
    assert re.fullmatch("[\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]+", text)


@pytest.mark.parametrize("character", ODD_CHARACTERS)
def test_odd_character_arrives_intact(character: str, start: FunctionFactory, sqs: SQSClient) -> None:
    """Whatever stands in a text comes back through the queue, and takes no neighbour along."""
    url = sqs.create_queue(QueueName="results")["QueueUrl"]
    function = start(results_queue=SqsResultsQueue(sqs, url))
    text = f"今天{character}很[MASK]"

    assert function(queue_batch([{"text": TEXT}, {"text": text}]), Context()) == {"batchItemFailures": []}

    messages = {message["message_id"]: message["answer"]["results"][0]["text"] for message in received(sqs, url)}
    assert messages == {"m0": TEXT, "m1": text}


def test_queue_that_does_not_exist_leaves_every_record(start: FunctionFactory, sqs: SQSClient) -> None:
    """A deleted results queue loses no answer: the records stay."""
    url = sqs.create_queue(QueueName="results")["QueueUrl"]
    sqs.delete_queue(QueueUrl=url)
    function = start(results_queue=SqsResultsQueue(sqs, url))

    answer = function(queue_batch([{"text": TEXT}, "no JSON"]), Context())

    assert [item["itemIdentifier"] for item in answer["batchItemFailures"]] == ["m0", "m1"]
