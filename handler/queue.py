"""A batch of queued requests: each record on its own, so that a poisoned one never takes its neighbours along."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from handler.core import answers
from handler.core.errors import (
    AnswerTooLargeError,
    InvalidInputError,
    MalformedRequestError,
    TiankongError,
    TooLargeError,
)
from handler.core.observation import Observation
from handler.core.ports import Deadline, ResultsQueue
from handler.core.requests import parse_direct, read_json, request_id_of
from handler.core.service import FillMaskService
from handler.telemetry import Telemetry

MAX_RESULT_BYTES: Final = 1024 * 1024  # SQS takes no larger message


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueWorker:
    """Answers the records of an SQS event source and says which must come again.

    ``results`` is where answers go; without it they only warm the caches.
    """

    service: FillMaskService
    results: ResultsQueue | None
    telemetry: Telemetry

    def run(
        self, records: Sequence[Mapping[str, Any]], deadline: Deadline, observation: Observation
    ) -> dict[str, list[dict[str, str]]]:
        """Answer a batch.

        Returns:
            SQS's partial batch response: the ids of the records that stay in the queue and, by its redrive policy, end
            in the dead letters. A record that is no JSON is one of them; so is a bad request where there is no results
            queue to send its error to, and whatever a retry may help.
        """
        failed: dict[str, str] = {}
        messages: dict[str, str] = {}
        for at, record in enumerate(records):
            message_id = str(record.get("messageId") or at)
            try:
                messages[message_id] = self._message(message_id, record, deadline, observation)
            except TiankongError as error:
                failed[message_id] = error.code
            except Exception as error:  # noqa: BLE001 - one record's fault must not fail the batch
                self.telemetry.fault(error, observation.request_id)
                failed[message_id] = TiankongError.code
        if self.results is not None and messages:
            failed.update(self.results.send(messages))
        if failed:
            observation.error_type, observation.faulty = next(iter(failed.values())), True
            self.telemetry.notice("WARNING", "records stay in the queue", records=failed)
        return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in failed]}

    def _message(self, message_id: str, record: Mapping[str, Any], deadline: Deadline, observation: Observation) -> str:
        """Return what goes to the results queue for one record."""
        body = record.get("body")
        text = body if isinstance(body, str) else ""
        payload = read_json(text.encode("utf-8", "surrogatepass"), self.service.limits)
        request_id = request_id_of(payload) or message_id
        try:
            request = parse_direct(payload, self.service.limits)
            answer = self.service.fill(request, deadline)
            observation.take(answer)
            message = _envelope(message_id, request_id, answers.render(answer, request, request_id))
            if len(message.encode()) > MAX_RESULT_BYTES and self.results is not None:
                raise AnswerTooLargeError(limit=MAX_RESULT_BYTES)
        except MalformedRequestError:
            raise
        except (InvalidInputError, TooLargeError) as error:
            if self.results is None:
                raise
            return _envelope(message_id, request_id, answers.render_error(error, request_id))
        return message


def _envelope(message_id: str, request_id: str, answer: object) -> str:
    return json.dumps({"message_id": message_id, "request_id": request_id, "answer": answer}, ensure_ascii=False)
