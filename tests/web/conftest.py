"""One server and one browser for all tests of the page; each test has a profile of its own."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.browser import browsing, chromium
from tests.support.language import artifact_with_language
from tests.support.server import serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

OpenPage = Callable[..., "Page"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A running browser; without one, skip loudly, and fail in CI."""
    if chromium() is None or importlib.util.find_spec("playwright") is None:
        message = "no Chromium (Debian: chromium, fonts-noto-cjk) or no playwright (locks/browser.txt)"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    with browsing() as running:
        yield running


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of `make serve`, with a lexicon and an error model of the tests' own, also under /nlp."""
    artifact = artifact_with_language(tmp_path_factory.mktemp("artifact"))
    environment = {"TIANKONG_MODEL_DIR": str(artifact), "TIANKONG_BASE_PATH": "/nlp"}
    with serving(tmp_path_factory.mktemp("site") / "log", environment) as address:
        yield address


@pytest.fixture
def complaints() -> list[str]:
    """What the page said on its console or threw: a test may take from it what it provoked."""
    return []


@pytest.fixture
def open_page(browser: Browser, site: str, complaints: list[str]) -> Iterator[OpenPage]:
    """Open the page, with options of a new profile; at the end nothing may have gone wrong unnoticed."""
    contexts: list[AbstractContextManager[Any]] = []

    def open_at(path: str = "/", *, prepare: Callable[[Page], object] | None = None, **options: Any) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, "locale": "zh-CN", **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        if prepare is not None:
            prepare(page)
        page.goto(site + path)
        return page

    yield open_at
    for context in contexts:
        context.__exit__(None, None, None)
    assert complaints == []


@pytest.fixture
def page(open_page: OpenPage) -> Page:
    """The page, at the root."""
    return open_page()
