"""The function under Lambda's own runtime client and its interface emulator."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from handler.entry import lambda_handler
from tests.support.emulator import Emulator
from tests.support.events import (
    TEXT,
    Context,
    function_url,
    http_v2,
    load_balancer,
    payload_1_0,
    queue_batch,
    reply,
    rest_v1,
    steady,
)

BODY = {"text": TEXT}
WARM_UP = b'{"warmer": true}'
MIXED = "𠮷野家の🍣とApple，“引号”\u200b很[MASK]，守株[MASK][MASK]"
EVENTS: dict[str, Any] = {
    "direct": BODY,
    "direct batch": {"texts": [TEXT, "没有", MIXED]},
    "direct inputs": {"inputs": TEXT},
    "direct bad request": {"text": "没有"},
    "mixed scripts": {"text": MIXED},
    "half a character": {"texts": ["\ud83d[MASK]", TEXT]},
    "HTTP API": http_v2(body=BODY),
    "HTTP API, format 1.0": payload_1_0(body=BODY),
    "REST API": rest_v1(body=BODY),
    "function URL": function_url(body=BODY),
    "load balancer": load_balancer(body=BODY),
    "load balancer with multi-value headers": load_balancer(body=BODY, multi_value=True),
    "HTTP error": http_v2(body={"text": "没有"}),
    "health": http_v2("/healthz", method="GET"),
    "docs": rest_v1("/docs", method="GET"),
    "queue": queue_batch([BODY, "not JSON", BODY]),
    "warm-up": {"warmer": True},
    "nothing": None,
    "anything else": {"source": "shop.orders", "detail": {}},
}


def settled(answer: Any) -> Any:
    """Return an answer of any kind without what differs by invocation."""
    if isinstance(answer, dict) and "statusCode" in answer:
        sent = reply(answer)
        body = steady(sent.json) if sent.headers["content-type"].startswith("application/json") else sent.text
        names = set(sent.headers) - {"server-timing", "content-length"}
        return sent.status, body, {name: sent.headers[name] for name in names}
    return steady(answer)


@pytest.fixture
def own_emulator(needs_emulator: None, tmp_path: Path) -> Any:
    """Start an emulator with variables of the test's own."""

    def start(**options: Any) -> Emulator:
        return Emulator(tmp_path / "log", **options)

    return start


@pytest.mark.parametrize("name", EVENTS)
def test_emulated_answer_equals_the_one_in_process(name: str, emulator: Emulator) -> None:
    """The runtime client changes nothing: the answers are equal as JSON, but for ids and times."""
    event = json.loads(json.dumps(EVENTS[name]))

    emulated = json.loads(emulator.invoke_raw(json.dumps(event).encode()))

    here = json.loads(json.dumps(lambda_handler(event, Context())))
    for answer in (emulated, here):  # the server's origin setting is the emulator's only
        headers = answer.get("headers") or answer.get("multiValueHeaders") if isinstance(answer, dict) else None
        (headers or {}).pop("vary", None)
    assert settled(emulated) == settled(here)


def test_chinese_arrives_intact(emulator: Emulator) -> None:
    """What goes in as UTF-8 comes out as UTF-8, character for character."""
    answer = emulator.invoke_raw(json.dumps({"text": MIXED}, ensure_ascii=False).encode())

    assert json.loads(answer)["results"][0]["text"] == MIXED
    body = json.loads(emulator.invoke_raw(json.dumps(http_v2(body={"text": MIXED})).encode()))["body"]
    assert MIXED in json.loads(body)["results"][0]["text"]


def test_init_happens_once(own_emulator: Any) -> None:
    """The first event of an environment, whatever its kind, is its cold start; no later one is."""
    with own_emulator() as emulator:
        for event in (BODY, http_v2(body=BODY), queue_batch([BODY]), {"warmer": True}, BODY):
            emulator.invoke(event)
        lines = [line for line in emulator.lines() if line.get("message") == "event"]

    assert [line["cold_start"] for line in lines] == [True, False, False, False, False]
    assert "init_ms" in lines[0]
    assert "init_ms" not in lines[1]


def test_request_id_is_the_invocations(emulator: Emulator) -> None:
    """The id in a direct answer is the one that Lambda writes into its own log."""
    answer = emulator.invoke(BODY)

    assert f"RequestId: {answer['request_id']}" in emulator.written()


def test_fault_is_raised_to_lambda(own_emulator: Any, tmp_path: Path) -> None:
    """With no model the import succeeds, a direct event raises for a retry, and HTTP and warm-ups are answered."""
    empty = tmp_path / "no-model"
    empty.mkdir()

    with own_emulator(environment={"TIANKONG_MODEL_DIR": str(empty)}) as emulator:
        direct = emulator.invoke(BODY)
        queue = emulator.invoke(queue_batch([BODY]))
        http = emulator.invoke(http_v2(body=BODY))
        warm = emulator.invoke({"warmer": True})

    assert direct["errorType"] == queue["errorType"] == "ArtifactMissingError"
    assert "model is not available" in direct["errorMessage"]
    assert reply(http).status == 503
    assert warm == {"warm": True}


def test_bad_setting_stops_the_start(own_emulator: Any) -> None:
    """The variable's name and what is allowed stand in the log of the failed init."""
    with own_emulator(environment={"TIANKONG_MAX_TEXTS": "many"}) as emulator:
        emulator.invoke_raw(json.dumps(BODY).encode())
        written = emulator.written()

    assert "TIANKONG_MAX_TEXTS must be a whole number from 1 to" in written


def test_timeout_kills_the_invocation_and_the_next_is_answered(own_emulator: Any) -> None:
    """A function that does not come back is stopped by Lambda, and a new environment answers.

    The runtime process is stopped by a signal: nothing less makes it late on every machine, since the function itself
    refuses what it cannot finish.
    """
    with own_emulator(timeout_s=2) as emulator:
        emulator.invoke({"warmer": True})
        runtime = emulator.runtime()
        assert runtime is not None
        runtime.send_signal(signal.SIGSTOP)

        late = emulator.invoke_raw(WARM_UP).decode()
        # The new environment starts within the function's own time, which a busy machine may not manage at once.
        answers = (emulator.invoke_raw(WARM_UP).decode() for _ in range(10))
        again = next(answer for answer in answers if "Task timed out" not in answer)

    assert "Task timed out" in late
    assert json.loads(again) == {"warm": True}


def test_batch_is_refused_rather_than_cut_off(own_emulator: Any) -> None:
    """The runtime's own clock is read: a batch too large for the function's seconds never runs into the timeout."""
    batch = {"texts": [f"第{number}天的天气很[MASK]。" + "好" * 110 for number in range(1_000)], "top_k": 1}

    with own_emulator(timeout_s=4, environment={"TIANKONG_CACHE_TTL_S": "0", "TIANKONG_MAX_TEXTS": "1000"}) as emulator:
        emulator.invoke({"warmer": True})
        answer = emulator.invoke_raw(json.dumps(batch).encode()).decode()

    assert "Task timed out" not in answer
    assert json.loads(answer).get("errorType", "DeadlineNearError") == "DeadlineNearError"
