"""Folders appear whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from export.errors import WorkspaceError
from export.workspace import check_output, publish, read_facts, recover, whole_folder, write_facts


def artifact(folder: Path, text: str) -> Path:
    """A folder with the mark of an artifact."""
    folder.mkdir()
    (folder / "manifest.json").write_text(text)
    return folder


def test_folder_appears_after_everything_in_it(tmp_path: Path) -> None:
    """Nothing to see before, and nothing else after."""
    with whole_folder(tmp_path / "stage") as folder:
        (folder / "file").write_text("whole")
        seen_while_writing = (tmp_path / "stage").exists()

    assert not seen_while_writing
    assert [path.name for path in tmp_path.iterdir()] == ["stage"]


def test_folder_of_a_failed_stage_is_gone_and_the_older_one_stays(tmp_path: Path) -> None:
    """A stage that is run again and fails has not taken away what was there."""
    with whole_folder(tmp_path / "stage") as folder:
        (folder / "file").write_text("older")

    with pytest.raises(WorkspaceError, match="writing stage failed"), whole_folder(tmp_path / "stage") as folder:
        artifact(folder, "its mkdir fails")

    assert [path.name for path in tmp_path.iterdir()] == ["stage"]
    assert (tmp_path / "stage" / "file").read_text() == "older"


def test_publish_replaces_an_artifact(tmp_path: Path) -> None:
    """As a new export over an old one."""
    out = artifact(tmp_path / "out", "older")

    publish(artifact(tmp_path / "built", "newer"), out)

    assert (out / "manifest.json").read_text() == "newer"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("name", ["holiday.jpg", "model.onnx"])
def test_publish_leaves_other_folders_alone(tmp_path: Path, name: str) -> None:
    """OUT=~/Documents must not delete anything."""
    out = tmp_path / "out"
    out.mkdir()
    (out / name).write_text("mine")

    with pytest.raises(WorkspaceError, match="left alone"):
        publish(artifact(tmp_path / "built", "newer"), out)

    assert (out / name).read_text() == "mine"


def test_recover_brings_back_what_an_interrupted_publish_moved(tmp_path: Path) -> None:
    """Killed between its two renames."""
    artifact(tmp_path / ".out.older", "older")

    recover(tmp_path / "out")
    check_output(tmp_path / "out")

    assert (tmp_path / "out" / "manifest.json").read_text() == "older"


def test_recover_removes_what_a_finished_publish_left(tmp_path: Path) -> None:
    """Killed after its second rename."""
    artifact(tmp_path / ".out.older", "older")
    artifact(tmp_path / "out", "newer")

    recover(tmp_path / "out")

    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_facts_of_a_stage_that_did_not_run_are_an_error(tmp_path: Path) -> None:
    """A stage alone, in an empty workspace."""
    with pytest.raises(WorkspaceError, match="run the earlier stage first"):
        read_facts(tmp_path)

    write_facts(tmp_path, {"字": 1})

    assert read_facts(tmp_path) == {"字": 1}
