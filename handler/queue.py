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
from handler.core.service import Service
from handler.telemetry import Telemetry

MAX_RESULT_BYTES: Final = 1024 * 1024  # SQS takes no larger message


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueWorker:
    """Answers the records of an SQS event source and says which must come again.

    ``results`` is where answers go; without it they only warm the caches.
    """

    service: Service
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
        # By place in the batch: a queue delivers at least once, so the same message may come twice in one batch.
        message_ids = [str(record.get("messageId") or at) for at, record in enumerate(records)]
        failed: dict[int, str] = {}
        messages: dict[str, str] = {}
        for at, (message_id, record) in enumerate(zip(message_ids, records, strict=True)):
            try:
                messages[str(at)] = self._message(message_id, record, deadline, observation)
            except TiankongError as error:
                failed[at] = error.code
            except Exception as error:  # noqa: BLE001 - one record's fault must not fail the batch
                self.telemetry.fault(error, observation.request_id)
                failed[at] = TiankongError.code
        if self.results is not None and messages:
            failed |= {int(at): problem for at, problem in self.results.send(messages).items()}
        problems = {message_ids[at]: failed[at] for at in sorted(failed)}
        if problems:
            observation.error_type, observation.faulty = next(iter(problems.values())), True
            self.telemetry.notice("WARNING", "records stay in the queue", records=problems)
        return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in problems]}

    def _message(self, message_id: str, record: Mapping[str, Any], deadline: Deadline, observation: Observation) -> str:
        """Return what goes to the results queue for one record."""
        body = record.get("body")
        text = body if isinstance(body, str) else ""
        payload = read_json(text.encode("utf-8", "surrogatepass"), self.service.limits)
        request_id = request_id_of(payload) or message_id
        try:
            request = parse_direct(payload, self.service.limits)
            answer = self.service.answer(request, deadline)
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
    text = json.dumps({"message_id": message_id, "request_id": request_id, "answer": answer}, ensure_ascii=False)
    # SQS refuses a whole batch of messages for one of these two code points; escaped they are the same JSON.
    return text.replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff")
