"""Everything that the stages found, in one file for programs and one for people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from export.workspace import REPORT, read_facts, write_facts
from handler.adapters.artifact import MANIFEST

READABLE: Final = "report.md"
_STAGES: Final = ("load", "convert", "optimize", "quantize", "scan", "verify")


def write_report(folder: Path, workspace: Path) -> None:
    """Gather the facts of the stages that ran, and the manifest of the artifact in ``folder``."""
    stages = {stage: read_facts(workspace / stage) for stage in _STAGES if (workspace / stage / REPORT).is_file()}
    _write(folder, stages)


def rewrite_report(folder: Path) -> None:
    """Bring the report of an artifact, where it has one, up to its manifest; the stages' facts stay."""
    if (folder / REPORT).is_file():
        _write(folder, read_facts(folder)["stages"])


def _write(folder: Path, stages: Mapping[str, Any]) -> None:
    manifest = read_facts(folder, MANIFEST)
    write_facts(folder, {"stages": stages, "manifest": manifest})
    (folder / READABLE).write_text("\n".join(_lines(manifest, stages)) + "\n", encoding="utf-8")


def _lines(manifest: Mapping[str, Any], stages: Mapping[str, Any]) -> Iterator[str]:
    source, architecture = manifest["source"], manifest["architecture"]
    revision = source["revision"] or "a folder"
    yield f"# {manifest['name']}"
    yield ""
    yield f"From {source['id']} ({revision}), licence {manifest['licence']}."
    yield (
        f"{architecture['family']}, {architecture['layers']} layers x {architecture['hidden']}, "
        f"{architecture['vocab_size']} entries, {stages['convert']['parameters']} parameters."
    )
    yield f"{manifest['quantization']['profile']}: {manifest['quantization']['scheme']}."
    yield ""
    yield "| file | bytes | sha256 |"
    yield "|---|---|---|"
    for name, facts in manifest["files"].items():
        yield f"| {name} | {facts['bytes']} | {facts['sha256']} |"
    yield ""
    yield (
        f"Largest difference from torch before quantization: {stages['convert']['parity']:.1e} plain, "
        f"{stages['optimize']['parity']:.1e} fused."
    )
    yield f"Characters read as others: {json.dumps(manifest['character_map'], ensure_ascii=False)}."
    yield ""
    proof = manifest["proof"]
    if proof is None:
        yield "**Not proved:** clozes, agreement and the emulated processor were skipped."
        return
    yield from _proof_lines(proof)


def _proof_lines(proof: Mapping[str, Any]) -> Iterator[str]:
    yield "| agreement with fp32 | first answer | first answer where clear | five in common | probability difference |"
    yield "|---|---|---|---|---|"
    rows = [("this processor", proof["native"]), ("emulated Haswell", proof["haswell"])]
    rows.append(("the two with each other", proof["haswell"]["with_native"]))
    for name, facts in rows:
        shares = f"{_share(facts['first'])} | {_share(facts['first_where_clear'])}"
        yield f"| {name} | {shares} | {_mean(facts['five_in_common'])} | {_mean(facts['probability_difference'])} |"
    yield ""
    yield "| right answers | fp32 | int8 |"
    yield "|---|---|---|"
    for name, facts in (
        ("labelled sentences, first", proof["labelled"]["top_1"]),
        ("labelled sentences, among five", proof["labelled"]["top_5"]),
        ("sentences masked anew, first", proof["masked"]["top_1"]),
        ("sentences masked anew, among five", proof["masked"]["top_5"]),
        ("trivial clozes, among five", proof["trivial_clozes"]),
    ):
        yield f"| {name} | {_share(facts['fp32'])} | {_share(facts['int8'])} |"


def _share(facts: Mapping[str, Any]) -> str:
    return f"{facts['value']:.2%} ({facts['low']:.2%} to {facts['high']:.2%}; {facts['hits']} of {facts['total']})"


def _mean(facts: Mapping[str, Any]) -> str:
    return f"{facts['value']:.4f} ({facts['low']:.4f} to {facts['high']:.4f})"
