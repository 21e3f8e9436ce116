"""What the unit tests share."""

from __future__ import annotations

import socket
from typing import NoReturn

import pytest


@pytest.fixture(autouse=True)
def sockets_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """A unit test that reaches for the network fails."""

    def refuse(*_: object) -> NoReturn:
        raise AssertionError("a unit test opened a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
