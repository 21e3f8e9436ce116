"""Every family goes through the same pipeline and is served by the same code."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="the export extra is not installed: no export is tested")

from export.architecture import read_architecture
from export.config import ExportConfig, wanted_nodes
from export.graph import constant_bytes, count_nodes
from export.pipeline import run_pipeline
from export.serving import ServedArtifact
from export.workspace import read_facts
from handler.bootstrap import start
from handler.settings import Settings
from tests.export.checkpoints import RECIPES

pytestmark = pytest.mark.torch

Workspaces = Callable[[str], tuple[Path, Path]]


def manifest_of(artifact: Path) -> Mapping[str, Any]:
    """Read an artifact's manifest."""
    manifest: Mapping[str, Any] = json.loads((artifact / "manifest.json").read_text(encoding="utf-8"))
    return manifest


@pytest.mark.parametrize("family", RECIPES)
def test_export_equals_torch_before_quantization(workspace: Workspaces, family: str) -> None:
    """Plain and fused graph give torch's logits for batches of 1, 2 and 7, short to the longest, padded."""
    work, _ = workspace(family)

    plain, fused = (read_facts(work / stage)["parity"] for stage in ("convert", "optimize"))

    assert max(plain, fused) < 1e-3


@pytest.mark.parametrize("family", RECIPES)
def test_export_quantizes_every_product(workspace: Workspaces, family: str) -> None:
    """No product of the int8 graph is left in fp32, and every fusion is there."""
    work, out = workspace(family)

    counts = count_nodes(out / "model.onnx")

    layers = read_architecture(work / "load").layers
    wanted = wanted_nodes(read_architecture(work / "load"), "portable")
    assert {name: counts.get(name, 0) for name in wanted} == dict(wanted)
    # Attention outputs have one scale in a run, but in the last layer, which goes on with the asked rows.
    assert counts["DynamicQuantizeMatMul"] == layers - 1
    assert counts["MatMulIntegerToFloat"] == 3 * layers + 1 + family.startswith("albert")


@pytest.mark.parametrize("family", RECIPES)
def test_export_keeps_one_copy_of_the_tied_table(workspace: Workspaces, family: str) -> None:
    """Word rows and decoder read the same bytes, and no fp32 copy of them is left."""
    _, out = workspace(family)

    kinds = {name: kind for name, (kind, _) in constant_bytes(out / "model.onnx").items()}

    tables = {name: kind for name, kind in kinds.items() if name.startswith(("words", "decoder"))}
    assert tables == {"words.table": "UINT8", "words.scales": "FLOAT", "words.zeros": "UINT8", "decoder.bias": "FLOAT"}


@pytest.mark.parametrize("family", RECIPES)
def test_service_serves_the_artifact(workspace: Workspaces, family: str) -> None:
    """The service starts on the artifact and its logits are close to torch's, as far as random weights in int8 go."""
    work, out = workspace(family)
    torch = importlib.import_module("torch")
    facts = read_architecture(work / "load")
    model = getattr(importlib.import_module("transformers"), facts.model_class).from_pretrained(work / "load").eval()
    served = ServedArtifact(out)
    text = served.prepare("the capital of [MASK]" if family == "english" else "中国的首都是北[MASK]。")
    with torch.inference_mode():
        everywhere = model(input_ids=torch.tensor([text.sequence.ids])).logits[0]
    expected = everywhere[list(text.sequence.mask_positions)].numpy()

    environment = start(Settings(model_dir=out))
    logits = served.logits([text])

    assert environment.service().identity.name == family
    assert np.corrcoef(logits.ravel(), expected.ravel())[0, 1] > 0.995


def test_manifest_says_what_was_exported(workspace: Workspaces) -> None:
    """Source, licence, architecture, special ids, digests, and that nothing was proved."""
    _, out = workspace("albert")

    manifest = manifest_of(out)

    assert manifest["schema"] == 1
    assert manifest["source"] == {"id": "albert", "revision": None}
    assert manifest["licence"] == "MIT"
    assert manifest["architecture"] == {
        "family": "albert",
        "layers": 3,
        "hidden": 32,
        "heads": 4,
        "vocab_size": len(RECIPES["albert"].vocabulary()),
        "max_positions": 40,
    }
    assert manifest["special_ids"] == {"pad": 0, "unk": 2, "cls": 3, "sep": 4, "mask": 5}
    assert set(manifest["files"]) == {"model.onnx", "model.bin", "tokenizer.json"}
    assert manifest["proof"] is None


@pytest.mark.parametrize("profile", ["portable", "fast", "fp32"])
def test_export_twice_gives_the_same_bytes(checkpoint: Callable[[str], Path], tmp_path: Path, profile: Any) -> None:
    """Same input, same digests, with nothing of the time or the place in them."""
    manifests = []
    for name in ("one", "two"):
        work = tmp_path / f"work-{name}"
        work.mkdir()
        config = ExportConfig(source=str(checkpoint("bert")), profile=profile, proved=False)
        run_pipeline(work, tmp_path / name, config, lambda line: None)
        manifests.append((tmp_path / name / "manifest.json").read_bytes())

    assert manifests[0] == manifests[1]
    assert manifest_of(tmp_path / "one")["quantization"]["profile"] == profile


@pytest.mark.parametrize("profile", ["portable", "fast"])
@pytest.mark.parametrize("family", ["bert", "albert"])
def test_logits_of_a_blank_do_not_depend_on_the_other_blanks_asked(
    checkpoint: Callable[[str], Path], tmp_path: Path, family: str, profile: Any
) -> None:
    """A position has the numbers that it has alone: no scale is found over the asked rows."""
    from export.session import open_session

    (tmp_path / "work").mkdir()
    config = ExportConfig(source=str(checkpoint(family)), profile=profile, proved=False)
    run_pipeline(tmp_path / "work", tmp_path / "out", config, lambda line: None)
    session = open_session(tmp_path / "out" / "model.onnx", threads=1)
    ids = np.random.default_rng(3).integers(6, 200, (1, 30))
    positions = np.array([1, 29, 12, 12, 7])

    [together] = session.run(None, {"input_ids": ids, "mask_positions": positions})
    alone = np.concatenate(
        [session.run(None, {"input_ids": ids, "mask_positions": np.array([each])})[0] for each in positions]
    )

    np.testing.assert_allclose(together, alone, atol=1e-3 * float(np.abs(alone).max()))
    np.testing.assert_array_equal(together[2], together[3])
