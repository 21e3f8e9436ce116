"""The results queue against moto: everything arrives whole, and what is not taken is named."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from botocore.stub import Stubber
from moto import mock_aws

from handler.adapters.sqs_results import MAX_MESSAGE_BYTES, SqsResultsQueue, create_client
from handler.core.errors import ResultsQueueError

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


@pytest.fixture
def client() -> Iterator[SQSClient]:
    """A client of moto."""
    with mock_aws():
        yield create_client()


@pytest.fixture
def url(client: SQSClient) -> str:
    """An empty queue."""
    return client.create_queue(QueueName="results", Attributes={"MaximumMessageSize": str(1024 * 1024)})["QueueUrl"]


def received(client: SQSClient, url: str) -> set[str]:
    """Return the bodies of all that is in the queue."""
    bodies: set[str] = set()
    for _ in range(60):
        messages = client.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", [])
        if not messages:
            break
        bodies.update(message["Body"] for message in messages)
    return bodies


@pytest.mark.parametrize("count", [0, 1, 10, 11, 35])
def test_send_delivers_every_message_whole(client: SQSClient, url: str, count: int) -> None:
    """More than a call takes is several calls; message ids of any spelling do, and Chinese arrives intact."""
    messages = {f"消息/{at} 的 id": f'{{"at": {at}, "text": "守株待兔 👍"}}' for at in range(count)}

    assert dict(SqsResultsQueue(client, url).send(messages)) == {}
    assert set(messages.values()) == received(client, url)


def test_send_keeps_each_call_within_the_size_that_sqs_takes(client: SQSClient, url: str) -> None:
    """Five messages of 0.4 MB each, of which two fit into a call, all arrive."""
    messages = {str(at): str(at) + "天" * 136_000 for at in range(5)}
    sizes: list[int] = []
    client.meta.events.register(
        "provide-client-params.sqs.SendMessageBatch",
        lambda params, **_: sizes.append(sum(len(entry["MessageBody"].encode()) for entry in params["Entries"])),
    )

    assert dict(SqsResultsQueue(client, url).send(messages)) == {}
    assert set(messages.values()) == received(client, url)
    assert len(sizes) == 3
    assert max(sizes) <= MAX_MESSAGE_BYTES


def test_send_names_all_messages_of_a_call_that_failed(client: SQSClient, url: str) -> None:
    """A queue that is gone takes nothing, and says so for each message."""
    client.delete_queue(QueueUrl=url)
    messages = {str(at): "{}" for at in range(12)}

    assert dict.fromkeys(messages, "QueueDoesNotExist") == dict(SqsResultsQueue(client, url).send(messages))


def test_send_names_the_messages_that_sqs_refused() -> None:
    """Where one entry of a call is refused, that one is named by our own id, with the code."""
    client = create_client()
    with Stubber(client) as stubber:
        stubber.add_response(
            "send_message_batch",
            {
                "Successful": [{"Id": "0", "MessageId": "x", "MD5OfMessageBody": "y"}],
                "Failed": [{"Id": "1", "SenderFault": True, "Code": "InternalError"}],
            },
        )

        refused = SqsResultsQueue(client, "https://queue.example/1/results").send({"first": "{}", "second": "{}"})

    assert dict(refused) == {"second": "InternalError"}


def test_create_client_reports_a_missing_region(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a region there is no queue to send to."""
    monkeypatch.delenv("AWS_DEFAULT_REGION")

    with pytest.raises(ResultsQueueError, match="NoRegionError"):
        create_client()


def test_create_client_reports_that_boto3_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """An image without boto3 cannot hand answers over."""
    monkeypatch.setitem(sys.modules, "boto3", None)

    with pytest.raises(ResultsQueueError, match="boto3"):
        create_client()
