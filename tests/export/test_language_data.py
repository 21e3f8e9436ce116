"""A lexicon and an error model put into an artifact that exists."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from export.language_data import put
from export.lexicon import written
from handler.adapters.artifact import ERROR_MODEL, LEXICON, MANIFEST, open_artifact
from tests.support import embedded
from tests.support.language import ERRORS


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the embedded artifact."""
    return Path(shutil.copytree(embedded.artifact().folder, tmp_path / "artifact"))


def test_put_makes_an_artifact_that_verifies(folder: Path, tmp_path: Path) -> None:
    """Both files are described, read by the service, and part of the digest; the graph stays what it was."""
    before = open_artifact(folder)
    (tmp_path / "a.txt").write_text(written({"守株待兔": 7}, prior_weight=1.5), encoding="utf-8")
    (tmp_path / "b.json").write_text(json.dumps(ERRORS), encoding="utf-8")

    put(folder, {LEXICON: tmp_path / "a.txt", ERROR_MODEL: tmp_path / "b.json"})

    after = open_artifact(folder)
    after.verify()
    phrases, errors = after.lexicon(), after.error_model()
    assert phrases is not None
    assert (phrases.phrases, phrases.prior_weight) == (("守株待兔",), 1.5)
    assert errors is not None
    assert errors.threshold == ERRORS["threshold"]
    assert after.digest != before.digest
    assert after.sha256["model.onnx"] == before.sha256["model.onnx"]
    assert {**after.manifest, "files": None} == {**before.manifest, "files": None}
    report = (folder / "report.md").read_text(encoding="utf-8")
    assert all(digest in report for digest in after.sha256.values())


def test_put_describes_a_file_that_was_changed_in_place(folder: Path) -> None:
    """Tuning may write into the artifact itself; afterwards it verifies again."""
    (folder / LEXICON).write_text(written({"一心一意": 1}), encoding="utf-8")

    put(folder, {LEXICON: folder / LEXICON})

    open_artifact(folder).verify()
    assert LEXICON in open_artifact(folder).sha256


@pytest.mark.parametrize(("name", "text"), [(LEXICON, "守株待兔"), (ERROR_MODEL, "{}")])
def test_put_refuses_a_damaged_file_and_changes_nothing(folder: Path, tmp_path: Path, name: str, text: str) -> None:
    """What the service could not read never gets in."""
    (tmp_path / "damaged").write_text(text, encoding="utf-8")
    before = (folder / MANIFEST).read_bytes()

    with pytest.raises(ValueError, match=r"lexicon|error model"):
        put(folder, {name: tmp_path / "damaged"})

    assert (folder / MANIFEST).read_bytes() == before
