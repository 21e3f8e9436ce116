"""Fresh interpreters: what an import costs or changes can only be seen in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
_LIMIT_S: Final = 60


def python(
    *arguments: str, environment: Mapping[str, str] | None = None, stdin: bytes = b"", folder: Path = ROOT
) -> subprocess.CompletedProcess[bytes]:
    """Run this interpreter in the repository, without any variable of the service but the given ones."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("TIANKONG_", "AWS_"))}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**inherited, "PYTHONPATH": "", **(environment or {})},
        input=stdin,
        capture_output=True,
        timeout=_LIMIT_S,
        check=False,
    )
