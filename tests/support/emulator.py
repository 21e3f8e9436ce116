"""Lambda's Runtime Interface Emulator with the real runtime client, as ``make emulator`` and the tests run it.

usage: python -m tests.support.emulator
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import psutil

from tests.support.server import HOST, ROOT, free_port

BINARY: Final = ROOT / "build" / "emulator" / "rie"
_DEFAULT_PORT: Final = 9000
_START_S: Final = 10.0
_INVOKE_S: Final = 60.0


class Emulator:
    """One emulator, one execution environment; a context manager.

    Init is lazy: the runtime starts with the first invocation. One invocation at a time; two at once crash it.

    Args:
        log: where the emulator and the function write.
        port: of the emulator; a free one when None.
        timeout_s: of the function.
        environment: variables of the function beside those of Lambda itself.
    """

    def __init__(
        self, log: Path, *, port: int | None = None, timeout_s: int = 30, environment: Mapping[str, str] | None = None
    ) -> None:
        self.log = log
        self._port = port or free_port()
        self._environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": "/nonexistent",
            "LAMBDA_TASK_ROOT": str(ROOT),
            "AWS_LAMBDA_FUNCTION_NAME": "tiankong",
            "AWS_LAMBDA_FUNCTION_TIMEOUT": str(timeout_s),
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "1769",
            "AWS_REGION": "eu-central-1",
            "AWS_ACCESS_KEY_ID": "x",
            "AWS_SECRET_ACCESS_KEY": "y",
            **(environment or {}),
        }
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """Where events are posted to."""
        return f"http://{HOST}:{self._port}/2015-03-31/functions/function/invocations"

    def __enter__(self) -> Self:
        """Start the emulator and wait until it listens."""
        command = [str(BINARY), "--log-level", "info"]
        command += ["--runtime-interface-emulator-address", f"{HOST}:{self._port}"]
        command += ["--runtime-api-address", f"{HOST}:{free_port()}"]
        command += [sys.executable, "-m", "awslambdaric", "handler.entry.lambda_handler"]
        with self.log.open("wb") as output:
            self._process = subprocess.Popen(
                command, cwd=ROOT, env=self._environment, stdout=output, stderr=subprocess.STDOUT
            )
        end = time.monotonic() + _START_S
        while not self._listens():
            if time.monotonic() > end or self._process.poll() is not None:
                self.stop()
                raise RuntimeError(f"the emulator did not start: {self.written()[-2000:]}")
            time.sleep(0.02)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the emulator and its runtime."""
        self.stop()

    def stop(self) -> None:
        """Stop both processes, by their ids."""
        if self._process is None:
            return
        family = [process for process in (self.runtime(),) if process is not None]
        self._process.terminate()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for process in family:
            if process.is_running():
                process.kill()
        self._process = None

    def runtime(self) -> psutil.Process | None:
        """Return the process that runs the function, once there is one."""
        assert self._process is not None
        try:
            return next(iter(psutil.Process(self._process.pid).children()), None)
        except psutil.NoSuchProcess:
            return None

    def invoke_raw(self, event: bytes) -> bytes:
        """Post an event as it is; return the answer as it is, also that of a failed init (502)."""
        request = urllib.request.Request(self.address, data=event, method="POST")
        try:
            response = urllib.request.urlopen(request, timeout=_INVOKE_S)
        except urllib.error.HTTPError as error:
            response = error
        with response:
            answer: bytes = response.read()
            return answer

    def invoke(self, event: Any) -> Any:
        """Invoke the function and return its answer; an exception is an object with errorType and errorMessage."""
        return json.loads(self.invoke_raw(json.dumps(event, ensure_ascii=False).encode()))

    def written(self) -> str:
        """Return what emulator and function wrote so far."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def lines(self) -> list[dict[str, Any]]:
        """Return the function's own log lines."""
        found = []
        for line in self.written().splitlines():
            try:
                found.append(json.loads(line))
            except ValueError:
                continue
        return found

    def _listens(self) -> bool:
        assert self._process is not None
        try:
            connections = psutil.Process(self._process.pid).net_connections(kind="tcp")
        except psutil.Error:
            return False
        return any(_listens_on(connection, self._port) for connection in connections)


def main() -> int:
    """Run the emulator until Ctrl+C."""
    if not BINARY.is_file():
        print("The emulator is missing: run make build/emulator/rie", file=sys.stderr)
        return 1
    folder = Path(tempfile.mkdtemp(prefix="tiankong-emulator-"))
    try:
        with Emulator(folder / "log", port=_free_or_none(_DEFAULT_PORT)) as emulator:
            print(f"Lambda's runtime emulator is at\n  {emulator.address}\nTry\n", flush=True)
            print(f'  curl -s {emulator.address} -d \'{{"text": "今天天气很[MASK]。"}}\'\n', flush=True)
            print("Ctrl+C stops it. What the function writes:", flush=True)
            _follow(emulator)
    except KeyboardInterrupt:
        print("\nstopped")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


def _free_or_none(port: int) -> int | None:
    taken = any(_listens_on(connection, port) for connection in psutil.net_connections(kind="tcp"))
    return None if taken else port


def _listens_on(connection: Any, port: int) -> bool:
    return bool(connection.status == psutil.CONN_LISTEN and connection.laddr.port == port)


def _follow(emulator: Emulator) -> None:
    with emulator.log.open(encoding="utf-8", errors="replace") as log:
        while True:
            line = log.readline()
            print(line, end="", flush=True) if line else time.sleep(0.2)


if __name__ == "__main__":
    raise SystemExit(main())
