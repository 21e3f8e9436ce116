"""The same artifact on a processor without VNNI."""

from __future__ import annotations

import dataclasses
import importlib
import shutil
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="the export extra is not installed: no export is tested")

from export.agreement import compare_logits
from export.config import ExportConfig, Gates
from export.emulation import EMULATOR, emulated_logits
from export.errors import AgreementError
from export.graph import save_model
from export.manifest import write_manifest
from export.network import write_network
from export.pipeline import run_pipeline
from export.products import RowProducts
from export.quantize import int8_layout
from export.serving import ServedArtifact
from export.verify import gate_failures
from export.weights import read_weights
from export.workspace import read_facts
from tests.export.checkpoints import RECIPES, write_checkpoint, write_opinionated_checkpoint

pytestmark = [pytest.mark.torch, pytest.mark.slow]

needs_emulator = pytest.mark.skipif(
    shutil.which(EMULATOR) is None,
    reason=f"{EMULATOR} is not installed (Debian: qemu-user): no other processor is tested",
)
TEXTS = ("中国的首都是北[MASK]。", "[MASK]天天[MASK]真好。", "春眠不觉[MASK]，处处闻啼[MASK]。")


def write_extreme_checkpoint(folder: Path) -> None:
    """Write a checkpoint whose matrices hold nothing but their two extremes: every byte is as large as it can be."""
    torch = importlib.import_module("torch")
    model = write_checkpoint(folder, RECIPES["bert"])
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "encoder" in name and name.endswith("weight") and parameter.ndim == 2:
                parameter.copy_(0.3 * torch.where(parameter >= 0, 1.0, -1.0))
    model.save_pretrained(folder)


@needs_emulator
@pytest.mark.timeout(300)
def test_check_bites_on_a_graph_that_saturates(tmp_path: Path) -> None:
    """Full-range bytes answer differently on Haswell and fail the gates there; paired ones give the same numbers."""
    source, work = tmp_path / "source", tmp_path / "work"
    write_extreme_checkpoint(source)
    work.mkdir()
    config = ExportConfig(source=str(source), proved=False)
    run_pipeline(work, tmp_path / "paired", config, lambda line: None)
    shutil.copytree(tmp_path / "paired", tmp_path / "saturating")
    from export.architecture import read_architecture

    facts = read_architecture(work / "load")
    weights = read_weights(work / "load" / "model.safetensors", facts)
    layout = int8_layout(facts, weights, config, {})
    graph = write_network(facts, weights, dataclasses.replace(layout, products=RowProducts(saturating=True)))
    save_model(graph, tmp_path / "saturating" / "model.onnx")
    (tmp_path / "saturating" / "model.bin").unlink()
    write_manifest(tmp_path / "saturating", work, config, None)

    errors, failures = {}, {}
    for name in ("paired", "saturating"):
        served = ServedArtifact(tmp_path / name)
        native = served.logits([served.prepare(text) for text in TEXTS])
        emulated = emulated_logits(tmp_path / name, TEXTS)
        errors[name] = float(np.abs(native - emulated).max() / np.abs(native).max())
        failures[name] = gate_failures(compare_logits(native, emulated, 0.05), Gates(), "on Haswell")

    assert errors["paired"] < 0.02
    assert errors["saturating"] > 0.1
    assert failures["paired"] == []
    assert failures["saturating"] != []


@needs_emulator
@pytest.mark.timeout(300)
def test_proof_is_written_when_every_gate_holds(tmp_path: Path) -> None:
    """The whole proof on a checkpoint that is sure of itself: figures in manifest and report."""
    write_opinionated_checkpoint(tmp_path / "source")
    work = tmp_path / "work"
    work.mkdir()
    config = ExportConfig(source=str(tmp_path / "source"), positions=200, emulated_positions=6)

    run_pipeline(work, tmp_path / "out", config, lambda line: None)

    proof = read_facts(tmp_path / "out", "manifest.json")["proof"]
    assert proof["native"]["first"]["total"] == 200
    assert proof["native"]["first"]["value"] == 1.0
    assert proof["haswell"]["first"]["total"] == 6
    assert proof["haswell"]["with_native"]["first"]["value"] == 1.0
    assert proof["trivial_clozes"]["int8"]["hits"] >= 5
    assert proof["labelled"]["top_1"]["fp32"] == proof["labelled"]["top_1"]["int8"]
    report = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "| emulated Haswell | 100.00% (60.97% to 100.00%; 6 of 6)" in report


def test_missing_emulator_fails_the_proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not skipped in silence."""
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(AgreementError, match="qemu-user"):
        emulated_logits(tmp_path, TEXTS)
