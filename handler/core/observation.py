"""What is noted of one event: figures and kinds, never the caller's text."""

from __future__ import annotations

from dataclasses import dataclass

from handler.core.types import Answer


@dataclass(slots=True, kw_only=True)
class Observation:
    """Filled in while an event is answered; written as one log line at its end."""

    kind: str  # http, direct, queue, warm_up or other
    request_id: str
    route: str | None = None  # HTTP: the path without stage and base path, where it is one of ours
    status: int | None = None  # HTTP only
    error_type: str | None = None
    faulty: bool = False  # the fault is ours, not the caller's
    total_ms: float = 0.0
    texts: int = 0
    failed_texts: int = 0
    passes: int = 0
    cache_hits: int = 0
    cache_faults: int = 0
    encode_ms: float = 0.0
    run_ms: float = 0.0
    decode_ms: float = 0.0
    cache_ms: float = 0.0

    def take(self, answer: Answer) -> None:
        """Add the figures of an answer; a queue batch has several."""
        self.texts += len(answer.results)
        self.failed_texts += answer.failed_texts
        self.passes += answer.passes
        self.cache_hits += answer.cache_hits
        self.cache_faults += answer.cache_faults
        self.encode_ms += answer.timing.encode_ms
        self.run_ms += answer.timing.run_ms
        self.decode_ms += answer.timing.decode_ms
        self.cache_ms += answer.timing.cache_ms
