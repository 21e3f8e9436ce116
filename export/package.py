"""Stage 6: the artifact as it will lie in the image, with its proof and its report."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from export.config import ExportConfig
from export.errors import OptionsError
from export.manifest import OPTIONAL_FILES, WEIGHTS, write_manifest
from export.report import write_report
from export.verify import CANDIDATE
from export.workspace import read_facts, whole_folder
from handler.adapters.artifact import MODEL, TOKENIZER

STAGE: Final = "package"


def package(verified: Path, config: ExportConfig) -> Path:
    """Write the artifact beside ``verified``: the candidate's files, what else was given, manifest and report.

    Raises:
        OptionsError: a file that was given cannot be read.
        WorkspaceError: the disk.
    """
    workspace = verified.parent
    with whole_folder(workspace / STAGE) as folder:
        for name in (MODEL, WEIGHTS, TOKENIZER):
            shutil.copyfile(verified / CANDIDATE / name, folder / name)
        for name, given in zip(OPTIONAL_FILES, (config.lexicon, config.error_model), strict=True):
            if given:
                if not Path(given).is_file():
                    raise OptionsError(f"{given} is no file.")
                shutil.copyfile(given, folder / name)
        write_manifest(folder, workspace, config, read_facts(verified)["proof"])
        write_report(folder, workspace)
    return workspace / STAGE
