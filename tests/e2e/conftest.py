"""Processes that the end-to-end tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.support.emulator import BINARY, Emulator
from tests.support.events import ORIGIN
from tests.support.server import serving


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The local server's address."""
    with serving(tmp_path_factory.mktemp("server") / "log", {"TIANKONG_CORS_ORIGINS": ORIGIN}) as address:
        yield address


@pytest.fixture(scope="module")
def needs_emulator() -> None:
    """Skip, loudly, where the emulator was not fetched; fail in CI."""
    if not BINARY.is_file():
        message = "the emulator is missing: run make build/emulator/rie"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)


@pytest.fixture(scope="module")
def emulator(needs_emulator: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    """A running emulator, shared by a module."""
    with Emulator(
        tmp_path_factory.mktemp("emulator") / "log", environment={"TIANKONG_CORS_ORIGINS": ORIGIN}
    ) as running:
        yield running
