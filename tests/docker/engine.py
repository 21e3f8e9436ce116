"""Docker from tests: commands, and containers of our image that are invoked through the emulator inside."""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tests.support.engine import DOCKER

ROOT: Final = Path(__file__).resolve().parents[2]
TAG: Final = "tiankong:test"
# For the SAM CLI: no telemetry, no metadata service, no account.
OFFLINE: Final = {
    "SAM_CLI_TELEMETRY": "0",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_DEFAULT_REGION": "eu-central-1",
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
}
_INVOKE: Final = """
import sys, time, urllib.error, urllib.request
address = "http://127.0.0.1:8080/2015-03-31/functions/function/invocations"
event = sys.stdin.buffer.read()
for attempt in range(100):
    try:
        sys.stdout.buffer.write(urllib.request.urlopen(address, event, timeout=60).read())
        break
    except urllib.error.HTTPError as error:
        sys.stdout.buffer.write(error.read())
        break
    except OSError as error:
        if "refused" not in str(error):
            raise
        time.sleep(0.1)
"""


def docker(*arguments: str, folder: Path = ROOT, stdin: str | None = None, limit_s: int = 60) -> str:
    """Run a command of Docker and return what it prints."""
    seen = subprocess.run(
        [DOCKER, *arguments], cwd=folder, input=stdin, capture_output=True, text=True, timeout=limit_s, check=False
    )
    assert seen.returncode == 0, seen.stdout[-3000:] + seen.stderr[-3000:]
    return seen.stdout.strip()


class Container:
    """A running container of the image, with the emulator in it."""

    def __init__(self, identity: str) -> None:
        self.identity = identity

    def invoke(self, event: object) -> Any:
        """Invoke the function from inside the container, which may have no network."""
        text = docker(
            "exec", "-i", self.identity, "python3", "-c", _INVOKE, stdin=json.dumps(event, ensure_ascii=False)
        )
        try:
            return json.loads(text)
        except ValueError:
            return text

    def logs(self) -> str:
        """Return what the emulator and the function wrote."""
        seen = subprocess.run([DOCKER, "logs", self.identity], capture_output=True, text=True, timeout=30, check=False)
        return seen.stdout + seen.stderr

    def init_ms(self) -> float:
        """Return the duration of the init phase as the emulator reports it."""
        found = re.search(r"INIT REPORT\(durationMs: ([0-9.]+)\)", self.logs())
        assert found, self.logs()[-2000:]
        return float(found[1])


@contextmanager
def running(image: str, *options: str) -> Iterator[Container]:
    """Run a container and remove it afterwards."""
    identity = docker("run", "--detach", *options, image)
    try:
        time.sleep(0.5)
        yield Container(identity)
    finally:
        docker("rm", "--force", identity)
