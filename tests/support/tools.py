"""Environments of tools that cannot live beside the project's own dependencies, each from its lock.

usage: python -m tests.support.tools sam      the SAM CLI and checkov, in build/sam-venv (560 MB)
       python -m tests.support.tools cloud    the local cloud and SAM's translator, in build/cloud-venv (120 MB)
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
LOCKS: Final = {"sam": ROOT / "locks" / "infra.txt", "cloud": ROOT / "locks" / "cloud.txt"}


class ToolsMissingError(RuntimeError):
    """An environment is not there, and this is not the place to install it."""


def folder(name: str) -> Path:
    """Return where an environment lives."""
    return ROOT / "build" / f"{name}-venv"


def program(name: str, command: str) -> Path:
    """Return a program of an environment; where everything must run (CI=true), install it first.

    Raises:
        ToolsMissingError: it is not installed.
    """
    if not _complete(name):
        if os.environ.get("CI") != "true":
            raise ToolsMissingError(f"{command} is not installed: run `make {name}-tools`")
        install(name)
    return folder(name) / "bin" / command


def install(name: str) -> None:
    """Make an environment anew unless it is the lock's already."""
    if _complete(name):
        return
    target = folder(name)
    shutil.rmtree(target, ignore_errors=True)
    venv.create(target, with_pip=True)
    command = [str(target / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*command, "--require-hashes", "--no-deps", "-r", str(LOCKS[name])], check=True)
    (target / "lock").write_text(_digest(name), encoding="utf-8")


def _complete(name: str) -> bool:
    mark = folder(name) / "lock"
    return mark.exists() and mark.read_text(encoding="utf-8") == _digest(name)


def _digest(name: str) -> str:
    return hashlib.sha256(LOCKS[name].read_bytes()).hexdigest()


if __name__ == "__main__":
    for wanted in sys.argv[1:]:
        install(wanted)
