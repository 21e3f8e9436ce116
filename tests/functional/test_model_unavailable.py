"""A model that cannot be loaded: the import succeeds, and every door says so in its own way."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from handler.core.errors import ModelUnavailableError
from handler.entry import Function
from handler.settings import Settings
from tests.functional.conftest import FunctionFactory
from tests.support.events import ORIGIN, TEXT, Context, http_v2, queue_batch, reply
from tests.support.processes import python

MODEL = Settings().model_dir


def empty(folder: Path) -> None:
    """Leave the folder as it is."""


def without_manifest(folder: Path) -> None:
    """Copy all but the manifest."""
    shutil.copytree(MODEL, folder, dirs_exist_ok=True)
    (folder / "manifest.json").unlink()


def without_model(folder: Path) -> None:
    """Copy all but the graph."""
    shutil.copytree(MODEL, folder, dirs_exist_ok=True)
    (folder / "model.onnx").unlink()


def flipped_byte(folder: Path) -> None:
    """Change one byte in the middle of the graph."""
    shutil.copytree(MODEL, folder, dirs_exist_ok=True)
    path = folder / "model.onnx"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def cut_short(folder: Path) -> None:
    """Lose the end of the graph, as a broken copy does."""
    shutil.copytree(MODEL, folder, dirs_exist_ok=True)
    path = folder / "model.onnx"
    path.write_bytes(path.read_bytes()[:1000])


def git_lfs_pointer(folder: Path) -> None:
    """Have a pointer in place of the graph."""
    shutil.copytree(MODEL, folder, dirs_exist_ok=True)
    (folder / "model.onnx").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 7\n")


def manifest_no_json(folder: Path) -> None:
    """Break the manifest."""
    shutil.copytree(MODEL, folder, dirs_exist_ok=True)
    (folder / "manifest.json").write_text("{")


def manifest_of_another_kind(folder: Path) -> None:
    """Have JSON of no manifest."""
    shutil.copytree(MODEL, folder, dirs_exist_ok=True)
    (folder / "manifest.json").write_text("[]")


def graph_no_file(folder: Path) -> None:
    """Have a folder where the graph should be."""
    without_model(folder)
    (folder / "model.onnx").mkdir()


DAMAGES: list[Callable[[Path], None]] = [
    empty,
    without_manifest,
    without_model,
    flipped_byte,
    cut_short,
    git_lfs_pointer,
    manifest_no_json,
    manifest_of_another_kind,
    graph_no_file,
]


@pytest.fixture(params=DAMAGES, ids=lambda damage: damage.__name__)
def broken(request: pytest.FixtureRequest, start: FunctionFactory, tmp_path: Path) -> Function:
    """The function on an artifact that is not whole."""
    request.param(tmp_path)
    return start(model_dir=tmp_path)


def test_direct_and_queue_events_raise(broken: Function) -> None:
    """So Lambda retries an asynchronous event, and the records stay in the queue."""
    for event in ({"text": TEXT}, {"inputs": TEXT}, queue_batch([{"text": TEXT}])):
        with pytest.raises(ModelUnavailableError):
            broken(event, Context())


@pytest.mark.parametrize(
    ("path", "method", "body"),
    [
        ("/v1/fill-mask", "POST", {"text": TEXT}),
        ("/predict", "POST", {"text": TEXT}),
        ("/hf/fill-mask", "POST", {"inputs": TEXT}),
        ("/v1/model", "GET", None),
        ("/healthz", "GET", None),
    ],
)
def test_http_is_503_with_our_body(path: str, method: str, body: Any, broken: Function) -> None:
    """Callers and health checks learn what is wrong, from a browser too."""
    answer = reply(broken(http_v2(path, body, method=method, headers={"origin": ORIGIN}), Context()))

    assert (answer.status, answer.json["error"]["type"]) == (503, "model_unavailable")
    assert answer.headers["access-control-allow-origin"] == ORIGIN


def test_what_needs_no_model_is_answered(broken: Function) -> None:
    """Warm-ups, documentation and the judgement of bad requests go on."""
    assert broken({"warmer": True}, Context()) == {"warm": True}
    assert broken({"text": 5}, Context())["error"]["type"] == "request_invalid"
    assert reply(broken(http_v2(body={"text": 5}), Context())).status == 422
    assert reply(broken(http_v2("/docs", method="GET"), Context())).status == 200


def test_error_does_not_grow_by_being_raised(start: FunctionFactory, tmp_path: Path) -> None:
    """The same error answers every event: its traceback must not collect the frames, and texts, of all of them."""
    function = start(model_dir=tmp_path)

    def depth() -> int:
        with pytest.raises(ModelUnavailableError) as caught:
            function({"text": TEXT}, Context())
        return len(caught.traceback)

    assert [depth() for _ in range(3)] == [depth()] * 3


@pytest.mark.parametrize("damage", [empty, flipped_byte])
def test_entry_can_be_imported(damage: Callable[[Path], None], tmp_path: Path) -> None:
    """Lambda's own init succeeds; the log says which folder lacks what."""
    damage(tmp_path)

    done = python("-c", "import handler.entry", environment={"TIANKONG_MODEL_DIR": str(tmp_path)})

    assert done.returncode == 0, done.stderr.decode()
    [notice] = [json.loads(line) for line in done.stdout.decode().splitlines() if json.loads(line)["level"] == "ERROR"]
    assert (notice["message"], notice["folder"]) == ("model not available", str(tmp_path))
