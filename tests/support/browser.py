"""Debian's Chromium, driven by Playwright, which is imported only where it is used: `make test` has none."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# No sandbox: the tests may run as root. The others keep it from reaching for its maker's hosts.
_FLAGS: Final = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)


def chromium() -> str | None:
    """Return where Chromium is, if it is installed."""
    return shutil.which("chromium")


@contextmanager
def browsing() -> Iterator[Browser]:
    """Run a browser until the block ends."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(_FLAGS))
        try:
            yield browser
        finally:
            browser.close()
