"""The local server of ``make serve`` as a process of its own, on a free port."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
HOST: Final = "127.0.0.1"
_START_S: Final = 30.0


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        port: int = listener.getsockname()[1]
        return port


@contextmanager
def serving(log: Path, environment: Mapping[str, str] | None = None) -> Iterator[str]:
    """Run the server until the block ends; give its address.

    Args:
        log: where its output goes.
        environment: variables beside those of this process.
    """
    port = free_port()
    command = [sys.executable, "-m", "uvicorn", "--factory", "handler.entry:http_app", "--host", HOST]
    command += ["--port", str(port), "--no-server-header", "--no-access-log"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, **(environment or {})}, stdout=output, stderr=subprocess.STDOUT
        )
        try:
            address = f"http://{HOST}:{port}"
            _wait(address, process, log)
            yield address
        finally:
            process.terminate()
            process.wait(timeout=20)


def _wait(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + _START_S
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        try:
            urllib.request.urlopen(f"{address}/healthz", timeout=5).close()
        except urllib.error.HTTPError as error:
            error.close()  # it answers, if only that there is no model
        except OSError:
            time.sleep(0.05)
            continue
        return
    raise RuntimeError(f"the server did not start: {log.read_text(errors='replace')[-2000:]}")
