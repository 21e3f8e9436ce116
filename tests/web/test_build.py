"""The committed bundle is what its source makes, and the source does what its own tests say."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.support.processes import ROOT

pytestmark = pytest.mark.node

WEB: Final = ROOT / "handler" / "web"
MODULES: Final = WEB / "node_modules"


@pytest.fixture(scope="module", autouse=True)
def needs_modules() -> None:
    """Skip, loudly, where the page's tools are not installed; fail in CI."""
    if shutil.which("node") is None or not MODULES.is_dir():
        message = "node or the page's tools are missing: run npm ci in handler/web"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)


def node(*arguments: str) -> None:
    """Run one of the page's tools."""
    program, *rest = arguments
    command = ["node", str(MODULES / program), *rest]
    done = subprocess.run(command, cwd=WEB, capture_output=True, timeout=100, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr).decode()


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file of a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_committed_bundle_is_a_fresh_build(tmp_path: Path) -> None:
    """To the byte: run `make web` after a change of the source."""
    node("vite/bin/vite.js", "build", "--outDir", str(tmp_path / "dist"), "--logLevel", "warn")

    fresh, committed = contents(tmp_path / "dist"), contents(WEB / "dist")

    assert sorted(fresh) == sorted(committed)
    assert [name for name in fresh if fresh[name] != committed[name]] == []


def test_source_is_well_typed() -> None:
    """Strictly."""
    node("typescript/bin/tsc", "--noEmit")


def test_logic_holds() -> None:
    """The tests that live beside the source."""
    node("vitest/vitest.mjs", "run")


def test_lock_names_no_address_of_a_registry() -> None:
    """The list holds hashes; where the packages come from is each machine's own matter."""
    lock = (WEB / "package-lock.json").read_text(encoding="utf-8")

    assert '"resolved"' not in lock
    assert not re.search(r'"integrity": "(?!sha512-)', lock)
