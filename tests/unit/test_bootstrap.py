"""The start of an environment: whatever the artifact is like, the function starts and says what is wrong."""

from __future__ import annotations

import hashlib
import json
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from handler import bootstrap
from handler.core.errors import ArtifactCorruptError, ArtifactMissingError, ModelUnavailableError
from handler.settings import Settings
from tests.support import embedded, graphs, vocabularies

TOKENS = (*vocabularies.CONTROL, "天", "地")


@pytest.fixture(autouse=True)
def no_aws(monkeypatch: pytest.MonkeyPatch) -> None:
    """No region and no credentials of this machine."""
    for name in ("AWS_DEFAULT_REGION", "AWS_REGION", "AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent/config")


def write_artifact(folder: Path, model: bytes, tokens: Sequence[str] = TOKENS, **manifest: Any) -> Path:
    """Write an artifact whose digests are right, whatever its files are."""
    vocabularies.write(tokens, folder / "tokenizer.json")
    (folder / "model.onnx").write_bytes(model)
    files = {
        name: {"sha256": hashlib.sha256((folder / name).read_bytes()).hexdigest()}
        for name in ("tokenizer.json", "model.onnx")
    }
    special = vocabularies.special_ids(tokens)
    whole = {
        "schema": 1,
        "name": "tiny",
        "files": files,
        "architecture": {"vocab_size": len(TOKENS), "max_positions": 16},
        "special_ids": {role: getattr(special, role) for role in ("unk", "cls", "sep", "mask")},
        "proof": {"top1": 1.0},
        **manifest,
    }
    (folder / "manifest.json").write_text(json.dumps(whole), encoding="utf-8")
    return folder


def start(folder: Path, **settings: Any) -> bootstrap.Environment:
    """Start an environment on one thread."""
    return bootstrap.start(Settings(model_dir=folder, threads=1, **settings))


def notices(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """Return what the start wrote."""
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_start_answers_with_the_embedded_artifact(capsys: pytest.CaptureFixture[str]) -> None:
    """The default settings give a service on the model in the repository, with its limits."""
    environment = bootstrap.start(Settings(threads=1))
    payload = {"text": "今天天气真[MASK]啊。"}
    answer = embedded.fill(environment.service(), payload)

    assert embedded.artifact().identity == answer.model
    assert environment.limits.max_tokens == min(128, embedded.artifact().max_positions)
    assert all(notice["level"] != "ERROR" for notice in notices(capsys))


def test_start_answers_with_any_artifact_that_is_whole(tmp_path: Path) -> None:
    """A model of seven tokens and sixteen positions is a model; no number of BERT's own is assumed."""
    environment = start(write_artifact(tmp_path, graphs.graph()))
    answer = embedded.fill(environment.service(), {"text": "天[MASK]", "joint": "off"})

    assert answer.results[0].text == "天[MASK]"
    assert environment.limits.max_tokens == 16


@pytest.mark.parametrize("proof", [None, {"top1": 1.0}])
def test_start_warns_of_a_model_without_proof(
    proof: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An artifact that nobody compared with its checkpoint serves, with a warning."""
    start(write_artifact(tmp_path, graphs.graph(), proof=proof))
    warnings = [notice["message"] for notice in notices(capsys) if notice["level"] == "WARNING"]

    assert (["this model was exported without proof of its accuracy"] if proof is None else []) == warnings


def test_start_keeps_the_error_of_a_missing_artifact(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The start succeeds, logs one error that names the folder, and every request gets the same error."""
    environment = start(tmp_path / "absent")
    [notice] = notices(capsys)
    with pytest.raises(ArtifactMissingError) as caught:
        environment.service()

    assert ("ERROR", str(tmp_path / "absent")) == (notice["level"], notice["folder"])
    assert str(tmp_path) not in str(caught.value)
    assert environment.artifact is None


def test_service_raises_the_same_error_without_growing(tmp_path: Path) -> None:
    """A hundred requests to a function without a model leave no hundred frames behind."""
    environment = start(tmp_path)
    depths = []
    for _ in range(100):
        with pytest.raises(ModelUnavailableError) as caught:
            environment.service()
        depths.append(len(traceback.extract_tb(caught.value.__traceback__)))

    assert depths[0] == depths[-1]


@pytest.mark.parametrize(
    ("model", "tokens", "manifest"),
    [
        (b"no graph", TOKENS, {}),
        (b"", TOKENS, {}),
        (graphs.graph(inputs=("input_ids", "position_ids", "mask_positions")), TOKENS, {}),
        (graphs.graph(), (*TOKENS, "人"), {}),
        (graphs.graph(), TOKENS, {"architecture": {"vocab_size": 8, "max_positions": 16}}),
        (graphs.graph(), TOKENS, {"special_ids": {"unk": 1, "cls": 2, "sep": 3, "mask": 5}}),
        (graphs.graph(), TOKENS, {"files": {"model.onnx": {"sha256": "0"}, "tokenizer.json": {"sha256": "0"}}}),
        (graphs.graph(), TOKENS, {"files": {"model.onnx": {"sha256": "0"}}}),
        (graphs.graph(), TOKENS, {"schema": 2}),
    ],
    ids=["garbage", "empty", "inputs", "tokenizer", "size", "special", "digest", "files", "schema"],
)
def test_start_keeps_the_error_of_a_corrupt_artifact(
    model: bytes, tokens: Sequence[str], manifest: dict[str, Any], tmp_path: Path
) -> None:
    """Whatever does not fit together is found in the start, which goes on."""
    environment = start(write_artifact(tmp_path, model, tokens, **manifest))

    assert isinstance(environment.loaded, ArtifactCorruptError)


def test_start_keeps_the_error_of_a_model_that_cannot_run(tmp_path: Path) -> None:
    """A graph that loads but fails on its first run is found then, and the start goes on."""
    environment = start(write_artifact(tmp_path, graphs.graph(rows=1)))

    with pytest.raises(ModelUnavailableError, match="first run"):
        environment.service()


def test_start_keeps_the_error_of_a_runtime_that_cannot_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    """An image without onnxruntime starts and says so."""
    monkeypatch.delitem(sys.modules, "handler.adapters.onnx_model", raising=False)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)

    with pytest.raises(ModelUnavailableError, match="onnxruntime"):
        bootstrap.start(Settings(threads=1)).service()


@pytest.mark.parametrize(("ttl_s", "hits"), [(0, 0), (60, 1)])
def test_start_caches_nothing_when_the_ttl_is_zero(ttl_s: int, hits: int, tmp_path: Path) -> None:
    """CACHE_TTL_S=0 turns every cache off, a named table included."""
    service = start(write_artifact(tmp_path, graphs.graph()), cache_ttl_s=ttl_s, cache_table="table").service()
    embedded.fill(service, {"text": "天[MASK]", "joint": "off"})

    assert hits == embedded.fill(service, {"text": "天[MASK]", "joint": "off"}).cache_hits


@pytest.mark.parametrize("name", ["lexicon.txt", "error_model.json"])
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"null",
        b"[]",
        b"{}",
        b'{"a": 1}',
        b'[{"a": 1}]',
        b"\t\t\n",
        b"\x00",
        b"[" * 100_000,
        "天\t地".encode(),
    ],
)
def test_start_goes_on_with_data_files_that_hold_something_else(name: str, content: bytes, tmp_path: Path) -> None:
    """A data file of the artifact that is right by its digest and wrong by its content stops no start."""
    folder = write_artifact(tmp_path, graphs.graph())
    (folder / name).write_bytes(content)
    manifest = json.loads((folder / "manifest.json").read_bytes())
    manifest["files"][name] = {"sha256": hashlib.sha256(content).hexdigest()}
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")

    environment = start(folder)

    if isinstance(environment.loaded, ModelUnavailableError):
        assert name in str(environment.loaded)
    else:
        assert embedded.fill(environment.loaded, {"text": "天[MASK]"}).results


def test_start_runs_under_the_narrowest_limits(tmp_path: Path) -> None:
    """No combination of limits that the settings allow keeps the function from starting."""
    environment = start(
        write_artifact(tmp_path, graphs.graph()),
        max_tokens=3,
        max_texts=1,
        max_text_chars=1,
        max_masks=1,
        max_top_k=1,
        max_passes=1,
    )

    assert environment.service().limits.max_tokens == 3


def test_start_leaves_records_in_their_queue_when_the_results_queue_is_out_of_reach(tmp_path: Path) -> None:
    """Without a region no answer can be handed over, so none is taken: each is refused with the reason."""
    queue = start(
        write_artifact(tmp_path, graphs.graph()), results_queue="https://queue.example/1/results"
    ).results_queue
    assert queue is not None

    refused = queue.send({"a": "{}", "b": "{}"})

    assert {"a", "b"} == set(refused)
    assert all("NoRegionError" in reason for reason in refused.values())


def test_start_has_no_results_queue_unless_one_is_named(tmp_path: Path) -> None:
    """The default sends answers nowhere."""
    assert start(write_artifact(tmp_path, graphs.graph())).results_queue is None
