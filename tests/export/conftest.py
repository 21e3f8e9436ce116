"""Exports that several tests look at, each made once."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.export.checkpoints import RECIPES, write_checkpoint


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    """Torch's threads wait for each other by spinning: on a busy machine one thread is faster than two."""
    if importlib.util.find_spec("torch") is not None:
        importlib.import_module("torch").set_num_threads(1)


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A random checkpoint of a family, by name."""
    made: dict[str, Path] = {}

    def find(family: str) -> Path:
        if family not in made:
            made[family] = tmp_path_factory.mktemp("checkpoints") / family
            write_checkpoint(made[family], RECIPES[family])
        return made[family]

    return find


@pytest.fixture(scope="session")
def workspace(
    checkpoint: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], tuple[Path, Path]]:
    """Workspace and artifact of an unproved export of a family, by name."""
    from export.config import ExportConfig
    from export.pipeline import run_pipeline

    made: dict[str, tuple[Path, Path]] = {}

    def find(family: str) -> tuple[Path, Path]:
        if family not in made:
            folder = tmp_path_factory.mktemp("exports")
            work, out = folder / "work", folder / family
            work.mkdir()
            config = ExportConfig(source=str(checkpoint(family)), proved=False, licence="MIT")
            run_pipeline(work, out, config, lambda line: None)
            # package became the artifact; a test that runs a stage alone needs the rest only
            made[family] = (work, out)
        return made[family]

    return find
