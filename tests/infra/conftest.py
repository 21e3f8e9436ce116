"""Templates as they are deployed: expanded by SAM's own translator, which lives in an environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
CLOUD = ROOT / "build" / "cloud-venv" / "bin" / "python"
SAM = ROOT / "build" / "sam-venv" / "bin"

Template = dict[str, Any]


def missing(tool: str, target: str) -> None:
    """Skip where a tool is not installed, and fail where it must be."""
    reason = f"{tool} is not installed: run `make {target}`"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def expanded() -> Callable[[str], Template]:
    """Return a template of this project as CloudFormation gets it."""
    if not CLOUD.exists():
        missing("SAM's translator", "cloud-tools")
    cache: dict[str, Template] = {}

    def expand(name: str) -> Template:
        if name not in cache:
            command = [str(CLOUD), "infra/expand.py", name]
            seen = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
            cache[name] = json.loads(seen.stdout)
        return cache[name]

    return expand


@pytest.fixture
def sam_bin() -> Path:
    """Return the folder of the SAM CLI and checkov."""
    if not (SAM / "sam").exists():
        missing("the SAM CLI", "sam-tools")
    return SAM
