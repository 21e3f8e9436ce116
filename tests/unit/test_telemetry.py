"""One JSON line an event, which is also its metrics, and never the caller's text."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handler.core.errors import TiankongError
from handler.core.observation import Observation
from handler.core.requests import parse_native
from handler.core.service import Service
from handler.telemetry import NAMESPACE, Telemetry
from tests.support import embedded
from tests.support.doubles import FixedDeadline

CANARY = "金丝雀xyzzy"


@pytest.fixture
def telemetry() -> Telemetry:
    """Telemetry of a function that has just started."""
    started = Telemetry(function_name="fill", level="INFO")
    started.initialised(init_ms={"total": 812.345, "session": 300.0}, cpu=("x86_64", "avx2"))
    return started


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """Return what was written since the last look, each line read as JSON."""
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def observation(**facts: Any) -> Observation:
    """Return what was noted of an event."""
    return Observation(**{"kind": "direct", "request_id": "id-1", **facts})


def test_event_is_one_line_of_valid_embedded_metrics(telemetry: Telemetry, capsys: pytest.CaptureFixture[str]) -> None:
    """CloudWatch finds every declared metric as a number at the top level, and the dimension as a string."""
    telemetry.event(observation(texts=3, passes=2, cache_hits=1, total_ms=12.34567))
    output = capsys.readouterr().out
    line = json.loads(output)
    [declared] = line["_aws"]["CloudWatchMetrics"]

    assert output.count("\n") == 1
    assert declared["Namespace"] == NAMESPACE
    assert declared["Dimensions"] == [["FunctionName"]]
    assert line["FunctionName"] == "fill"
    assert isinstance(line["_aws"]["Timestamp"], int)
    assert len(declared["Metrics"]) <= 100
    for metric in declared["Metrics"]:
        assert metric["Unit"] in {"Count", "Milliseconds"}
        assert type(line[metric["Name"]]) in {int, float}
    assert (line["Texts"], line["Passes"], line["CacheHits"], line["Latency"]) == (3, 2, 1, 12.346)


def test_event_tells_a_cold_start_and_the_processor_once(
    telemetry: Telemetry, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first line of an environment counts the cold start, its parts and the processor; no later one does."""
    for _ in range(3):
        telemetry.event(observation())
    first, *later = lines(capsys)

    assert (
        first["ColdStarts"],
        first["cold_start"],
        first["cpu"],
        first["init_ms"],
    ) == (1, True, ["x86_64", "avx2"], {"total": 812.3, "session": 300.0})
    assert all((line["ColdStarts"], line["cold_start"]) == (0, False) for line in later)
    assert all("cpu" not in line and "init_ms" not in line for line in later)


@pytest.mark.parametrize(
    ("facts", "faults", "bad_requests"),
    [
        ({}, 0, 0),
        ({"error_type": "mask_missing"}, 0, 1),
        ({"error_type": "internal", "faulty": True}, 1, 0),
    ],
)
def test_event_tells_our_faults_from_bad_requests(
    telemetry: Telemetry, capsys: pytest.CaptureFixture[str], facts: dict[str, Any], faults: int, bad_requests: int
) -> None:
    """An alarm on faults is not set off by callers."""
    telemetry.event(observation(**facts))
    [line] = lines(capsys)

    assert (faults, bad_requests) == (line["Faults"], line["BadRequests"])


def test_event_leaves_out_what_does_not_apply(telemetry: Telemetry, capsys: pytest.CaptureFixture[str]) -> None:
    """A direct event has no route and no status."""
    telemetry.event(observation())
    telemetry.event(observation(kind="http", route="/v1/fill-mask", status=200))
    direct, http = lines(capsys)

    assert {"route", "status", "error_type"}.isdisjoint(direct)
    assert (http["route"], http["status"]) == ("/v1/fill-mask", 200)


@pytest.mark.parametrize("level", ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"])
def test_notices_below_the_level_are_not_written_and_events_always_are(
    level: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A quiet log keeps its metrics."""
    order = ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]
    telemetry = Telemetry(function_name="fill", level=level)
    for each in order:
        telemetry.notice(each, "message", fact=1)
    telemetry.event(observation())
    *notices, event = lines(capsys)

    assert order[order.index(level) :] == [notice["level"] for notice in notices]
    assert event["message"] == "event"


def raised(depth: int = 0) -> BaseException:
    """Return an error with a cause, both with the caller's text in their messages."""
    try:
        try:
            raise ValueError(CANARY)
        except ValueError as cause:
            raise KeyError(f"{CANARY} {depth}") from cause
    except KeyError as error:
        return error


def test_fault_tells_where_and_not_what(telemetry: Telemetry, capsys: pytest.CaptureFixture[str]) -> None:
    """Types and lines of code of the error and its cause are enough to find it; its message may quote the input."""
    telemetry.fault(raised(), "id-1")
    output = capsys.readouterr().out
    line = json.loads(output)

    assert CANARY not in output
    assert "\\u91d1" not in output
    assert [error["type"] for error in line["errors"]] == ["KeyError", "ValueError"]
    assert all(re.search(r"test_telemetry\.py:\d+ raised", error["at"][-1]) for error in line["errors"])
    assert (line["level"], line["request_id"]) == ("ERROR", "id-1")


def test_fault_of_a_circle_of_causes_ends(telemetry: Telemetry, capsys: pytest.CaptureFixture[str]) -> None:
    """Two errors that name each other as their cause make one line."""
    first, second = ValueError("a"), KeyError("b")
    first.__cause__, second.__cause__ = second, first
    telemetry.fault(first, "id-1")

    assert len(lines(capsys)) == 1


SERVICE: Service = embedded.service()


@given(st.text(st.sampled_from("今天气真好的[MASK]abc"), max_size=30), st.booleans())
def test_lines_never_hold_the_callers_text(text: str, batch: bool) -> None:
    """Through success, error and batch, nothing of the text reaches what is noted of it."""
    marked = f"{CANARY}{text}[MASK]{CANARY}" if len(text) % 2 else f"{CANARY}{text}"
    noted = observation()
    try:
        request = parse_native({"texts": [marked, CANARY]} if batch else {"text": marked}, SERVICE.limits)
        noted.take(SERVICE.answer(request, FixedDeadline()))
    except TiankongError as error:
        noted.error_type = f"{error.code} {error}"

    assert "xyzzy" not in repr(noted)
