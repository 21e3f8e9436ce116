"""Doubles of the results queue."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any


class RecordingResultsQueue:
    """Keeps what it is sent, in order, and refuses what it is told to.

    Args:
        refuses: tells by a message, read as JSON, whether it is refused.
    """

    def __init__(self, refuses: Callable[[Any], bool] = lambda message: False) -> None:
        self.messages: list[Any] = []
        self.texts: list[str] = []  # the same as they were sent
        self._refuses = refuses

    def send(self, messages: Mapping[str, str]) -> Mapping[str, str]:
        """See handler.core.ports.ResultsQueue."""
        refused: dict[str, str] = {}
        for key, text in messages.items():
            message = json.loads(text)
            if self._refuses(message):
                refused[key] = "InternalError"
            else:
                self.messages.append(message)
                self.texts.append(text)
        return refused
