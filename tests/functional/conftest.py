"""The function, started once for each set of settings."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from handler import bootstrap
from handler.core.ports import ResultsQueue
from handler.entry import Function
from handler.settings import Settings
from tests.support.events import ORIGIN

FunctionFactory = Callable[..., Function]


@pytest.fixture(scope="session")
def start() -> FunctionFactory:
    """Start the function with settings and, where given, a results queue; equal settings share a model."""
    environments: dict[Settings, bootstrap.Environment] = {}

    def factory(*, results_queue: ResultsQueue | None = None, **settings: Any) -> Function:
        wanted = Settings(**{"threads": 1, "cors_origins": (ORIGIN,), **settings})
        if wanted not in environments:
            environments[wanted] = bootstrap.start(wanted)
        return Function(dataclasses.replace(environments[wanted], results_queue=results_queue))

    return factory


@pytest.fixture(scope="session")
def function(start: FunctionFactory) -> Function:
    """The function with the default settings, but for one origin that may call it from a browser."""
    return start()
