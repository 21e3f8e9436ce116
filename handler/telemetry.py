"""One JSON line for each event, which is also its metrics (CloudWatch embedded metric format).

Our own few lines instead of aws-lambda-powertools, whose logger and metrics add 40 ms to every cold start and whose
batch utility another 40 (docs/decisions.md). The format: CloudWatch Logs, "Embedded metric format".
"""

from __future__ import annotations

import json
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from typing import Any, Final

from handler.core.observation import Observation

NAMESPACE: Final = "Tiankong"
_LEVELS: Final = {"DEBUG": 10, "INFO": 20, "WARNING": 30, "ERROR": 40, "CRITICAL": 50}
_METRICS: Final = (
    ("Events", "Count"),
    ("Faults", "Count"),  # answers that are our fault, whatever the transport makes of them
    ("BadRequests", "Count"),
    ("Texts", "Count"),
    ("Passes", "Count"),
    ("CacheHits", "Count"),
    ("CacheFaults", "Count"),
    ("ColdStarts", "Count"),
    ("Latency", "Milliseconds"),
    ("RunLatency", "Milliseconds"),
)
_DIRECTIVE: Final = {
    "Namespace": NAMESPACE,
    "Dimensions": [["FunctionName"]],
    "Metrics": [{"Name": name, "Unit": unit} for name, unit in _METRICS],
}
# The same in every line, so it is written once.
_DECLARED: Final = f'"CloudWatchMetrics": {json.dumps([_DIRECTIVE])}'


class Telemetry:
    """Writes lines to standard output, where Lambda collects them.

    Args:
        function_name: the dimension of the metrics.
        level: of notices; lines of events are always written, since alarms live on them.
    """

    def __init__(self, *, function_name: str, level: str) -> None:
        self._function_name = function_name
        self._level = _LEVELS[level]
        self._first: dict[str, Any] | None = None

    def initialised(self, *, init_ms: Mapping[str, float], cpu: Sequence[str]) -> None:
        """Take note of what belongs into the line of the first event only."""
        self._first = {
            "init_ms": {part: round(ms, 1) for part, ms in init_ms.items()},
            "cpu": list(cpu),
        }

    def event(self, observation: Observation) -> None:
        """Write the line of one event."""
        first, self._first = self._first, None
        metrics = {
            "Events": 1,
            "Faults": int(observation.faulty),
            "BadRequests": int(observation.error_type is not None and not observation.faulty),
            "Texts": observation.texts,
            "Passes": observation.passes,
            "CacheHits": observation.cache_hits,
            "CacheFaults": observation.cache_faults,
            "ColdStarts": int(first is not None),
            "Latency": round(observation.total_ms, 3),
            "RunLatency": round(observation.run_ms, 3),
        }
        properties = {
            "kind": observation.kind,
            "request_id": observation.request_id,
            "route": observation.route,
            "status": observation.status,
            "error_type": observation.error_type,
            "failed_texts": observation.failed_texts,
            "timing_ms": {
                "total": round(observation.total_ms, 3),
                "encode": round(observation.encode_ms, 3),
                "run": round(observation.run_ms, 3),
                "decode": round(observation.decode_ms, 3),
                "cache": round(observation.cache_ms, 3),
            },
            "cold_start": first is not None,
            **(first or {}),
        }
        facts = {
            **{name: value for name, value in properties.items() if value is not None},
            **metrics,
            "FunctionName": self._function_name,
        }
        self._write("INFO", "event", facts, more=f', "_aws": {{"Timestamp": {int(time.time() * 1000)}, {_DECLARED}}}')

    def notice(self, level: str, message: str, **facts: object) -> None:
        """Write a line about the service itself."""
        if _LEVELS[level] >= self._level:
            self._write(level, message, facts)

    def fault(self, error: BaseException, request_id: str) -> None:
        """Write where an unexpected error came from: types and lines of code. No message: it may quote the input."""
        chain: list[dict[str, object]] = []
        cause: BaseException | None = error
        while cause is not None and len(chain) < 5:
            frames = traceback.extract_tb(cause.__traceback__)
            chain.append(
                {
                    "type": type(cause).__name__,
                    "at": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames][-8:],
                }
            )
            cause = cause.__cause__ or cause.__context__
        self.notice("ERROR", "unexpected error", request_id=request_id, errors=chain)

    def _write(self, level: str, message: str, facts: Mapping[str, object], *, more: str = "") -> None:
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        line = json.dumps({"level": level, "time": now, "message": message, **facts}, default=str)
        sys.stdout.write(f"{line[:-1]}{more}}}\n")
        sys.stdout.flush()
