"""python -m export SOURCE --out DIR: a checkpoint in, a proved int8 artifact out."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from export.config import DEFAULT_SOURCE, PROFILES, ExportConfig
from export.convert import write_reference_design
from export.errors import ExportError, ProofError, WorkspaceError
from export.load import STAGE as LOAD
from export.pipeline import STAGES, run_pipeline, run_stage
from export.report import READABLE


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; 0 when the artifact is there, 1 with one clear error otherwise."""
    options = _parser().parse_args(arguments)
    try:
        return _run_one(options) if options.only else _run_all(options)
    except ProofError as error:
        print("export: nothing was written, because", file=sys.stderr)
        for failure in error.failures:
            print(f"  - {failure}", file=sys.stderr)
    except ExportError as error:
        print(f"export: {error}", file=sys.stderr)
    except OSError as error:
        print(f"export: {error.strerror or error}", file=sys.stderr)
    return 1


def _run_all(options: argparse.Namespace) -> int:
    out: Path = options.out
    config = ExportConfig(
        source=options.source,
        revision=options.revision,
        name=options.name,
        licence=options.licence,
        profile=options.profile,
        proved=not options.unproved,
        keep_float=tuple(options.keep_float),
        lexicon=str(options.lexicon or ""),
        error_model=str(options.error_model or ""),
    )
    workspace = _workspace(options.work, out)
    try:
        run_pipeline(workspace, out, config, _progress, with_scan=options.scan)
        if options.reference is not None:
            write_reference_design(workspace / LOAD, options.reference)
    finally:
        if options.work is None:
            shutil.rmtree(workspace, ignore_errors=True)
    print((out / READABLE).read_text(encoding="utf-8"))
    print(f"The artifact is in {out}.")
    return 0


def _run_one(options: argparse.Namespace) -> int:
    if options.work is None:
        raise WorkspaceError("--only needs --work DIR, the workspace of an earlier run.")
    print(run_stage(options.only, options.work, _progress))
    return 0


def _workspace(asked: Path | None, out: Path) -> Path:
    """A folder for the stages: the one asked for, or a hidden one beside the output, on the same disk."""
    if asked is not None:
        asked.mkdir(parents=True, exist_ok=True)
        return asked
    out.parent.mkdir(parents=True, exist_ok=True)
    prefix = f".{out.name}.export-"
    for left in out.parent.glob(f"{prefix}*"):  # of runs that were killed
        shutil.rmtree(left, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=prefix, dir=out.parent))


def _progress(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m export", description=__doc__)
    parser.add_argument(
        "source",
        nargs="?",
        default=DEFAULT_SOURCE,
        help="folder of a transformers checkpoint, or id of a repository on the hub (HF_ENDPOINT for a mirror); "
        "default %(default)s",
    )
    parser.add_argument("--out", type=Path, default=Path("build/model"), help="folder of the artifact")
    parser.add_argument("--revision", help="branch, tag or commit of the repository")
    parser.add_argument("--name", default="", help="name of the model in every answer")
    parser.add_argument("--licence", default="", help="licence of the weights")
    parser.add_argument("--profile", choices=PROFILES, default="portable")
    parser.add_argument("--unproved", action="store_true", help="skip clozes, agreement and the emulated processor")
    parser.add_argument("--keep-float", nargs="+", default=(), metavar="PRODUCT", help="leave products in fp32")
    parser.add_argument("--scan", action="store_true", help="also report how sensitive each product is")
    parser.add_argument("--lexicon", type=Path, help="lexicon.txt to pack with the model")
    parser.add_argument("--error-model", type=Path, help="error_model.json to pack with the model")
    parser.add_argument("--reference", type=Path, help="also write the plain fp32 graph with full logits to this file")
    parser.add_argument("--work", type=Path, help="keep the stages' folders here")
    parser.add_argument("--only", metavar="STAGE", help=f"run one stage in --work: scan, {', '.join(STAGES)}")
    return parser


if __name__ == "__main__":
    sys.exit(main())
