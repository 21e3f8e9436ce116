"""Templates as they are deployed: expanded by SAM's own translator, which lives in an environment of its own."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support import tools

ROOT = Path(__file__).resolve().parents[2]
Template = dict[str, Any]


def tool(environment: str, command: str) -> Path:
    """Return a program, or skip and say why."""
    try:
        return tools.program(environment, command)
    except tools.ToolsMissingError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def expanded() -> Callable[[str], Template]:
    """Return a template of this project as CloudFormation gets it."""
    python = tool("cloud", "python")
    cache: dict[str, Template] = {}

    def expand(name: str) -> Template:
        if name not in cache:
            command = [str(python), "infra/expand.py", name]
            seen = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
            cache[name] = json.loads(seen.stdout)
        return cache[name]

    return expand


@pytest.fixture
def sam_bin() -> Path:
    """Return the folder of the SAM CLI and checkov."""
    return tool("sam", "sam").parent
