"""Every way in which a checkpoint can be unusable gives its own clear error, and no folder."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the export extra is not installed: no export is tested")

from export.__main__ import main
from export.config import ExportConfig
from export.errors import (
    AgreementError,
    ExportError,
    HeadMissingError,
    NotMaskedLmError,
    SourceMissingError,
    TokenizerError,
    WeightsMissingError,
    WeightsUnreadableError,
)
from export.pipeline import run_pipeline
from tests.export.checkpoints import RECIPES, write_checkpoint

pytestmark = pytest.mark.torch


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A good checkpoint, for the test to break."""
    folder = tmp_path / "source"
    write_checkpoint(folder, RECIPES["bert"])
    return folder


def attempt(source: Path, error: type[ExportError], **options: Any) -> str:
    """Export, expect the error, see that nothing is left, and return the message."""
    out = source.parent / "out" / "model"
    work = source.parent / "work"
    work.mkdir(exist_ok=True)
    config = ExportConfig(source=str(source), **{"proved": False, **options})
    with pytest.raises(error) as caught:
        run_pipeline(work, out, config, lambda line: None)
    assert not out.exists()
    assert not list(work.glob(".*"))
    return str(caught.value)


def edit_config(source: Path, **changes: Any) -> None:
    """Change fields of config.json."""
    path = source / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def edit_weights(source: Path, **changes: Any) -> None:
    """Drop the arrays whose names contain a word (drop=) or replace the whole file's names."""
    safetensors = importlib.import_module("safetensors.torch")
    path = source / "model.safetensors"
    state = safetensors.load_file(path)
    state = {name: array for name, array in state.items() if changes["drop"] not in name}
    safetensors.save_file(state, path, metadata={"format": "pt"})


def test_head_missing_is_named(source: Path) -> None:
    """Transformers would fill the head with random numbers and only warn."""
    edit_weights(source, drop="cls.predictions")

    message = attempt(source, HeadMissingError)

    assert "cls.predictions.transform.dense.weight" in message
    assert "cls.predictions.bias" in message


def test_body_weights_missing_are_named(source: Path) -> None:
    """The same for any other part."""
    edit_weights(source, drop="layer.1.output.dense.weight")

    assert "bert.encoder.layer.1.output.dense.weight" in attempt(source, WeightsMissingError)


def test_vocabulary_of_another_length_is_refused(source: Path) -> None:
    """The tokenizer's ids would mean other rows."""
    path = source / "vocab.txt"
    path.write_text(path.read_text(encoding="utf-8") + "多\n", encoding="utf-8")
    entries = len(RECIPES["bert"].vocabulary())

    message = attempt(source, TokenizerError)

    assert f"{entries + 1} entries" in message
    assert f"scores {entries}" in message


def test_vocabulary_without_mask_is_refused(source: Path) -> None:
    """Nothing could be asked."""
    path = source / "vocab.txt"
    path.write_text(path.read_text(encoding="utf-8").replace("[MASK]", "[BLANK]"), encoding="utf-8")

    assert "[MASK]" in attempt(source, TokenizerError)


def test_vocabulary_absent_is_refused(source: Path) -> None:
    """As some checkpoints are published."""
    (source / "vocab.txt").unlink()

    assert "neither vocab.txt nor tokenizer.json" in attempt(source, TokenizerError)


def test_tokenizer_of_another_kind_is_refused(source: Path) -> None:
    """SentencePiece and byte-level vocabularies are not what the service reads."""
    (source / "vocab.txt").unlink()
    (source / "tokenizer.json").write_text(json.dumps({"model": {"type": "Unigram", "vocab": []}}))

    assert "Unigram" in attempt(source, TokenizerError)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"model_type": "gpt2"}, "gpt2"),
        ({"model_type": "roberta"}, "roberta"),
        ({"architectures": ["BertForSequenceClassification"]}, "BertForSequenceClassification"),
        ({"is_decoder": True}, "is_decoder"),
        ({"hidden_act": "silu"}, "silu"),
        ({"hidden_size": "wide"}, "size"),
    ],
)
def test_other_networks_are_refused(source: Path, changes: dict[str, Any], told: str) -> None:
    """Not a masked language model, or one that the graph does not have the parts for."""
    edit_config(source, **changes)

    assert told in attempt(source, NotMaskedLmError)


@pytest.mark.parametrize("damage", ["cut", "noise", "empty"])
def test_corrupt_safetensors_are_refused(source: Path, damage: str) -> None:
    """A download that broke off, or a pointer file in place of the weights."""
    path = source / "model.safetensors"
    whole = path.read_bytes()
    path.write_bytes({"cut": whole[: len(whole) // 2], "noise": b"version https://git-lfs" * 9, "empty": b""}[damage])

    assert "cannot be loaded" in attempt(source, WeightsUnreadableError)


def test_weights_of_other_shapes_are_refused(source: Path) -> None:
    """A config.json of another size."""
    edit_config(source, intermediate_size=48)

    attempt(source, WeightsUnreadableError)


def test_weights_absent_are_refused(source: Path) -> None:
    """Only a config.json and a vocabulary."""
    (source / "model.safetensors").unlink()

    assert "no weights" in attempt(source, SourceMissingError)


def test_config_absent_is_refused(source: Path) -> None:
    """Some other folder."""
    (source / "config.json").unlink()

    assert "config.json" in attempt(source, SourceMissingError)


def test_random_head_is_caught_by_trivial_clozes(source: Path) -> None:
    """A head that is there but was never trained, as one large checkpoint is published, passes every check of names."""
    message = attempt(source, AgreementError, proved=True, positions=30, emulated_positions=3)

    assert "trivial clozes" in message
    assert "fp32: only 0 of 20" in message or "fp32: only 1 of 20" in message


def test_command_line_gives_one_line_and_no_folder(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a person at a terminal sees."""
    edit_weights(source, drop="cls.predictions")
    out = source.parent / "out" / "model"

    code = main([str(source), "--out", str(out), "--unproved"])

    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("export:")]
    assert code == 1
    assert len(errors) == 1
    assert "has no masked-LM head" in errors[0]
    assert list(out.parent.iterdir()) == []


def test_unknown_product_to_keep_is_refused(source: Path) -> None:
    """Names of excluded products are checked, or a typing error would quietly change nothing."""
    from export.errors import OptionsError

    message = attempt(source, OptionsError, keep_float=("layer0.upp",))

    assert "layer0.upp" in message
    assert "layer0.up," in message
