"""The local server under many clients, and as curl meets it."""

from __future__ import annotations

import json
import shutil
import subprocess
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.support.events import TEXT, steady
from tests.support.server import serving

CLIENTS = 32
PER_CLIENT = 8


def post(address: str, body: Any) -> Any:
    """Post JSON and read the answer."""
    request = urllib.request.Request(address, data=json.dumps(body).encode(), method="POST")
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.loads(response.read())


def test_parallel_clients_get_the_serial_answers(server: str) -> None:
    """Thirty-two clients at once: no error, and not a digit differs from one after the other."""
    texts = [f"第{number}天的天气很[MASK]，{'好' * (number % 7)}。" for number in range(CLIENTS * PER_CLIENT)]
    bodies = [{"text": text} if number % 3 else {"texts": [text, TEXT]} for number, text in enumerate(texts)]

    with ThreadPoolExecutor(CLIENTS) as pool:
        parallel = list(pool.map(lambda body: post(f"{server}/v1/fill-mask", body), bodies))

    serial = [post(f"{server}/v1/fill-mask", body) for body in bodies]
    assert [steady(answer) for answer in parallel] == [steady(answer) for answer in serial]


def test_health_is_answered_while_the_model_runs(server: str) -> None:
    """A long batch does not block the server: what needs no model is answered meanwhile."""
    batch = {"texts": [f"第{number}个[MASK]" + "好" * 100 for number in range(128)], "top_k": 1}

    with ThreadPoolExecutor(1) as pool:
        long = pool.submit(post, f"{server}/v1/fill-mask", batch)
        with urllib.request.urlopen(f"{server}/healthz", timeout=30) as response:
            health = json.loads(response.read())
        still_running = not long.done()
        answer = long.result()

    assert health == {"status": "ready"}
    assert still_running
    assert len(answer["results"]) == 128


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_plain_curl_works(server: str) -> None:
    """The shortest command that people try is answered, though curl calls its body a form."""
    command = ["curl", "-sS", "-d", '{"text":"今天天气很[MASK]。"}', f"{server}/v1/fill-mask"]

    answer = subprocess.run(command, capture_output=True, check=True, timeout=30).stdout.decode()

    assert TEXT in answer
    assert json.loads(answer)["results"][0]["masks"][0]["start"] == 5


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_head_over_a_real_connection_has_no_body(server: str) -> None:
    """HEAD tells the length and sends nothing, so the connection stays usable."""
    command = ["curl", "-sS", "-I", f"{server}/docs", "--next", "-sS", f"{server}/healthz"]

    answer = subprocess.run(command, capture_output=True, check=True, timeout=30).stdout.decode()

    assert answer.startswith("HTTP/1.1 200")
    assert answer.endswith('{"status":"ready"}')


def test_server_under_a_base_path(tmp_path: Path) -> None:
    """The settings of the function are those of the local server."""
    with serving(tmp_path / "log", {"TIANKONG_BASE_PATH": "/nlp"}) as address:
        assert post(f"{address}/nlp/v1/fill-mask", {"text": TEXT})["results"][0]["text"] == TEXT
