"""Fetches the wheels that the image's dependencies are installed from, for the image's Python and processor.

`make image` runs this on the host, so that the build itself needs no network: engines without one, and networks that
only the host may use, are common. Without it the build fetches the same files; the lock's hashes bind both.

usage: python layers/fetch.py [--python 3.13] [--machine x86_64] [--to layers/runtime/wheels]
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

LOCK: Final = Path(__file__).resolve().parent / "runtime" / "requirements.txt"
# glibc of the base image, Amazon Linux 2023, is 2.34; pip takes the names one by one.
GLIBC: Final = range(34, 16, -1)
_MARKER: Final = re.compile(r"^(\S+) ; python_full_version (<|>=) '(\d+)\.(\d+)'(.*)$", re.MULTILINE)


def main() -> int:
    """Fetch them into a new folder."""
    parser = argparse.ArgumentParser(description="Fetch the wheels of the image.")
    parser.add_argument("--python", default="3.13", help="version of Python in the base image")
    parser.add_argument("--machine", default="x86_64", help="x86_64 or aarch64 (arm64)")
    parser.add_argument("--to", type=Path, default=LOCK.parent / "wheels", help="folder, emptied first")
    options = parser.parse_args()
    machine = {"arm64": "aarch64"}.get(options.machine, options.machine)
    major, minor = (int(part) for part in options.python.split(".")[:2])
    shutil.rmtree(options.to, ignore_errors=True)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--require-hashes", "--no-deps", "--only-binary", ":all:", "--implementation", "cp"]
    command += ["--python-version", f"{major}.{minor}", "--dest", str(options.to)]
    for version in GLIBC:
        command += ["--platform", f"manylinux_2_{version}_{machine}"]
    command += ["--platform", f"manylinux2014_{machine}", "--platform", f"manylinux_2_5_{machine}"]
    with tempfile.TemporaryDirectory() as folder:
        chosen = Path(folder) / "requirements.txt"
        chosen.write_text(for_python(LOCK.read_text(encoding="utf-8"), (major, minor)), encoding="utf-8")
        subprocess.run([*command, "-r", str(chosen)], check=True)  # noqa: S603 - pip, with our own arguments
    return 0


def for_python(lock: str, version: tuple[int, int]) -> str:
    """Return the lock without what other Pythons need. pip would judge these markers by the Python that runs it."""
    lines: list[str] = []
    keep = True
    for line in lock.splitlines():
        if not line.startswith((" ", "\t")):
            marker = _MARKER.match(line)
            keep = marker is None or (version < (int(marker[3]), int(marker[4]))) == (marker[2] == "<")
            line = f"{marker[1]}{marker[5]}" if marker and keep else line
        if keep:
            lines.append(line)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    raise SystemExit(main())
