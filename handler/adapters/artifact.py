"""The model artifact: a folder whose manifest says what it holds and proves that it holds just that."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from handler.core.error_model import ErrorFacts
from handler.core.error_model import parse as parse_error_model
from handler.core.errors import ArtifactCorruptError, ArtifactMissingError
from handler.core.lexicon import Phrases
from handler.core.lexicon import parse as parse_lexicon
from handler.core.ports import SpecialIds
from handler.core.types import ModelIdentity

SCHEMA: Final = 1
MANIFEST: Final = "manifest.json"
MODEL: Final = "model.onnx"
TOKENIZER: Final = "tokenizer.json"
_FILE_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")  # no path, and nothing that leads out of the folder
LEXICON: Final = "lexicon.txt"  # optional
ERROR_MODEL: Final = "error_model.json"  # optional

_Data = TypeVar("_Data")


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """An artifact whose files are present and whose manifest is understood."""

    folder: Path
    name: str
    digest: str  # over all files: whatever an answer depends on changes it
    vocabulary_size: int
    max_positions: int  # tokens, [CLS] and [SEP] included
    special: SpecialIds
    sha256: Mapping[str, str]  # of each file, by name
    manifest: Mapping[str, Any]

    @property
    def identity(self) -> ModelIdentity:
        """What answers name as their source."""
        return ModelIdentity(name=self.name, digest=self.digest)

    @property
    def proof(self) -> Mapping[str, Any] | None:
        """The measured agreement with the fp32 checkpoint, or None for an artifact exported without it."""
        proof: Mapping[str, Any] | None = self.manifest.get("proof")
        return proof

    def path(self, name: str) -> Path:
        """Return where one of its files lies."""
        return self.folder / name

    def lexicon(self) -> Phrases | None:
        """Return the phrases for joint filling with their frequencies; None where the artifact has no lexicon.

        Raises:
            ArtifactCorruptError: the file is no lexicon.
        """
        return self._data(LEXICON, parse_lexicon)

    def error_model(self) -> ErrorFacts | None:
        """Return which character is written for which; None where the artifact does not tell.

        Raises:
            ArtifactCorruptError: the file is no error model.
        """
        return self._data(ERROR_MODEL, parse_error_model)

    def _data(self, name: str, parse: Callable[[str], _Data]) -> _Data | None:
        if name not in self.sha256:
            return None
        try:
            return parse(self.path(name).read_text(encoding="utf-8"))
        except OSError as error:
            raise ArtifactMissingError(problem=f"{name} cannot be read.") from error
        except (ValueError, RecursionError) as error:
            raise ArtifactCorruptError(problem=f"{name} holds something else.") from error

    @property
    def mapped(self) -> frozenset[str]:
        """The files whose bytes are numbers only; every other one is parsed."""
        return frozenset(self.sha256) - {MODEL, TOKENIZER, LEXICON, ERROR_MODEL}

    def verify(self, names: Iterable[str] | None = None) -> None:
        """Read files and compare their digests.

        Args:
            names: of the files; all when None.

        Raises:
            ArtifactMissingError: a file is gone or cannot be read.
            ArtifactCorruptError: a file is not the one that the manifest describes.
        """
        for name in self.sha256 if names is None else names:
            try:
                with self.path(name).open("rb") as file:
                    actual = hashlib.file_digest(file, "sha256").hexdigest()
            except OSError as error:
                raise ArtifactMissingError(problem=f"{name} cannot be read.") from error
            if actual != self.sha256[name]:
                raise ArtifactCorruptError(problem=f"{name} is not the file that its manifest describes.")


def open_artifact(folder: Path) -> Artifact:
    """Read the manifest of an artifact and see that its files are there; their bytes are for ``verify``.

    Raises:
        ArtifactMissingError: the manifest or a file that it names is absent.
        ArtifactCorruptError: the manifest is not one that this version understands.
    """
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
    except OSError as error:
        raise ArtifactMissingError(problem=f"its folder has no readable {MANIFEST}.") from error
    except (ValueError, RecursionError) as error:
        raise ArtifactCorruptError(problem=f"{MANIFEST} is no JSON.") from error
    artifact = _understood(folder, manifest)
    for name in artifact.sha256:
        if not artifact.path(name).is_file():
            raise ArtifactMissingError(problem=f"{name} is missing from its folder.")
    return artifact


def _understood(folder: Path, manifest: Any) -> Artifact:
    try:
        if manifest["schema"] != SCHEMA:
            raise ArtifactCorruptError(
                problem=f"{MANIFEST} has schema {manifest['schema']!r}; this version reads {SCHEMA}."
            )
        sha256 = {str(name): str(facts["sha256"]) for name, facts in manifest["files"].items()}
        if not {MODEL, TOKENIZER} <= set(sha256) or not all(map(_FILE_NAME.fullmatch, sha256)):
            raise ArtifactCorruptError(problem=f"{MANIFEST} must list {MODEL} and {TOKENIZER} by plain names.")
        special = {role: _whole(manifest["special_ids"][role]) for role in ("unk", "cls", "sep", "mask")}
        return Artifact(
            folder=folder,
            name=_name(manifest["name"]),
            digest=hashlib.sha256(json.dumps(sha256, sort_keys=True).encode()).hexdigest(),
            vocabulary_size=_whole(manifest["architecture"]["vocab_size"]),
            max_positions=_whole(manifest["architecture"]["max_positions"]),
            special=SpecialIds(**special),
            sha256=sha256,
            manifest=manifest,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ArtifactCorruptError(problem=f"{MANIFEST} lacks or misspells a field: {error}.") from error


def _name(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("the name is no word")
    return value


def _whole(value: object) -> int:
    if type(value) is not int or value < 0:
        raise ValueError("a size or an id is no whole number")
    return value
