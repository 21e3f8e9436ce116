"""The results queue: answers to queued requests, handed to SQS."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from handler.core.errors import ResultsQueueError

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

MAX_MESSAGE_BYTES: Final = 1024 * 1024  # of one message, and of one batch together (SQS quota)
_BATCH: Final = 10


def create_client() -> SQSClient:
    """Return an SQS client. Imports boto3 here, so that a function without a results queue never pays for it.

    Raises:
        ResultsQueueError: there is no boto3 or no region.
    """
    try:
        import boto3
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError
    except ImportError as error:
        raise ResultsQueueError(problem="boto3 is not installed") from error
    try:
        return boto3.session.Session().client("sqs", config=Config(connect_timeout=2, read_timeout=5))
    except (BotoCoreError, ValueError) as error:
        raise ResultsQueueError(problem=f"no SQS client ({type(error).__name__})") from error


class SqsResultsQueue:
    """Sends messages in batches, within SQS's limits of number and size.

    Args:
        client: an SQS client.
        url: of the queue.
    """

    def __init__(self, client: SQSClient, url: str) -> None:
        self._client = client
        self._url = url

    def send(self, messages: Mapping[str, str]) -> Mapping[str, str]:
        """See handler.core.ports.ResultsQueue."""
        from botocore.exceptions import BotoCoreError, ClientError

        refused: dict[str, str] = {}
        for batch in _batches(messages):
            # SQS allows only 80 letters, digits, - and _ in an entry's own id, so entries are numbered.
            entries: list[Any] = [{"Id": str(at), "MessageBody": body} for at, (_, body) in enumerate(batch)]
            try:
                answer = self._client.send_message_batch(QueueUrl=self._url, Entries=entries)
            except (BotoCoreError, ClientError) as error:
                refused |= {message_id: type(error).__name__ for message_id, _ in batch}
                continue
            refused |= {batch[int(entry["Id"])][0]: entry["Code"] for entry in answer.get("Failed", [])}
        return refused


def _batches(messages: Mapping[str, str]) -> Iterator[list[tuple[str, str]]]:
    batch: list[tuple[str, str]] = []
    size = 0
    for message_id, body in messages.items():
        length = len(body.encode())
        if batch and (len(batch) == _BATCH or size + length > MAX_MESSAGE_BYTES):
            yield batch
            batch, size = [], 0
        batch.append((message_id, body))
        size += length
    if batch:
        yield batch
