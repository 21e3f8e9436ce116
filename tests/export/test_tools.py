"""The scan, the comparison of two artifacts, the decision about punctuation, and the reference design's graph."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

pytest.importorskip("torch", reason="the export extra is not installed: no export is tested")

from export.__main__ import main
from export.architecture import Architecture, read_architecture
from export.character_map import PLAIN_FORMS, choose_character_map
from export.compare import main as compare
from export.config import ExportConfig
from export.convert import write_reference_design
from export.evaluation.sentences import PUNCTUATED
from export.pipeline import run_pipeline, run_stage
from export.quantize import product_nodes
from export.reference import Reference
from export.scan import WORD_TABLE
from export.session import open_session
from export.vocabulary import read_vocabulary
from export.weights import read_weights
from export.workspace import read_facts
from tests.export.checkpoints import RECIPES, write_checkpoint

pytestmark = pytest.mark.torch

Workspaces = Callable[[str], tuple[Path, Path]]


@pytest.mark.parametrize("family", ["bert", "albert"])
def test_scan_names_products_that_can_be_kept(workspace: Workspaces, tmp_path: Path, family: str) -> None:
    """Every product once, the most sensitive first, by the names that --keep-float takes."""
    work, _ = workspace(family)

    run_stage("scan", work, lambda line: None)

    rows = read_facts(work / "scan")["products"]
    facts = read_architecture(work / "load")
    names = product_nodes(read_weights(work / "load" / "model.safetensors", facts))
    assert {row["product"] for row in rows} == {*names, WORD_TABLE}
    assert [row["logit_error"] for row in rows] == sorted((row["logit_error"] for row in rows), reverse=True)
    assert rows[-1]["logit_error"] > 0


def test_kept_products_stay_float(checkpoint: Callable[[str], Path], tmp_path: Path) -> None:
    """And the counts that are wanted follow."""
    (tmp_path / "work").mkdir()
    kept = ("layer0.down", "layer1.attention_output", "head.transform")
    config = ExportConfig(source=str(checkpoint("bert")), proved=False, keep_float=kept)

    run_pipeline(tmp_path / "work", tmp_path / "out", config, lambda line: None)

    facts = read_facts(tmp_path / "work" / "quantize")
    assert facts["nodes"]["MatMul"] == 3
    assert facts["nodes"]["MatMulIntegerToFloat"] == 6 - 1
    assert facts["nodes"]["DynamicQuantizeMatMul"] == 1  # layer0.attention_output
    assert read_facts(tmp_path / "out", "manifest.json")["quantization"]["keep_float"] == sorted(kept)


def test_compare_shows_both_artifacts(workspace: Workspaces, capsys: pytest.CaptureFixture[str]) -> None:
    """Five entries of each, for each blank."""
    _, bert = workspace("bert")
    _, albert = workspace("albert")

    code = compare([str(bert), str(albert), "今天[MASK]气真[MASK]。"])

    lines = capsys.readouterr().out.splitlines()
    assert code == 0
    assert [line for line in lines if "blank" in line] == ["  blank 1: bert | albert", "  blank 2: bert | albert"]
    assert sum(" | " in line for line in lines) == 2 + 2 * 5


@pytest.mark.parametrize("text", ["没有空格", "[MASK]" * 40])
def test_compare_refuses_what_the_service_refuses(
    workspace: Workspaces, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    """One line, no stack trace."""
    _, bert = workspace("bert")

    code = compare([str(bert), str(bert), text])

    assert code == 1
    assert capsys.readouterr().err.startswith("compare: ")


def test_reference_design_gives_all_logits(workspace: Workspaces, tmp_path: Path) -> None:
    """Every position, equal to torch."""
    work, _ = workspace("bert")
    facts = read_architecture(work / "load")
    rng = np.random.default_rng(5)
    ids = rng.integers(0, facts.vocab_size, (2, 9))
    seen = np.ones_like(ids)

    write_reference_design(work / "load", tmp_path / "reference.onnx")
    feeds = {"input_ids": ids, "attention_mask": seen, "token_type_ids": np.zeros_like(ids)}
    [logits] = open_session(tmp_path / "reference.onnx").run(None, feeds)

    expected = Reference(work / "load", facts).all_logits(ids, seen, np.zeros_like(ids))
    np.testing.assert_allclose(logits.reshape(expected.shape), expected, atol=1e-3)


@pytest.mark.parametrize("read_plain", [True, False])
def test_character_map_is_what_the_model_was_trained_with(tmp_path: Path, read_plain: bool) -> None:
    """A model that saw plain quotes in training gets them; one that saw [UNK] in their place goes on seeing it."""
    facts = architecture_of_checkpoint(tmp_path)
    vocabulary = read_vocabulary(tmp_path, facts)
    quotes = dict(PLAIN_FORMS["double quotes"])
    learn_by_heart(tmp_path, vocabulary.tokenizer(quotes if read_plain else {}))

    chosen = choose_character_map(vocabulary, Reference(tmp_path, facts))

    assert (chosen.gains["double quotes"].value > 0) == read_plain
    assert {old: new for old, new in chosen.mapping.items() if old in quotes} == (quotes if read_plain else {})


def architecture_of_checkpoint(folder: Path) -> Architecture:
    """Write a random checkpoint, and read what it is."""
    write_checkpoint(folder, RECIPES["bert"], initializer_range=0.05, num_hidden_layers=1)
    return read_architecture(folder)


def learn_by_heart(folder: Path, tokenizer: Tokenizer) -> None:
    """Train a checkpoint on the sentences with unusual punctuation, a third of the tokens masked at a time."""
    torch = importlib.import_module("torch")
    model = importlib.import_module("transformers").BertForMaskedLM.from_pretrained(folder)
    encodings = [tokenizer.encode(text) for text in PUNCTUATED if "“" in text]
    length = max(len(encoding.ids) for encoding in encodings)
    ids = torch.tensor([encoding.ids + [0] * (length - len(encoding.ids)) for encoding in encodings])
    seen = (ids != 0).long()
    torch.manual_seed(1)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(80):
        hidden = (torch.rand(ids.shape) < 0.3) & (ids > 5)
        labels = ids.masked_fill(~hidden, -100)
        masked = ids.masked_fill(hidden, tokenizer.token_to_id("[MASK]"))
        optimizer.zero_grad()
        model(input_ids=masked, attention_mask=seen, labels=labels).loss.backward()
        optimizer.step()
    model.save_pretrained(folder)


def test_lexicon_and_error_model_are_packed(checkpoint: Callable[[str], Path], tmp_path: Path) -> None:
    """Their digests are in the manifest, so that an answer's key changes with them."""
    (tmp_path / "words.txt").write_text("守株待兔\n", encoding="utf-8")
    (tmp_path / "errors.json").write_text("{}", encoding="utf-8")
    options = ["--lexicon", str(tmp_path / "words.txt"), "--error-model", str(tmp_path / "errors.json"), "--unproved"]

    code = main([str(checkpoint("bert")), "--out", str(tmp_path / "out"), *options])

    assert code == 0
    files = read_facts(tmp_path / "out", "manifest.json")["files"]
    assert set(files) == {"model.onnx", "model.bin", "tokenizer.json", "lexicon.txt", "error_model.json"}
    assert (tmp_path / "out" / "lexicon.txt").read_text(encoding="utf-8") == "守株待兔\n"
