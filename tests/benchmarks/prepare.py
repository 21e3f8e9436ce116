"""Artifacts and what the peers serve, kept under build/bench/; artifacts are made anew when the export changed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from export.config import Profile
from export.evaluation.sentences import CALIBRATION
from tests.benchmarks.checkpoints import write
from tests.benchmarks.contenders import PEERS_PYTHON, ROOT

HOME: Final = ROOT / "build" / "bench"
EMBEDDED: Final = "embedded"
_ARTIFACT: Final = ROOT / "layers" / "model"


class NotPreparedError(RuntimeError):
    """Something that the benchmark needs is not installed."""


def folders(size: str, checkpoint: Path | None = None, *, fast: bool = False) -> Mapping[str, Path]:
    """Return the folders of one network, by way of serving; whatever is missing is made.

    Args:
        size: a published size, or ``embedded`` for the model in this repository.
        checkpoint: of the embedded model, in fp32; only its artifact is in the repository.
        fast: whether to export the fast profile as well.

    Raises:
        NotPreparedError: the peers' environment is not there.
    """
    if size == EMBEDDED and checkpoint is None:
        return {"artifact": _ARTIFACT}
    if not PEERS_PYTHON.exists():
        raise NotPreparedError("the peers are not installed: run `make bench`, or `make build/bench-venv/ready`")
    home = HOME / size
    sources = ROOT / "export"
    if checkpoint is None:
        checkpoint = _made(home / "checkpoint", lambda out: write(out, size))
        artifact = _made(home / "artifact", lambda out: _export(checkpoint, out, "portable"), after=sources)
    else:
        artifact = _ARTIFACT
    found = {"artifact": artifact, "checkpoint": checkpoint}
    if fast:
        found["fast"] = _made(home / "fast", lambda out: _export(checkpoint, out, "fast"), after=sources)
    peers = _made(home / "peers", lambda out: _peers(checkpoint, out))
    return found | {name: peers / name for name in ("traced", "optimum", "openvino")}


def _made(folder: Path, make: Callable[[Path], None], *, after: Path | None = None) -> Path:
    """Make a folder where it is missing, or older than any source under ``after``."""
    sources = after.rglob("*.py") if after else ()
    if folder.exists() and all(source.stat().st_mtime <= folder.stat().st_mtime for source in sources):
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    unfinished = folder.with_name(f".{folder.name}")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.parent.mkdir(parents=True, exist_ok=True)
    make(unfinished)
    unfinished.rename(folder)
    return folder


def _export(checkpoint: Path, out: Path, profile: Profile) -> None:
    command = [sys.executable, "-m", "export", str(checkpoint), "--out", str(out), "--profile", profile, "--unproved"]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def _peers(checkpoint: Path, out: Path) -> None:
    samples = out.with_name("samples.txt")
    samples.write_text("\n".join(CALIBRATION), encoding="utf-8")
    command = [str(PEERS_PYTHON), "-m", "tests.benchmarks.peers", *map(str, (checkpoint, out, samples))]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
