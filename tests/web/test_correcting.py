"""The tab that finds wrong characters."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.web.conftest import OpenPage
from tests.web.test_filling import area, ask

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = pytest.mark.browser

TEXT: Final = "𠮷人我已径吃过饭了，他再家里。"
SUGGESTED: Final = {4: ("径", "经"), 11: ("再", "在")}


def answer_of(text: str) -> dict[str, Any]:
    """Return what the service answers where it finds both wrong characters: no model's taste decides this test."""
    corrections = [
        {
            "start": at,
            "end": at + 1,
            "original": wrong,
            "suggestions": [{"token": right, "margin": 4.0}, {"token": "竟", "margin": 0.5}],
        }
        for at, (wrong, right) in SUGGESTED.items()
        if text[at] == wrong
    ]
    corrected = "".join(SUGGESTED[at][1] if at in SUGGESTED else each for at, each in enumerate(text))
    result = {"text": text, "corrected": corrected, "unknown_characters": 1, "cached": False}
    timing = {"total": 3.0, "encode": 0.1, "run": 2.5, "decode": 0.1, "cache": 0.0}
    return {
        "request_id": "r",
        "model": {"name": "m", "digest": "d"},
        "timing_ms": timing,
        "results": [{**result, "corrections": corrections}],
    }


def scripted(page: Page) -> None:
    """Answer the correction of a text as above."""

    def fulfil(route: Route) -> None:
        route.fulfill(json=answer_of(json.loads(route.request.post_data or "{}")["text"]))

    page.route("**/v1/correct", fulfil)


@pytest.fixture
def correcting(open_page: OpenPage) -> Page:
    """The tab, with the text asked."""
    page = open_page(prepare=scripted)
    page.get_by_role("tab", name="改错字").click()
    ask(page, TEXT)
    page.locator(".corrections").wait_for()
    return page


def test_wrong_characters_are_marked_in_place(correcting: Page) -> None:
    """Each is struck out beside the better one, at offsets that count whole characters."""
    assert correcting.locator(".sentence del:visible").all_inner_texts() == ["径", "再"]
    assert correcting.locator(".sentence ins:visible").all_inner_texts() == ["经", "在"]
    assert correcting.locator(".corrections .place").all_inner_texts() == ["第 5 字", "第 12 字"]
    assert "55 倍" in correcting.locator(".corrections").inner_text()
    assert "1 个字不在模型的字表里" in correcting.locator(".details:visible").inner_text()


def test_suggestion_is_taken_with_a_click(correcting: Page) -> None:
    """One character changes, and the rest is checked again."""
    correcting.get_by_role("button", name="把“径”改成 经").click()

    correcting.locator(".corrections .place").filter(has_text="第 5 字").wait_for(state="detached")
    assert area(correcting) == TEXT.replace("径", "经")
    assert correcting.locator(".corrections .place").all_inner_texts() == ["第 12 字"]


def test_all_suggestions_are_taken_at_once(correcting: Page) -> None:
    """Then nothing is wrong any more."""
    correcting.get_by_role("button", name="全部采用").click()

    correcting.get_by_text("没有发现错别字。").locator("visible=true").first.wait_for()
    assert area(correcting) == TEXT.replace("径", "经").replace("再", "在")


def test_real_service_checks_a_sentence(page: Page) -> None:
    """Whatever this model thinks of the sentence, it is answered."""
    page.get_by_role("button", name="我已径吃过饭了。").click()

    page.locator(".sentence p:visible").wait_for()

    assert page.get_by_role("tab", name="改错字").get_attribute("aria-selected") == "true"
    assert area(page) == "我已径吃过饭了。"


def test_model_without_corrections_says_so(open_page: OpenPage, complaints: list[str]) -> None:
    """An artifact that lacks the error model answers 422; the page shows the service's own words."""
    message = "此模型打包时没有包含该操作所需的 error_model.json。"
    body = {"error": {"type": "operation_unavailable", "message": message, "request_id": "r-7"}}
    page = open_page(prepare=lambda page: page.route("**/v1/correct", lambda r: r.fulfill(status=422, json=body)))
    page.get_by_role("tab", name="改错字").click()

    ask(page, "我已径吃过饭了。")

    page.get_by_role("alert").filter(has_text=message).wait_for()
    assert "r-7" in page.get_by_role("alert").filter(has_text=message).inner_text()
    complaints.clear()  # Chromium itself notes the 422
