"""What the image is built from, without building it."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOCK = ROOT / "layers" / "runtime" / "requirements.txt"


def load(path: str) -> ModuleType:
    """Load a script of layers/, which is no package."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("version", [(3, 11), (3, 12), (3, 13)])
def test_lock_has_one_version_of_each_package_for_a_python(version: tuple[int, int]) -> None:
    """Pip would judge the markers by the Python that runs it, not by the image's."""
    text = load("layers/fetch.py").for_python(LOCK.read_text(encoding="utf-8"), version)
    names = re.findall(r"^([a-z0-9-]+)==", text, re.MULTILINE)

    assert len(names) == len(set(names))
    assert "python_full_version" not in text
    assert {"onnxruntime", "numpy", "tokenizers", "mangum"} <= set(names)


def test_lock_keeps_the_hashes_of_what_it_keeps() -> None:
    """Every package still comes with at least one hash."""
    text = load("layers/fetch.py").for_python(LOCK.read_text(encoding="utf-8"), (3, 13))
    entries = re.split(r"\n(?=\S)", text.strip())

    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []


def test_trim_removes_what_no_request_reaches(tmp_path: Path) -> None:
    """Descriptions of services that are called stay; tests, headers and other services go."""
    for name in ("botocore/data/dynamodb/x.json", "botocore/data/ec2/x.json", "botocore/data/endpoints.json",
                 "numpy/tests/test_x.py", "numpy/x.pyi", "numpy/core.py", "bin/tool"):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    load("layers/runtime/install.py").trim(tmp_path)
    left = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file())

    assert left == ["botocore/data/dynamodb/x.json", "botocore/data/endpoints.json", "numpy/core.py"]


def test_modes_are_set_for_every_user(tmp_path: Path) -> None:
    """A checkout under umask 077 makes an image that any user can run."""
    (tmp_path / "folder").mkdir(mode=0o700)
    (tmp_path / "folder" / "file").touch(mode=0o600)
    (tmp_path / "folder" / "program").touch(mode=0o700)
    load("layers/runtime/install.py").set_modes(tmp_path)
    modes = [oct(path.stat().st_mode & 0o777) for path in sorted(tmp_path.rglob("*"))]

    assert modes == ["0o755", "0o644", "0o755"]


def test_dockerfile_needs_nothing_new() -> None:
    """No syntax line, no mounts, no package manager: it builds with old engines and with `sam build`."""
    text = (ROOT / "layers" / "Dockerfile").read_text(encoding="utf-8")
    instructions = "\n".join(line for line in text.splitlines() if not line.startswith("#"))

    assert not re.search(r"^# *syntax *=", text, re.MULTILINE)
    assert not re.search(r"--mount|--chmod|\bdnf\b|\bapt|\byum\b|<<", instructions)
