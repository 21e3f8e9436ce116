"""The gates that need no text bite: parity, node counts, sizes, and what the service reads."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the export extra is not installed: no export is tested")

from export.architecture import read_architecture
from export.config import ExportConfig, Gates
from export.convert import write_reference_design
from export.errors import ParityError, StructureError
from export.graph import save_model
from export.network import Layout, write_network
from export.optimize import check_nodes
from export.parity import check_parity, saved_cases
from export.pipeline import run_stage
from export.quantize import check_size
from export.weights import read_weights

pytestmark = pytest.mark.torch

Workspaces = Callable[[str], tuple[Path, Path]]


@pytest.mark.parametrize(
    "wrong", [{"layer_norm_epsilon": 1e-2}, {"activation": "gelu_new"}, {"heads": 2}], ids=["epsilon", "gelu", "heads"]
)
def test_network_with_one_choice_wrong_fails(workspace: Workspaces, tmp_path: Path, wrong: dict[str, object]) -> None:
    """Each of the mistakes that exporters have made: the graph runs, and is nearly right."""
    work, _ = workspace("bert")
    facts = read_architecture(work / "load")
    weights = read_weights(work / "load" / "model.safetensors", facts)
    mistaken = dataclasses.replace(facts, **wrong)  # type: ignore[arg-type]  # the fields are named in the parameters
    save_model(write_network(mistaken, weights, Layout()), tmp_path / "model.onnx")

    with pytest.raises(ParityError, match="a batch of 7 by 40 tokens differs from torch"):
        check_parity(tmp_path / "model.onnx", saved_cases(work / "convert"), 1e-3)


def test_fusion_that_is_missing_fails_by_its_count(workspace: Workspaces) -> None:
    """The plain graph where the fused one is wanted: no attention node at all."""
    work, _ = workspace("bert")

    with pytest.raises(StructureError, match="Attention: 0 nodes instead of 2"):
        check_nodes(work / "convert" / "model.onnx", read_architecture(work / "load"), "fp32")


def test_graph_that_the_service_does_not_understand_fails(workspace: Workspaces, tmp_path: Path) -> None:
    """Logits everywhere in place of the masked positions: the service would not know what to feed."""
    work, _ = workspace("bert")
    shutil.copytree(work, tmp_path / "work")
    write_reference_design(work / "load", tmp_path / "work" / "quantize" / "model.onnx")

    with pytest.raises(StructureError, match="the service does not load the artifact"):
        run_stage("verify", tmp_path / "work", lambda line: None)


def test_graph_with_large_float_constants_fails(workspace: Workspaces) -> None:
    """An fp32 graph in place of the int8 one: too many bytes in one constant."""
    work, _ = workspace("bert")
    weights = read_weights(work / "load" / "model.safetensors", read_architecture(work / "load"))
    strict = dataclasses.replace(Gates(), float_constant_bytes=50_000)

    with pytest.raises(StructureError, match="words is a constant of"):
        check_size(work / "optimize" / "model.onnx", weights, ExportConfig(gates=strict))
