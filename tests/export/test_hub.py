"""Repositories by id, from a mirror of the hub that the test itself is."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from export.errors import SourceMissingError
from export.hub import find_checkpoint

ROOT = Path(__file__).resolve().parents[2]
COMMIT = "0123456789abcdef0123456789abcdef01234567"
FILES = {
    "config.json": b'{"model_type": "bert"}',
    "vocab.txt": b"[PAD]\n",
    "model.safetensors": b"safe",
    "pytorch_model.bin": b"not wanted beside safetensors",
    "flax_model.msgpack": b"never wanted",
    "README.md": b"never wanted",
}


class Mirror(BaseHTTPRequestHandler):
    """Answers what huggingface_hub asks of the hub about one repository."""

    def do_HEAD(self) -> None:
        """Describe a file."""
        self._answer(with_body=False)

    def do_GET(self) -> None:
        """Send a file, or describe the repository."""
        self._answer(with_body=True)

    def _answer(self, *, with_body: bool) -> None:
        path = self.path.split("?")[0]
        if path.startswith("/api/models/someone/bert"):
            names = [{"rfilename": name} for name in FILES]
            facts = {"id": "someone/bert", "sha": COMMIT, "siblings": names, "cardData": {"license": "apache-2.0"}}
            if "/tree/" in path:
                self._send(json.dumps([_tree_entry(name) for name in FILES]).encode(), "application/json", with_body)
            else:
                self._send(json.dumps(facts).encode(), "application/json", with_body)
            return
        prefix = f"/someone/bert/resolve/{COMMIT}/"
        name = path.removeprefix(prefix)
        if path.startswith(prefix) and name in FILES:
            self._send(FILES[name], "application/octet-stream", with_body)
        else:
            self.send_error(404)

    def _send(self, body: bytes, kind: str, with_body: bool) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", f'"{hashlib.sha1(body).hexdigest()}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.end_headers()
        if with_body:
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
        """Stay quiet."""


def _tree_entry(name: str) -> dict[str, object]:
    return {"type": "file", "path": name, "size": len(FILES[name]), "oid": hashlib.sha1(FILES[name]).hexdigest()}


@pytest.fixture
def mirror() -> Iterator[str]:
    """Address of the mirror."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Mirror)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def find_in_new_process(repository: str, endpoint: str, cache: Path) -> subprocess.CompletedProcess[str]:
    """Fetch in a process of its own: the library reads HF_ENDPOINT when it is imported."""
    program = (
        "import sys; from export.hub import find_checkpoint; from export.errors import SourceMissingError\n"
        "try: found = find_checkpoint(sys.argv[1], None)\n"
        "except SourceMissingError as error: sys.exit(str(error))\n"
        "print(found.id, found.revision, found.licence, *sorted(path.name for path in found.folder.iterdir()))"
    )
    environment = {
        "HF_ENDPOINT": endpoint,
        "HF_HOME": str(cache),
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "NO_PROXY": "*",
        "PATH": "/usr/bin:/bin",
    }
    return subprocess.run(
        [sys.executable, "-c", program, repository],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def test_repository_is_fetched_from_a_mirror_and_its_commit_recorded(mirror: str, tmp_path: Path) -> None:
    """Safetensors only where both kinds are there, and nothing that is not used."""
    found = find_in_new_process("someone/bert", mirror, tmp_path)

    assert found.stdout.split() == [
        "someone/bert",
        COMMIT,
        "apache-2.0",
        "config.json",
        "model.safetensors",
        "vocab.txt",
    ], found.stderr


def test_repository_absent_from_the_mirror_is_an_error_that_names_it(mirror: str, tmp_path: Path) -> None:
    """One line that says what was asked for, and where else to look."""
    found = find_in_new_process("someone/else", mirror, tmp_path)

    assert found.returncode == 1
    assert "someone/else is no folder here" in found.stderr
    assert "HF_ENDPOINT" in found.stderr


def test_mirror_that_does_not_answer_is_an_error(tmp_path: Path) -> None:
    """No network, the usual case."""
    found = find_in_new_process("someone/bert", "http://127.0.0.1:9", tmp_path)

    assert found.returncode == 1
    assert "could not be fetched from the hub" in found.stderr


@pytest.mark.parametrize("source", ["no/such/folder/here", "", "/nowhere"])
def test_source_that_is_neither_is_refused_without_asking_anyone(source: str) -> None:
    """A mistyped path is not looked up on the network."""
    with pytest.raises(SourceMissingError, match="no folder"):
        find_checkpoint(source, None)
