"""The artifact: taken only when its manifest is understood and its files are those that it describes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from handler.adapters.artifact import open_artifact
from handler.core.errors import ArtifactCorruptError, ArtifactMissingError, ModelUnavailableError
from tests.support import embedded

Manifest = dict[str, Any]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the embedded artifact."""
    return Path(shutil.copytree(embedded.artifact().folder, tmp_path / "model"))


def rewrite(folder: Path, change: Callable[[Manifest], object]) -> None:
    """Change the manifest."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_bytes())
    change(manifest)
    path.write_text(json.dumps(manifest), encoding="utf-8")


def redigest(name: str, manifest: Manifest) -> None:
    """Give a file of the manifest another digest."""
    manifest["files"][name]["sha256"] = "0" * 64


def test_open_artifact_reads_what_the_manifest_says(folder: Path) -> None:
    """Name, sizes, special ids and files are those of the manifest, and the files verify."""
    manifest = json.loads((folder / "manifest.json").read_bytes())
    artifact = open_artifact(folder)
    artifact.verify()

    assert manifest["name"] == artifact.identity.name
    assert manifest["architecture"]["vocab_size"] == artifact.vocabulary_size
    assert manifest["architecture"]["max_positions"] == artifact.max_positions
    assert manifest["special_ids"]["mask"] == artifact.special.mask
    assert manifest.get("proof") == artifact.proof
    assert {name: facts["sha256"] for name, facts in manifest["files"].items()} == artifact.sha256


def test_digest_changes_with_every_file(folder: Path) -> None:
    """Cache keys hang on the digest: another model, tokenizer or data file makes another one, another name does not."""
    digests = {open_artifact(folder).digest}
    rewrite(folder, lambda manifest: manifest.update(name="another"))
    digests.add(open_artifact(folder).digest)
    assert len(digests) == 1

    for name in json.loads((folder / "manifest.json").read_bytes())["files"]:
        rewrite(folder, partial(redigest, name))
        digests.add(open_artifact(folder).digest)
    (folder / "more.txt").write_text("more", encoding="utf-8")
    rewrite(folder, lambda manifest: manifest["files"].update({"more.txt": {"sha256": "1" * 64}}))
    digests.add(open_artifact(folder).digest)

    assert len(digests) == 1 + len(open_artifact(folder).sha256)


@pytest.mark.parametrize("name", ["manifest.json", "model.onnx", "tokenizer.json"])
def test_open_artifact_reports_a_file_that_is_missing(folder: Path, name: str) -> None:
    """An absent file is named, never the folder's path."""
    (folder / name).unlink()
    with pytest.raises(ArtifactMissingError, match=name) as caught:
        open_artifact(folder)

    assert str(folder) not in str(caught.value)


def test_open_artifact_reports_a_folder_that_is_missing(tmp_path: Path) -> None:
    """A wrong MODEL_DIR is a missing artifact, whether nothing is there or a file is."""
    (tmp_path / "file").write_bytes(b"")
    for path in (tmp_path / "absent", tmp_path / "file", tmp_path):
        with pytest.raises(ArtifactMissingError):
            open_artifact(path)


def test_open_artifact_reports_a_folder_in_place_of_a_file(folder: Path) -> None:
    """A folder called model.onnx is no model."""
    (folder / "model.onnx").unlink()
    (folder / "model.onnx").mkdir()

    with pytest.raises(ArtifactMissingError):
        open_artifact(folder)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff\xfe", b"null", b"[]", b"5", b'"text"', b"{}", b'{"schema": 1}', b"[" * 100_000],
    ids=["empty", "half", "no UTF-8", "null", "list", "number", "string", "object", "schema only", "deep"],
)
def test_open_artifact_refuses_a_manifest_that_is_none(folder: Path, content: bytes) -> None:
    """Whatever lies there instead of a manifest, it is a corrupt artifact and not a crash."""
    (folder / "manifest.json").write_bytes(content)

    with pytest.raises(ArtifactCorruptError):
        open_artifact(folder)


@pytest.mark.parametrize("schema", [0, 2, "1", None, [1]])
def test_open_artifact_refuses_another_schema(folder: Path, schema: object) -> None:
    """A manifest of another version is refused by its number."""
    rewrite(folder, lambda manifest: manifest.update(schema=schema))

    with pytest.raises(ArtifactCorruptError, match="schema"):
        open_artifact(folder)


@pytest.mark.parametrize("field", ["schema", "name", "files", "architecture", "special_ids"])
@pytest.mark.parametrize("value", [None, "", 5, [], {}])
def test_open_artifact_refuses_a_field_of_another_kind(folder: Path, field: str, value: object) -> None:
    """Every field that is read is checked when reading."""
    rewrite(folder, lambda manifest: manifest.update({field: value}))

    with pytest.raises(ArtifactCorruptError):
        open_artifact(folder)


@pytest.mark.parametrize(
    ("part", "field"),
    [
        *(("architecture", name) for name in ("vocab_size", "max_positions")),
        *(("special_ids", name) for name in ("unk", "cls", "sep", "mask")),
    ],
)
@pytest.mark.parametrize("value", [None, "many", -1, 1.5, True, []])
def test_open_artifact_refuses_a_number_that_is_none(folder: Path, part: str, field: str, value: object) -> None:
    """Sizes and ids are whole numbers from 0."""
    rewrite(folder, lambda manifest: manifest[part].update({field: value}))

    with pytest.raises(ArtifactCorruptError):
        open_artifact(folder)


@pytest.mark.parametrize(
    "name", ["../secret", "/etc/passwd", "a/b", "..", ".", "", "a\\b", "a\x00b", "a" * 300, ".hidden", "名.txt"]
)
def test_open_artifact_refuses_a_file_name_that_leads_elsewhere(folder: Path, name: str) -> None:
    """A manifest names files of its own folder and nothing else."""
    rewrite(folder, lambda manifest: manifest["files"].update({name: {"sha256": "0" * 64}}))

    with pytest.raises(ArtifactCorruptError):
        open_artifact(folder)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_verify_refuses_a_file_with_one_bit_changed(folder: Path, name: str) -> None:
    """The digest is over every byte."""
    content = bytearray((folder / name).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / name).write_bytes(content)

    with pytest.raises(ArtifactCorruptError, match=name):
        open_artifact(folder).verify()


def test_verify_reports_a_file_that_went_away(folder: Path) -> None:
    """A file that cannot be read any more is a missing one: the function starts and says so."""
    artifact = open_artifact(folder)
    (folder / "tokenizer.json").unlink()

    with pytest.raises(ModelUnavailableError, match=r"tokenizer\.json"):
        artifact.verify()
