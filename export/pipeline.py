"""The stages in their order. Each is ``(folder of the stage before, config) -> own folder``."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from export.config import ExportConfig
from export.convert import convert
from export.errors import OptionsError
from export.load import load
from export.optimize import optimize
from export.package import package
from export.quantize import quantize
from export.scan import scan
from export.verify import verify
from export.workspace import check_output, publish

Stage = Callable[[Path, ExportConfig], Path]
Progress = Callable[[str], None]

STAGES: Final[Mapping[str, Stage]] = {
    "load": load,
    "convert": convert,
    "optimize": optimize,
    "quantize": quantize,
    "verify": verify,
    "package": package,
}


def run_pipeline(
    workspace: Path, out: Path, config: ExportConfig, progress: Progress, *, with_scan: bool = False
) -> None:
    """Run every stage and put the artifact in its place.

    Args:
        workspace: an existing folder on the same disk as ``out``.
        out: where the artifact goes; untouched unless everything passed.
        config: of the export.
        progress: is told each stage and its seconds.
        with_scan: whether the products are also quantized one by one.

    Raises:
        ExportError: the first stage that failed says why.
    """
    check_output(out)
    config.save(workspace)
    path = workspace
    for number, (name, stage) in enumerate(STAGES.items(), 1):
        progress(f"[{number}/{len(STAGES)}] {name} …")
        path = _timed(stage, path, config, progress)
        if name == "optimize" and with_scan:
            progress("      scan …")
            _timed(scan, path, config, progress)
    publish(path, out)


def run_stage(name: str, workspace: Path, progress: Progress) -> Path:
    """Run one stage again, in a workspace that has the stages before it.

    Returns:
        The stage's folder.

    Raises:
        OptionsError: no stage has that name.
        ExportError: the stage failed.
    """
    config = ExportConfig.saved(workspace)
    stages: dict[str, Stage] = dict(STAGES) | {"scan": scan}
    if name not in stages:
        raise OptionsError(f"no stage is called {name}; there are {', '.join(stages)}.")
    order = list(STAGES)
    before = "optimize" if name == "scan" else order[order.index(name) - 1]
    path = workspace if name == order[0] else workspace / before
    progress(f"{name} …")
    return _timed(stages[name], path, config, progress)


def _timed(stage: Stage, path: Path, config: ExportConfig, progress: Progress) -> Path:
    start = time.perf_counter()
    result = stage(path, config)
    progress(f"      {time.perf_counter() - start:.1f} s")
    return result
