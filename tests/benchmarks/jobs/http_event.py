"""This project: an event of API Gateway's HTTP API, through Mangum and FastAPI."""

from __future__ import annotations

import json

from tests.benchmarks.jobs.direct_event import DirectEvent
from tests.benchmarks.worker import Candidates
from tests.support.events import http_v2


class HttpEvent(DirectEvent):
    """The same handler, asked by another door."""

    def __call__(self, text: str) -> Candidates:
        """Answer one text."""
        answer = self.handler(http_v2("/v1/fill-mask", {"text": text}), None)
        results = json.loads(answer["body"])["results"]
        return [(each["token"], each["score"]) for each in results[0]["masks"][0]["candidates"]]


load = HttpEvent
