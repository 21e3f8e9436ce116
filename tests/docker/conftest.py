"""One engine, one base image and one build of our image for all tests with Docker."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docker.engine import OFFLINE, ROOT, TAG, docker
from tests.support import base_image, engine, tools

_PARTS = ("handler", "layers", "infra", "template.yaml", "samconfig.toml", ".dockerignore")


def _without(reason: str) -> None:
    """Skip, and say why; where everything must run, fail."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def docker_host() -> Iterator[str | None]:
    """Yield the address of an engine that answers: a given one, the machine's own, or one that lives for the tests."""
    if engine.responds(os.environ.get("DOCKER_HOST")):
        yield os.environ.get("DOCKER_HOST")
        return
    folder = Path(tempfile.mkdtemp(prefix="tiankong-engine-"))
    address = ""
    try:
        address = engine.start(folder)
    except engine.EngineUnavailableError as error:
        shutil.rmtree(folder, ignore_errors=True)
        _without(f"tests with Docker need an engine: {error}")
    os.environ["DOCKER_HOST"] = address
    try:
        yield address
    finally:
        del os.environ["DOCKER_HOST"]
        engine.stop(folder)


@pytest.fixture(scope="session")
def base(docker_host: str | None) -> bool:
    """Make sure that the base image is there and return whether it is the stand-in."""
    if not (ROOT / "build" / "emulator" / "rie").exists():
        _without("the runtime emulator is not there: run `make build/emulator/rie`")
    return base_image.ensure()


@pytest.fixture(scope="session")
def project(base: bool, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of what the image is made of, as a checkout under umask 077 would have it, with the wheels."""
    if not (ROOT / "layers" / "runtime" / "wheels").is_dir():
        subprocess.run([sys.executable, "layers/fetch.py"], cwd=ROOT, check=True, stderr=subprocess.DEVNULL)
    target = tmp_path_factory.mktemp("checkout") / "project"
    target.mkdir()
    for name in _PARTS:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, target / name, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
        else:
            shutil.copy2(source, target / name)
    for path in (target, *target.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
    return target


@pytest.fixture(scope="session")
def image(project: Path) -> str:
    """Build the image as `make image` does and return its name."""
    docker("build", "--quiet", "--file", "layers/Dockerfile", "--tag", TAG, ".", folder=project, limit_s=300)
    return TAG


@pytest.fixture(scope="session")
def sam() -> Path:
    """Return the SAM CLI."""
    try:
        return tools.program("sam", "sam")
    except tools.ToolsMissingError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def built(sam: Path, image: str, project: Path) -> Path:
    """Build with SAM, from the layers that the image left in the engine, and return the project's folder."""
    seen = subprocess.run(
        [str(sam), "build"], cwd=project, env={**os.environ, **OFFLINE}, capture_output=True, text=True, check=False
    )
    assert seen.returncode == 0, seen.stderr[-3000:]
    return project
