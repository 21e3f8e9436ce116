"""Draws the pictures of the page in docs/images/.

usage: python -m tests.web.screenshots        (TIANKONG_MODEL_DIR chooses another model)
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.browser import browsing
from tests.support.processes import ROOT
from tests.support.server import serving

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

IMAGES = ROOT / "docs" / "images"
WIDE = {"width": 1280, "height": 860}
NARROW = {"width": 375, "height": 812}


def ask(page: Page, text: str) -> None:
    """Type a sentence, ask, and wait for what comes."""
    page.locator("textarea:visible").fill(text)
    page.keyboard.press("Enter")
    page.locator(".details:visible, .problem:visible, .fault:not(:empty):visible").first.wait_for()
    page.wait_for_timeout(700)  # the readings and the bars come a little later


def correct(page: Page) -> None:
    """Check a sentence."""
    page.get_by_role("tab").nth(1).click()
    ask(page, "我已径吃过饭了，他再家里看书。")


def english(page: Page) -> None:
    """Switch first."""
    page.get_by_role("button", name="Switch to English").click()
    ask(page, "他买了一[MASK]书。")


def complete(page: Page) -> None:
    """Take the first filling of all blanks."""
    ask(page, "亡羊[MASK]牢，为时[MASK]晚。")
    page.locator(".joint button, .candidates button").first.click()
    page.wait_for_timeout(700)


def throttled(page: Page) -> None:
    """Be turned away by the gateway."""

    def refuse(route: Route) -> None:
        route.fulfill(status=429, json={"message": "Too Many Requests"})

    page.route("**/v1/fill-mask", refuse)
    ask(page, "今天天气很[MASK]。")


def offline(page: Page) -> None:
    """Lose the network."""
    page.context.set_offline(True)
    ask(page, "今天天气很[MASK]。")


def cold(page: Page) -> None:
    """Wait for a function that starts."""
    page.route("**/v1/fill-mask", lambda route: None)
    page.locator("textarea:visible").fill("今天天气很[MASK]。")
    page.keyboard.press("Enter")
    page.get_by_text("冷启动").wait_for()


def asking(text: str) -> Callable[[Page], None]:
    """Return what asks one sentence."""
    return lambda page: ask(page, text)


# name, what is done, options of the window
PICTURES: list[tuple[str, Callable[[Page], None], dict[str, Any]]] = [
    ("empty", lambda page: page.wait_for_timeout(500), {"viewport": WIDE}),
    ("poem", asking("床前明月[MASK]，疑是地上霜。"), {"viewport": WIDE}),
    ("idiom-dark", asking("守株[MASK][MASK]"), {"viewport": WIDE, "color_scheme": "dark"}),
    ("filled", complete, {"viewport": WIDE}),
    ("correction", correct, {"viewport": WIDE}),
    ("english", english, {"viewport": WIDE}),
    ("narrow", asking("守株[MASK][MASK]"), {"viewport": NARROW}),
    ("fault", asking("今天天气很____。"), {"viewport": WIDE}),
    ("cold-start", cold, {"viewport": WIDE}),
    ("throttled", throttled, {"viewport": WIDE}),
    ("offline", offline, {"viewport": WIDE}),
]


def main() -> None:
    """Draw all of them."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    log = Path(tempfile.mkdtemp()) / "log"
    with serving(log) as address, browsing() as browser:
        for name, act, options in PICTURES:
            context = browser.new_context(locale="zh-CN", reduced_motion="reduce", **options)
            page = context.new_page()
            page.goto(address)
            act(page)
            page.evaluate("document.activeElement.blur()")
            page.screenshot(path=IMAGES / f"page-{name}.png", full_page=name != "narrow")
            context.close()
            print(f"docs/images/page-{name}.png")


if __name__ == "__main__":
    main()
