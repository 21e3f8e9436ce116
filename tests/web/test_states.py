"""What the page says when there is no answer yet, or none at all, and what may be done."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.web.conftest import OpenPage
from tests.web.test_filling import CANDIDATES, area, ask

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

OWN = {"error": {"type": "t", "message": "服务自己的说明。", "request_id": "r-9"}}


def test_first_sight_says_what_to_do(page: Page) -> None:
    """An empty page has an invitation and examples of every kind."""
    assert page.get_by_text("写一句带空的话，或者从一个例子开始").is_visible()
    for kind in ("成语", "诗句", "常识", "量词", "错别字"):
        assert page.get_by_role("heading", name=kind, exact=True).is_visible()


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (413, OWN, ["太长", "服务自己的说明。", "缩短", "r-9"]),
        (422, OWN, ["没有接受", "服务自己的说明。", "r-9"]),
        (503, OWN, ["暂时不可用", "服务自己的说明。", "重试"]),
        (500, OWN, ["出错", "服务自己的说明。", "r-9"]),
        (429, {"message": "Too Many Requests"}, ["太频繁", "等几秒"]),
        (503, {"message": "Service Unavailable"}, ["暂时不可用", "过几秒"]),
        (504, {"message": "Endpoint request timed out"}, ["暂时不可用"]),
        (413, {"message": "Request Too Long"}, ["太长", "缩短"]),
    ],
)
def test_refusal_is_explained_and_retried(
    status: int, body: dict[str, Any], words: list[str], open_page: OpenPage, complaints: list[str]
) -> None:
    """Ours and a gateway's: what happened, what to do, and a button that asks again; the sentence is not lost."""
    page = open_page()
    page.route("**/v1/fill-mask", lambda route: route.fulfill(status=status, json=body), times=1)
    ask(page, "今天天气很[MASK]。")
    trouble = page.locator(".problem")
    trouble.wait_for()

    text = trouble.inner_text()
    page.get_by_role("button", name="重试").click()

    page.locator(CANDIDATES).first.wait_for()
    assert [word for word in words if word not in text] == []
    assert trouble.count() == 0
    assert area(page) == "今天天气很[MASK]。"
    complaints.clear()  # Chromium itself notes the status


def test_offline_is_told_and_ends_by_itself(page: Page, complaints: list[str]) -> None:
    """Without a network the page says so, and asks again when there is one."""
    page.context.set_offline(True)
    ask(page, "今天天气很[MASK]。")
    page.locator(".problem", has_text="没有网络").wait_for()

    page.context.set_offline(False)

    page.locator(CANDIDATES).first.wait_for()
    complaints.clear()


def test_service_that_is_gone_is_told(open_page: OpenPage, complaints: list[str]) -> None:
    """A refused connection is no fault of the network."""
    page = open_page()
    page.route("**/v1/fill-mask", lambda route: route.abort("connectionrefused"))

    ask(page, "今天天气很[MASK]。")

    page.locator(".problem", has_text="连不上服务").wait_for()
    complaints.clear()


def test_cold_start_is_explained(open_page: OpenPage) -> None:
    """A long wait has a reason, and the page tells it."""
    page = open_page()
    held: list[Any] = []
    page.route("**/v1/fill-mask", lambda route: held.append(route))

    ask(page, "今天天气很[MASK]。")
    page.get_by_text("正在推断").wait_for()
    page.get_by_text("冷启动").wait_for()
    held[0].continue_()

    page.locator(CANDIDATES).first.wait_for()
    assert page.get_by_text("冷启动").count() == 0


def test_messages_of_the_service_come_in_the_pages_language(open_page: OpenPage) -> None:
    """The page asks for its own language, not for the browser's."""
    page = open_page(locale="en-US")

    with page.expect_request("**/v1/fill-mask") as chinese:
        ask(page, "很[MASK]")
    page.get_by_role("button", name="Switch to English").click()
    with page.expect_request("**/v1/fill-mask") as english:
        ask(page, "好[MASK]")

    assert chinese.value.headers["accept-language"] == "zh-CN"
    assert english.value.headers["accept-language"] == "en"


def test_language_is_switched_and_remembered(page: Page) -> None:
    """Chinese first; English after a reload where English was chosen; and back."""
    assert page.get_by_role("button", name="插入空位").is_visible()
    assert page.evaluate("document.documentElement.lang") == "zh-CN"

    page.get_by_role("button", name="Switch to English").click()
    page.reload()

    assert page.get_by_role("button", name="Insert blank").is_visible()
    assert page.evaluate("document.documentElement.lang") == "en"
    page.get_by_role("button", name="切换到中文").click()
    assert page.get_by_role("heading", level=1).inner_text().endswith("填空")


def test_limits_are_those_of_the_service(open_page: OpenPage) -> None:
    """A deployment with smaller limits has a page that knows them."""
    limits = {"max_text_chars": 12, "max_masks": 1, "max_top_k": 10}
    about = {"name": "small", "digest": "d" * 64, "vocabulary_size": 1, "limits": limits}
    page = open_page(
        prepare=lambda page: page.route("**/v1/model", lambda route: route.fulfill(body=json.dumps(about)))
    )
    page.locator("footer", has_text="small").wait_for()

    ask(page, "[MASK][MASK]")

    page.get_by_role("alert").filter(has_text="最多 1 个空").wait_for()
    assert page.locator(".top-k option").all_inner_texts() == ["3", "5", "10"]
