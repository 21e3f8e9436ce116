"""Puts a lexicon and an error model into an artifact that exists, and writes its manifest anew.

    python -m export.language_data --model DIR [--lexicon FILE] [--error-model FILE]

The graph and its proof are untouched; the digest of the artifact changes, and with it every cache key.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
from collections.abc import Mapping
from pathlib import Path

from export.report import rewrite_report
from export.workspace import write_facts
from handler.adapters.artifact import ERROR_MODEL, LEXICON, MANIFEST, open_artifact
from handler.core import error_model, lexicon


def put(folder: Path, given: Mapping[str, Path]) -> None:
    """Copy files into an artifact and describe them in its manifest.

    Args:
        folder: the artifact's.
        given: by their names in the artifact.

    Raises:
        ValueError: a file is not what its name says; nothing has been changed.
    """
    for name, source in given.items():
        text = source.read_text(encoding="utf-8")
        if name == LEXICON:
            lexicon.parse(text)
        else:
            error_model.parse(text)
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    for name, source in given.items():
        if source.resolve() != (folder / name).resolve():
            shutil.copyfile(source, folder / name)
        data = (folder / name).read_bytes()
        manifest["files"][name] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    write_facts(folder, manifest, MANIFEST)
    rewrite_report(folder)


def main() -> None:
    """Put the files in and verify the artifact."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True, help="folder of the artifact")
    parser.add_argument("--lexicon", type=Path, help="a lexicon.txt")
    parser.add_argument("--error-model", type=Path, help="an error_model.json")
    arguments = parser.parse_args()
    given = {LEXICON: arguments.lexicon, ERROR_MODEL: arguments.error_model}
    put(arguments.model, {name: path for name, path in given.items() if path})
    artifact = open_artifact(arguments.model)
    artifact.verify()
    print(f"{artifact.name} {artifact.digest}")


if __name__ == "__main__":
    main()
