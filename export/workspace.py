"""Folders that appear whole or not at all."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from export.errors import WorkspaceError

REPORT: Final = "report.json"
_ARTIFACT_MARK: Final = "manifest.json"
_KEPT: Final = {".gitkeep", ".gitignore"}


@contextmanager
def whole_folder(final: Path) -> Iterator[Path]:
    """Give a folder to write into, which takes its final name only after everything in it was written.

    Raises:
        WorkspaceError: the disk is full or not writable.
    """
    partial = final.with_name(f".{final.name}.partial")
    try:
        shutil.rmtree(partial, ignore_errors=True)  # of a run that was killed
        partial.mkdir(parents=True)
        yield partial
        shutil.rmtree(final, ignore_errors=True)
        partial.rename(final)
    except OSError as error:
        raise WorkspaceError(f"writing {final.name} failed: {error.strerror or error}.") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def check_output(out: Path) -> None:
    """See that an artifact may be put there: nothing is, or an artifact, or an empty folder.

    Raises:
        WorkspaceError: the folder holds something else.
    """
    recover(out)
    if not out.exists():
        return
    if not out.is_dir() or (not (out / _ARTIFACT_MARK).is_file() and {path.name for path in out.iterdir()} - _KEPT):
        raise WorkspaceError(f"{out} exists and is no artifact; it is left alone. Choose another folder.")


def publish(built: Path, out: Path) -> None:
    """Move a finished artifact to its place, an older one out of the way first.

    A process killed between the two renames leaves the older one under its hidden name; ``recover`` brings it back.

    Raises:
        WorkspaceError: the disk is full or not writable.
    """
    check_output(out)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        if out.exists():
            out.rename(_older(out))
        built.rename(out)
        shutil.rmtree(_older(out), ignore_errors=True)
    except OSError as error:
        recover(out)
        raise WorkspaceError(f"{out} could not be written: {error.strerror or error}.") from error


def recover(out: Path) -> None:
    """Bring back the artifact that an interrupted ``publish`` had moved away."""
    older = _older(out)
    if older.is_dir():
        if out.exists():
            shutil.rmtree(older, ignore_errors=True)
        else:
            older.rename(out)


def _older(out: Path) -> Path:
    return out.with_name(f".{out.name}.older")


def write_facts(folder: Path, facts: Mapping[str, Any], name: str = REPORT) -> None:
    """Write JSON for people and programs: sorted, indented, Chinese as it is."""
    text = json.dumps(facts, ensure_ascii=False, indent=2, sort_keys=True)
    (folder / name).write_text(text + "\n", encoding="utf-8")


def read_facts(folder: Path, name: str = REPORT) -> dict[str, Any]:
    """Read what ``write_facts`` wrote.

    Raises:
        WorkspaceError: an earlier stage has not been run in this workspace.
    """
    try:
        facts: dict[str, Any] = json.loads((folder / name).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise WorkspaceError(f"{folder.name} has no readable {name}: run the earlier stage first.") from error
    return facts
