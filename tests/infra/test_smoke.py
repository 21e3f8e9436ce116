"""The smoke test on a real server: it passes where all is well, and only there."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.server import serving

ROOT = Path(__file__).resolve().parents[2]


def smoke(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the smoke test with an interpreter that has no packages."""
    command = [sys.executable, "-S", "infra/smoke.py", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of a local server."""
    with serving(tmp_path_factory.mktemp("server") / "log") as started:
        yield started


def test_passes_on_a_good_deployment(address: str) -> None:
    """Every check says what it saw."""
    seen = smoke(address)

    assert seen.returncode == 0, seen.stdout + seen.stderr
    assert seen.stdout.count("ok    ") == 5


def test_fails_on_an_open_api_that_should_be_closed(address: str) -> None:
    """An API that answers a stranger is no success."""
    seen = smoke(address, "--expect-refusal")

    assert seen.returncode == 1
    assert "FAIL  refused" in seen.stdout


def test_fails_where_nobody_answers() -> None:
    """Each check fails, none of them with a traceback."""
    seen = smoke("http://127.0.0.1:9")

    assert seen.returncode == 5
    assert "Traceback" not in seen.stderr


def test_names_what_is_wrong_with_its_arguments() -> None:
    """An address without a scheme is the usual mistake."""
    seen = smoke("example.com")

    assert seen.returncode == 2
    assert "https://" in seen.stderr
