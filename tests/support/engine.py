"""A Docker engine for the tests: the one that DOCKER_HOST names, the machine's own, or one that is started here.

The engine started here keeps everything under one folder, sets no firewall rules (so that it works in a sandbox, and so
that build steps have no network) and is stopped by its process id. One engine at a time.

usage: python -m tests.support.engine start [FOLDER]    start one and print `export DOCKER_HOST=…`
       python -m tests.support.engine stop [FOLDER]     stop it and remove the folder
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

DOCKER: Final = "/usr/bin/docker" if Path("/usr/bin/docker").exists() else "docker"
BRIDGE: Final = "172.30.99.1"  # the host, seen from a container of the engine that is started here
_DAEMON: Final = "/usr/sbin/dockerd"
_DEFAULT_FOLDER: Final = Path(tempfile.gettempdir()) / "tiankong-engine"
_START_S: Final = 60
_STOP_S: Final = 30
_started: Final[dict[int, subprocess.Popen[bytes]]] = {}  # by process id, kept from being collected while they run


class EngineUnavailableError(RuntimeError):
    """There is no engine and none can be started."""


def responds(host: str | None) -> bool:
    """Return whether an engine answers at this address, or at the default one."""
    environment = {**os.environ, "DOCKER_HOST": host} if host else dict(os.environ)
    try:
        seen = subprocess.run([DOCKER, "version"], env=environment, capture_output=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return seen.returncode == 0


def start(folder: Path = _DEFAULT_FOLDER) -> str:
    """Start an engine, or find the one that runs from this folder, and return its DOCKER_HOST.

    Raises:
        EngineUnavailableError: not installed, not root, or it does not come up.
    """
    address = f"unix://{folder}/docker.sock"
    if (folder / "docker.pid").exists() and responds(address):
        return address
    if not Path(_DAEMON).exists():
        raise EngineUnavailableError("no Docker engine answers, and dockerd is not installed (Debian: docker.io)")
    if os.geteuid() != 0:
        raise EngineUnavailableError("no Docker engine answers, and only root can start one")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "docker.pid").unlink(missing_ok=True)
    command = [_DAEMON, "--data-root", f"{folder}/data", "--exec-root", f"{folder}/exec", "--host", address]
    command += ["--pidfile", f"{folder}/docker.pid", "--storage-driver=overlay2", "--bip", f"{BRIDGE}/24"]
    command += ["--iptables=false", "--ip6tables=false"]
    with (folder / "log").open("wb") as log:
        daemon = subprocess.Popen(
            command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True, close_fds=True
        )
    _started[daemon.pid] = daemon
    until = time.monotonic() + _START_S
    while time.monotonic() < until and daemon.poll() is None:
        if responds(address):
            return address
        time.sleep(0.5)
    stop(folder, keep=True)
    tail = (folder / "log").read_text(errors="replace")[-2000:]
    raise EngineUnavailableError(f"dockerd did not come up within {_START_S} s:\n{tail}")


def stop(folder: Path = _DEFAULT_FOLDER, *, keep: bool = False) -> None:
    """Stop the engine that was started in this folder and, unless told to keep it, remove the folder."""
    try:
        process = int((folder / "docker.pid").read_text())
    except (OSError, ValueError):
        process = 0
    if process:
        _end(process)
    if daemon := _started.pop(process, None):
        daemon.wait(5)
    if not keep:
        shutil.rmtree(folder, ignore_errors=True)


def _end(process: int) -> None:
    """Ask a process to stop, then insist."""
    for number, patience_s in ((signal.SIGTERM, _STOP_S), (signal.SIGKILL, 5)):
        until = time.monotonic() + patience_s
        try:
            os.kill(process, number)
            while time.monotonic() < until:
                # Reaps the process where it is our child; elsewhere kill(0) tells when it is gone.
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(process, os.WNOHANG)
                os.kill(process, 0)
                time.sleep(0.2)
        except ProcessLookupError:
            return


def main(arguments: list[str]) -> int:
    """Start or stop."""
    folder = Path(arguments[1]) if len(arguments) > 1 else _DEFAULT_FOLDER
    if arguments[:1] == ["start"]:
        try:
            print(f"export DOCKER_HOST={start(folder)}")
        except EngineUnavailableError as error:
            print(error, file=sys.stderr)
            return 1
        return 0
    if arguments[:1] == ["stop"]:
        stop(folder)
        return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
