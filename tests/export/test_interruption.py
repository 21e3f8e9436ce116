"""Whatever happens on the way, the output folder is whole or not there."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the export extra is not installed: no export is tested")

from export.__main__ import main
from export.pipeline import STAGES
from export.serving import ServedArtifact
from tests.export.checkpoints import RECIPES, write_checkpoint

pytestmark = [pytest.mark.torch, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]


@contextlib.contextmanager
def exporting(source: Path, out: Path) -> Iterator[subprocess.Popen[str]]:
    """The command, running."""
    command = [sys.executable, "-m", "export", str(source), "--out", str(out), "--unproved"]
    with subprocess.Popen(command, cwd=ROOT, text=True, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.timeout(600)  # seven processes that each import torch
def test_killed_export_leaves_the_older_artifact_and_the_next_one_cleans_up(tmp_path: Path) -> None:
    """SIGKILL in the middle of each stage, one after the other."""
    source, out = tmp_path / "source", tmp_path / "out" / "model"
    write_checkpoint(source, RECIPES["bert"], num_hidden_layers=1)
    assert main([str(source), "--out", str(out), "--unproved", "--name", "older"]) == 0

    for stage in STAGES:
        with exporting(source, out) as process:
            assert process.stderr is not None
            for line in process.stderr:
                if f"] {stage} " in line:
                    time.sleep(0.02)  # into the stage
                    os.kill(process.pid, signal.SIGKILL)
                    break
        # The last two take less than that: then the new artifact is there, as whole as the old one.
        left = ServedArtifact(out).artifact.name
        assert left == "older" or (left == "source" and stage in ("verify", "package")), stage
        seen = [path.name for path in out.parent.iterdir() if not path.name.startswith(".")]
        assert seen == ["model"], stage

    assert main([str(source), "--out", str(out), "--unproved", "--name", "newer"]) == 0
    assert [path.name for path in out.parent.iterdir()] == ["model"]
    assert ServedArtifact(out).artifact.name == "newer"


def test_full_disk_is_one_error_and_no_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file system of 20 MB for a checkpoint of about 12."""
    source, disk = tmp_path / "source", tmp_path / "disk"
    write_checkpoint(source, RECIPES["bert"], hidden_size=256, num_hidden_layers=3, intermediate_size=1024)
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=20m", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting a small file system needs root")
    try:
        code = main([str(source), "--out", str(disk / "model"), "--unproved"])
        left = [path.name for path in disk.iterdir()]
    finally:
        subprocess.run(["umount", str(disk)], check=True)

    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("export:")]
    assert code == 1
    assert len(errors) == 1
    assert "No space left on device" in errors[0]
    assert left == []


def test_stages_can_be_run_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each again in the workspace of a whole run, and one too early in an empty workspace."""
    source, work = tmp_path / "source", tmp_path / "work"
    write_checkpoint(source, RECIPES["bert"], num_hidden_layers=1)
    assert main([str(source), "--out", str(tmp_path / "out"), "--unproved", "--work", str(work)]) == 0
    digests = json.loads((tmp_path / "out" / "manifest.json").read_text())["files"]
    capsys.readouterr()

    codes = [main(["--only", stage, "--work", str(work)]) for stage in STAGES]

    assert codes == [0] * len(STAGES)
    assert capsys.readouterr().out.split() == [str(work / stage) for stage in STAGES]
    assert json.loads((work / "package" / "manifest.json").read_text())["files"] == digests
    assert main(["--only", "convert", "--work", str(tmp_path / "empty")]) == 1
    assert "no workspace of an export" in capsys.readouterr().err
