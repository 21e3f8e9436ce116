"""What the function touches outside itself: no network, no home directory, no user of its own."""

from __future__ import annotations

import json
import os
import pwd
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.events import TEXT, http_v2
from tests.support.processes import ROOT

pytestmark = pytest.mark.slow

ANSWER_BOTH = (
    "import json, handler.entry as e; "
    f"direct = e.lambda_handler({{'text': {TEXT!r}}}, None); "
    f"http = e.lambda_handler(json.loads({json.dumps(http_v2(body={'text': TEXT}))!r}), None); "
    "print(json.dumps([len(direct['results']), http['statusCode']]))"
)


def last_line(output: bytes) -> object:
    """Read what the process printed at its end."""
    return json.loads(output.decode().splitlines()[-1])


def test_function_opens_no_socket_and_leaves_home_empty(tmp_path: Path) -> None:
    """With the cache off no connection is made, and nothing is written where a home directory would allow it."""
    if shutil.which("strace") is None:
        message = "strace is missing: apt-get install strace"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    home, trace = tmp_path / "home", tmp_path / "trace"
    home.mkdir()
    command = ["strace", "-f", "-e", "trace=network,openat,mkdir", "-o", str(trace)]
    command += [sys.executable, "-B", "-c", ANSWER_BOTH]
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "TIANKONG_CACHE_TTL_S": "0"}

    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=110, check=False)

    assert done.returncode == 0, done.stderr.decode()
    assert last_line(done.stdout) == [1, 200]
    calls = trace.read_text(errors="replace").splitlines()
    # asyncio wakes its own loop through a pair of connected sockets, which lead nowhere.
    sockets = [call for call in calls if re.search(r"\b(socket|connect|bind|sendto|sendmsg)\(", call)]
    written = [
        call for call in calls if re.search(r"openat\(.*O_(WRONLY|RDWR|CREAT)", call) and "/dev/null" not in call
    ]
    assert sockets == []
    assert written == []
    assert not [call for call in calls if " mkdir(" in call]
    assert list(home.iterdir()) == []


def as_nobody() -> list[str]:
    """Return what runs a command as another user, who may read an interpreter under /root but write nothing."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root, and with setpriv, may become another user")
    nobody = pwd.getpwnam("nobody")
    command = ["setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups"]
    interpreter = Path(sys.executable).resolve()
    if not all(folder.stat().st_mode & 0o001 for folder in interpreter.parents):
        command += ["--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search"]
    return command


def test_other_user_on_a_read_only_copy_is_answered(tmp_path: Path) -> None:
    """Lambda runs as a user without a home on files that nobody may change."""
    prefix = as_nobody()
    copy = tmp_path / "copy"
    for part in ("handler", "layers"):
        shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
    for path in [copy, *copy.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}

    done = subprocess.run(
        [*prefix, sys.executable, "-c", "import os; assert os.getuid() != 0; " + ANSWER_BOTH],
        cwd=copy,
        env=environment,
        capture_output=True,
        timeout=110,
        check=False,
    )

    assert done.returncode == 0, done.stderr.decode()
    assert last_line(done.stdout) == [1, 200]
    assert not list(copy.rglob("__pycache__"))


@pytest.mark.timeout(600)
@pytest.mark.parametrize("cache", ["on", "off"])
def test_memory_stays_within_two_percent(cache: str) -> None:
    """After the first 200 of 2,000 mixed events resident memory stays where it is."""
    command = [sys.executable, "-m", "tests.benchmarks.memory", "--cache", cache]

    done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=500, check=False)

    assert done.returncode == 0, done.stderr.decode()
    measured = last_line(done.stdout)
    assert isinstance(measured, dict)
    assert measured["growth"] <= 0.02, measured
