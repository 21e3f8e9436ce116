"""A smoke test after a deployment: health, the model, Chinese in and out, an error that is explained. No dependencies.

usage: python infra/smoke.py URL [--header 'Authorization: Bearer …']
       python infra/smoke.py URL --expect-refusal     a closed API must refuse a caller without credentials
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

TEXT = "北京是中国的[MASK]都。"
_PATIENCE_S = 30  # the first request may meet a cold start


@dataclass(slots=True)
class Deployment:
    """An address, and the headers that open it."""

    url: str
    headers: dict[str, str] = field(default_factory=dict)

    def call(self, path: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> tuple[int, Any]:
        """Return status and JSON body; a body that is no JSON is returned as text."""
        sent = {"Content-Type": "application/json", **self.headers, **(headers or {})}
        request = urllib.request.Request(self.url.rstrip("/") + path, body, sent)  # noqa: S310 - checked to be http(s)
        try:
            with urllib.request.urlopen(request, timeout=_PATIENCE_S) as answer:  # noqa: S310 - likewise
                status, raw = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            status, raw = error.code, error.read()
        try:
            return status, json.loads(raw)
        except ValueError:
            return status, raw.decode("utf-8", "replace")

    def fill(self, text: str) -> Any:
        """Return the answer to one text."""
        status, answer = self.call("/v1/fill-mask", json.dumps({"text": text}, ensure_ascii=False).encode())
        assert status == 200, (status, answer)
        return answer


def ready(deployment: Deployment) -> str:
    """The model is loaded."""
    status, answer = deployment.call("/healthz")
    assert (status, answer) == (200, {"status": "ready"}), (status, answer)
    return "ready"


def model(deployment: Deployment) -> str:
    """The deployment says which model it has."""
    status, answer = deployment.call("/v1/model")
    assert status == 200, (status, answer)
    return f"{answer['name']} {answer['digest'][:12]}"


def chinese(deployment: Deployment) -> str:
    """Chinese comes back as it was sent, with the blank filled."""
    [result] = deployment.fill(TEXT)["results"]
    best = result["masks"][0]["candidates"][0]
    assert result["text"] == TEXT, result
    assert best["text"] == TEXT.replace("[MASK]", best["token"]), best
    return f"{best['text']} ({best['score']:.0%})"


def explained(deployment: Deployment) -> str:
    """A wrong request is refused with a reason, in Chinese where that is asked for."""
    status, answer = deployment.call("/v1/fill-mask", b'{"text": "abc"}', {"Accept-Language": "zh-CN"})
    assert status == 422, (status, answer)
    assert any("\u4e00" <= character <= "\u9fff" for character in answer["error"]["message"]), answer
    return str(answer["error"]["type"])


def warm(deployment: Deployment) -> str:
    """A warm answer takes less than a second, the network included."""
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        deployment.fill(TEXT)
        seconds.append(time.perf_counter() - start)
    assert min(seconds) < 1, seconds
    return f"{sorted(seconds)[2] * 1000:.0f} ms (median of five)"


def refused(deployment: Deployment) -> str:
    """Without credentials nobody is let in."""
    status, answer = deployment.call("/v1/fill-mask", b"{}")
    assert status in {401, 403}, (status, answer)
    return str(status)


CHECKS: tuple[Callable[[Deployment], str], ...] = (ready, model, chinese, explained, warm)


def main(arguments: list[str] | None = None) -> int:
    """Return the number of checks that failed, 2 at least for misuse."""
    parser = argparse.ArgumentParser(description="Smoke test of a deployment.")
    parser.add_argument("url", metavar="URL", help="the stack's output Url")
    parser.add_argument("--header", action="append", default=[], metavar="'NAME: VALUE'", help="sent with each request")
    parser.add_argument("--expect-refusal", action="store_true", help="only check that the API is closed")
    options = parser.parse_args(arguments)
    if not options.url.startswith(("https://", "http://")):
        parser.error("URL must begin with https://")
    headers = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in options.header)}
    deployment = Deployment(options.url, headers)
    failures = 0
    for check in (refused,) if options.expect_refusal else CHECKS:
        try:
            print(f"ok    {check.__name__}: {check(deployment)}")
        except (AssertionError, OSError, KeyError, TypeError, ValueError) as error:
            failures += 1
            print(f"FAIL  {check.__name__}: {type(error).__name__} {error}")
    return failures


if __name__ == "__main__":
    sys.exit(main())
