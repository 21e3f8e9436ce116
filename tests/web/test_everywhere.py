"""The page at every address, width and scheme, with a keyboard alone, and as assistive technology reads it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.support.processes import ROOT
from tests.web.conftest import OpenPage
from tests.web.test_filling import CANDIDATES, area, ask

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = pytest.mark.browser

AXE: Final = ROOT / "handler" / "web" / "node_modules" / "axe-core" / "axe.min.js"
TEXT: Final = "守株[MASK][MASK]"


def behind(site: str, prefix: str) -> Any:
    """Return what puts a proxy before the site that takes off a prefix, and of which the function knows nothing."""

    def proxy(route: Route) -> None:
        route.fulfill(response=route.fetch(url=route.request.url.replace(prefix, "/", 1)))

    return lambda page: page.route(f"{site}{prefix}**", proxy)


@pytest.mark.parametrize("prefix", ["/", "/prod/", "/nlp/", "/nlp"])
def test_page_works_under_a_prefix(prefix: str, site: str, open_page: OpenPage) -> None:
    """At the root, behind a proxy's stage, and under the function's own base path, with or without the last slash."""
    page = open_page(prefix, prepare=behind(site, prefix) if prefix == "/prod/" else None)
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))

    ask(page, TEXT)

    page.locator(CANDIDATES).first.wait_for()
    base = site + prefix.rstrip("/")
    page.locator(".candidates .pinyin", has_text="n").or_(page.locator(".candidates .pinyin")).first.wait_for()
    assert all(url.startswith((f"{base}/v1/", f"{base}/assets/")) for url in requests)
    assert page.get_by_role("link", name="接口文档").get_attribute("href") == f"{base}/docs"


def test_documentation_works_under_the_policy(open_page: OpenPage, site: str) -> None:
    """Swagger UI draws every route, asks nobody else, and needs nothing inline."""
    hosts: set[str] = set()
    page = open_page("/docs", prepare=lambda page: page.on("request", lambda request: hosts.add(request.url)))

    page.get_by_text("/v1/fill-mask").first.click()

    page.get_by_role("button", name="Try it out").first.wait_for()
    assert all(url.startswith((site, "data:")) for url in hosts)


@pytest.mark.parametrize("width", [320, 768, 1440])
@pytest.mark.parametrize("language", ["zh", "en"])
def test_page_fits_its_window(width: int, language: str, open_page: OpenPage) -> None:
    """Nothing stands out to the right, with several blanks and with a long text."""
    page = open_page(viewport={"width": width, "height": 800})
    if language == "en":
        page.get_by_role("button", name="Switch to English").click()
    for text in (TEXT, "今天" + "很" * 60 + "[MASK]，" + "abc" * 30):
        ask(page, text)
        page.locator(".sentence p:visible", has_text=text[:2]).wait_for()

        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_dark_is_dark(open_page: OpenPage) -> None:
    """The page follows the system."""
    page = open_page(color_scheme="dark")

    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")

    assert max(int(part) for part in colour.strip("rgb()").split(",")) < 64


def test_keyboard_alone_fills_a_sentence(page: Page) -> None:
    """From the address bar to the filled sentence without a pointer; where one stands can be seen."""
    focused = "document.activeElement"

    def press_until(condition: str, key: str = "Tab", limit: int = 40) -> None:
        for _ in range(limit):
            if page.evaluate(condition):
                return
            page.keyboard.press(key)
        raise AssertionError(f"{limit} times {key} did not reach {condition}")

    press_until(f"{focused}.matches('textarea')")
    page.keyboard.type("今天天气很")
    page.keyboard.press("Control+m")
    page.keyboard.type("。")
    page.keyboard.press("Enter")
    page.locator(CANDIDATES).first.wait_for()
    press_until(f"{focused}.closest('.candidates') !== null")
    assert page.evaluate(f"getComputedStyle({focused}).outlineStyle") == "solid"
    page.keyboard.press("Enter")

    page.get_by_text("句子已经填满").wait_for()
    assert page.evaluate(f"{focused}.closest('.sentence') !== null")
    assert "[MASK]" not in area(page)


def test_tabs_follow_the_arrows(page: Page) -> None:
    """As tabs do everywhere: one stop for Tab, arrows between them."""
    page.get_by_role("tab", name="填空").focus()

    page.keyboard.press("ArrowRight")

    assert page.get_by_role("tab", name="改错字").get_attribute("aria-selected") == "true"
    assert page.get_by_label("要检查的句子").is_visible()
    page.keyboard.press("Home")
    assert page.get_by_label("带空的句子").is_visible()


def test_answer_is_read_out(page: Page) -> None:
    """A live region tells the best candidates, and what was put in."""
    ask(page, "今天天气很[MASK]。")
    status = page.locator("[role=status]")
    status.filter(has_text="第 1 空：").wait_for()

    page.locator(CANDIDATES).first.click()

    status.filter(has_text="已填入。今天天气很").wait_for()


@pytest.fixture
def axe() -> str:
    """The checker's source; it comes with the page's own tools."""
    if not AXE.is_file():
        message = "axe-core is missing: run npm ci in handler/web"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return AXE.read_text(encoding="utf-8")


@pytest.mark.node
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("state", ["empty", "filled", "fault", "correct", "problem"])
def test_axe_finds_nothing_serious(
    scheme: str, state: str, axe: str, open_page: OpenPage, complaints: list[str]
) -> None:
    """Names, roles, contrast: nothing serious in any state."""
    page = open_page(color_scheme=scheme)
    if state == "filled":
        ask(page, TEXT)
        page.locator(CANDIDATES).first.wait_for()
    elif state == "fault":
        ask(page, "今天很____")
    elif state == "correct":
        page.get_by_role("tab", name="改错字").click()
        ask(page, "我已径吃过饭了。")
        page.locator(".sentence p:visible").wait_for()
    elif state == "problem":
        page.route("**/v1/fill-mask", lambda route: route.fulfill(status=429, json={"message": "Too Many Requests"}))
        ask(page, TEXT)
        page.locator(".problem").wait_for()
        complaints.clear()

    page.evaluate(axe)
    found = page.evaluate("axe.run().then(result => result.violations)")

    serious = [each for each in found if each["impact"] in {"serious", "critical"}]
    assert [(each["id"], [node["html"] for node in each["nodes"]][:3]) for each in serious] == []
