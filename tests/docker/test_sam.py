"""The SAM CLI on our template: build, invoke with each sample event, and the HTTP API on this machine."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.docker.engine import OFFLINE, docker
from tests.support.ministack import free_port

pytestmark = [pytest.mark.docker, pytest.mark.timeout(400)]

CHOSEN = ("--parameter-overrides", "Authorization=NONE Cache=Off")
EVENTS = sorted(path.name for path in Path("infra/events").glob("*.json"))


def best(answer: Any) -> str:
    """Return the first text with its best candidate."""
    text: str = answer["results"][0]["masks"][0]["candidates"][0]["text"]
    return text


# What each sample event must be answered with; an event without an entry here is a mistake.
EXPECTED: dict[str, Callable[[Any], bool]] = {
    "bad-request.json": lambda a: a["error"]["type"] == "mask_missing" and a["error"]["request_id"] == "sample-bad",
    "batch.json": lambda a: len(a["results"]) == 3 and "error" in a["results"][2],
    "direct.json": lambda a: best(a) == "北京是中国的首都。" and a["request_id"] == "sample-direct",
    "http-api-health.json": lambda a: json.loads(a["body"]) == {"status": "ready"},
    "http-api.json": lambda a: a["statusCode"] == 200 and best(json.loads(a["body"])) == "北京是中国的首都。",
    "hugging-face.json": lambda a: a[0]["sequence"] == "北京是中国的首都。",
    "queue.json": lambda a: a == {"batchItemFailures": [{"itemIdentifier": "m-2"}]},
    "rest-api.json": lambda a: a["statusCode"] == 200 and "results" in a["body"],
    "warm-up.json": lambda a: a == {"warm": True},
}


@contextmanager
def local_api(sam: Path, folder: Path) -> Iterator[str]:
    """Run `sam local start-api` as `make local-api` does."""
    port = free_port()
    python = sam.with_name("python")
    built_template, plain = ".aws-sam/build/template.yaml", ".aws-sam/build/local-api.json"
    subprocess.run([str(python), "infra/expand.py", built_template, plain], cwd=folder, check=True)
    command = [str(sam), "local", "start-api", "-t", plain, "--port", str(port), "--warm-containers", "EAGER", *CHOSEN]
    with (folder / "api.log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **OFFLINE}, stdout=log, stderr=log, start_new_session=True
        )
        address = f"http://127.0.0.1:{port}"
        try:
            until = time.monotonic() + 60
            while time.monotonic() < until and process.poll() is None:
                try:
                    with urllib.request.urlopen(f"{address}/healthz", timeout=30):
                        break
                except OSError:
                    time.sleep(0.5)
            yield address
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(10)


def test_sam_build_makes_the_image(built: Path) -> None:
    """The function's image is in the engine under the name that the built template gives."""
    template = (built / ".aws-sam" / "build" / "template.yaml").read_text(encoding="utf-8")
    [name] = re.findall(r"ImageUri: (\S+)", template)

    assert docker("image", "inspect", "--format", "{{json .Config.Cmd}}", name) == '["handler.entry.lambda_handler"]'


def test_every_event_has_an_expectation() -> None:
    """A sample that nobody runs is a sample that does not work."""
    assert list(EXPECTED) == EVENTS


@pytest.mark.parametrize("name", EVENTS)
def test_local_invoke_answers(name: str, sam: Path, built: Path) -> None:
    """`make local EVENT=infra/events/…`."""
    seen = subprocess.run(
        [str(sam), "local", "invoke", "Function", "--event", f"infra/events/{name}", *CHOSEN],
        cwd=built, env={**os.environ, **OFFLINE}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert seen.returncode == 0, seen.stderr[-3000:]

    assert EXPECTED[name](json.loads(seen.stdout.strip().splitlines()[-1])), seen.stdout


def test_local_api_answers_chinese(sam: Path, built: Path) -> None:
    """`make local-api`: clean Chinese in and out, an error explained in Chinese, and the smoke test passes."""
    python = sam.with_name("python")
    with local_api(sam, built) as address:
        body = json.dumps({"text": "北京是中国的[MASK]都。"}, ensure_ascii=False).encode()
        request = urllib.request.Request(f"{address}/v1/fill-mask", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            text = answer.read().decode()
        smoke = subprocess.run(
            [str(python), "infra/smoke.py", address], cwd=built, capture_output=True, text=True, check=False
        )
        refused = urllib.request.Request(
            f"{address}/v1/fill-mask", b"{}", {"Content-Type": "application/json", "Accept-Language": "zh-CN"}
        )
        with pytest.raises(urllib.error.HTTPError) as error:
            urllib.request.urlopen(refused, timeout=60)

    assert "北京是中国的首都。" in text
    assert smoke.returncode == 0, smoke.stdout + smoke.stderr
    assert error.value.code == 422
    assert re.search("[\u4e00-\u9fff]", error.value.read().decode())
