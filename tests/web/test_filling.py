"""Filling blanks in the page, in a real browser against the real function."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tests.web.conftest import OpenPage

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

CANDIDATES = ".candidates button"


def area(page: Page) -> str:
    """Return the text as it stands in the editor."""
    text: str = page.locator("textarea:visible").input_value()
    return text


def ask(page: Page, text: str) -> None:
    """Type a sentence and ask at once."""
    page.locator("textarea:visible").fill(text)
    page.keyboard.press("Enter")


def test_typing_is_answered_after_a_pause(page: Page) -> None:
    """Nothing needs to be pressed; candidates come ranked, with bars, shares and readings."""
    page.locator("textarea:visible").press_sequentially("今天天气很[MASK]。")

    page.locator(CANDIDATES).first.wait_for()

    assert page.locator(CANDIDATES).count() == 5
    shares = [float(each.strip("<%")) for each in page.locator(".candidates .share").all_inner_texts()]
    widths = page.locator(".candidates .track span").evaluate_all("bars => bars.map(bar => bar.offsetWidth)")
    assert shares == sorted(shares, reverse=True)
    assert widths == sorted(widths, reverse=True)
    page.locator(".candidates .pinyin", has_text=re.compile(r"[a-zāáǎàēéěèīíǐìōóǒòūúǔùüǖǘǚǜ]")).first.wait_for()


def test_many_keys_are_one_request(page: Page) -> None:
    """Typing without a pause asks once."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.post_data or "") if request.method == "POST" else None)

    page.locator("textarea:visible").press_sequentially("很[MASK]的一天", delay=20)
    page.locator(CANDIDATES).first.wait_for()
    page.wait_for_timeout(600)

    assert [json.loads(each)["text"] for each in asked] == ["很[MASK]的一天"]


@pytest.mark.parametrize("way", ["button", "key"])
def test_blank_is_inserted_at_the_cursor(way: str, page: Page) -> None:
    """By the button or by Ctrl+M, in place of what is selected; and the answer follows."""
    page.locator("textarea:visible").fill("今天真好啊")
    page.locator("textarea:visible").evaluate("area => area.setSelectionRange(3, 4)")

    if way == "button":
        page.get_by_role("button", name="插入空位").click()
    else:
        page.keyboard.press("Control+m")

    assert area(page) == "今天真[MASK]啊"
    page.keyboard.type("的")
    assert area(page) == "今天真[MASK]的啊"
    page.locator(CANDIDATES).first.wait_for()


def test_candidate_goes_into_the_sentence_and_the_next_request(page: Page) -> None:
    """A click fills one blank, asks for the rest with it in place, and the last one completes the sentence."""
    ask(page, "他买了一[MASK]书，放在[MASK]上。")
    page.locator("section", has_text="第 2 空").locator(CANDIDATES).first.wait_for()
    token = page.locator(".candidates").first.locator(".token").nth(1).inner_text()

    with page.expect_request(lambda request: request.method == "POST") as request:
        page.locator(".candidates").first.locator("button").nth(1).click()

    filled = f"他买了一{token}书，放在[MASK]上。"
    assert json.loads(request.value.post_data or "")["text"] == filled
    assert area(page) == filled
    page.get_by_role("heading", name="候选").wait_for()
    page.locator(CANDIDATES).first.click()
    page.get_by_text("句子已经填满").wait_for()
    assert "[MASK]" not in area(page)
    assert page.evaluate("document.activeElement.innerText") == area(page)
    page.get_by_role("button", name="撤销填入").click()
    assert area(page) == filled


def test_blanks_together_tell_where_they_come_from(page: Page) -> None:
    """An idiom is completed from the lexicon, and says so; the sentence shows it in place."""
    ask(page, "守株[MASK][MASK]")

    page.locator(".joint button").first.wait_for()

    assert page.locator(".joint .source").first.inner_text() == "词库"
    assert page.locator(".joint .token").first.inner_text() == "守株待兔"
    assert page.locator(".sentence p:visible").inner_text() == "守株待兔"
    page.locator(".joint button").first.click()
    assert area(page) == "守株待兔"


def test_blanks_together_without_a_lexicon_are_the_models(page: Page) -> None:
    """What no entry completes is inferred, and says so."""
    ask(page, "他[MASK][MASK]了一本书。")

    page.locator(".joint button").first.wait_for()

    assert page.locator(".joint .source").last.inner_text() == "模型"


def test_number_of_candidates_is_chosen(page: Page) -> None:
    """Another number asks again at once."""
    ask(page, "今天天气很[MASK]。")
    page.locator(CANDIDATES).first.wait_for()

    page.get_by_label("候选数").select_option("20")

    page.locator(CANDIDATES).nth(19).wait_for()
    assert page.locator(CANDIDATES).count() == 20


def test_second_time_comes_from_the_cache_and_says_so(page: Page) -> None:
    """The answer tells whether it was kept, and its times."""
    for _ in range(3):
        with page.expect_response("**/v1/fill-mask"):
            ask(page, "春天的[MASK]开了。")

    page.locator(".times .cached").wait_for()

    assert page.locator(".times .cached").inner_text() == "来自缓存"
    assert re.search(r"服务 [\d.]+ ms", page.locator(".times").inner_text())
    assert re.search(r"往返 [\d.]+ ms", page.locator(".times").inner_text())


@pytest.mark.parametrize("form", ["【MASK】", "［ＭＡＳＫ］", "<mask>", "[ mask ]"])
def test_other_forms_of_a_blank_are_recognised(form: str, page: Page) -> None:
    """What an input method makes of a blank is one."""
    ask(page, f"今天天气很{form}。")

    page.locator(CANDIDATES).first.wait_for()

    assert page.locator("textarea:visible").get_attribute("aria-invalid") == "false"
    assert "识别到 1 个空" in page.locator(".facts").first.inner_text()


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("", "先写一句话"),
        ("今天天气很好。", "插入空位"),
        ("今天天气很____。", "请写成 [MASK]"),
        ("[MASK]" * 17, "最多 16 个空，现在有 17 个"),
        ("好" * 10_001 + "[MASK]", "最多 10000 个字"),
    ],
)
def test_what_cannot_be_sent_is_told_before_sending(text: str, advice: str, page: Page) -> None:
    """The message says what to do, and nothing is sent."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if request.method == "POST" else None)

    ask(page, text)

    page.get_by_role("alert").filter(has_text=advice).wait_for()
    assert asked == []
    assert page.locator("textarea:visible").get_attribute("aria-invalid") == "true"


def test_misspelt_blank_is_mended_with_a_click(page: Page) -> None:
    """A line of underscores becomes a blank."""
    ask(page, "今天天气很____。")

    page.get_by_role("button", name="改成 [MASK]").click()

    page.locator(CANDIDATES).first.wait_for()
    assert area(page) == "今天天气很[MASK]。"


def test_nothing_is_asked_while_an_input_method_composes(page: Page) -> None:
    """Neither a pause nor Enter sends what is only half written; the end of composing does."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if request.method == "POST" else None)
    page.locator("textarea:visible").fill("今天很[MASK]")
    devices = page.context.new_cdp_session(page)

    devices.send("Input.imeSetComposition", {"text": "hao", "selectionStart": 3, "selectionEnd": 3})
    page.wait_for_timeout(900)
    page.locator("textarea:visible").dispatch_event("keydown", {"key": "Enter", "keyCode": 229, "bubbles": True})
    composing = len(asked)
    devices.send("Input.insertText", {"text": "好"})
    page.locator(CANDIDATES).first.wait_for()

    assert composing == 0
    assert area(page) == "今天很[MASK]好"
    assert len(asked) == 1


def test_overtaken_request_is_cancelled(open_page: OpenPage) -> None:
    """The first answer, were it to come late, is never shown."""
    failed: list[str] = []
    page = open_page()
    page.on("requestfailed", lambda request: failed.append(json.loads(request.post_data or "{}").get("text", "")))
    page.route("**/v1/fill-mask", lambda route: None if "旧" in (route.request.post_data or "") else route.continue_())

    ask(page, "旧[MASK]")
    page.get_by_text("正在推断").wait_for()
    ask(page, "新[MASK]")

    page.locator(CANDIDATES).first.wait_for()
    assert failed == ["旧[MASK]"]
    assert page.locator(".sentence p:visible").inner_text().startswith("新")


@pytest.mark.parametrize(
    ("button", "expected"), [("JSON", '"results"'), ("curl", "curl -sS 'http"), ("文本", "天气很")]
)
def test_answer_is_copied(button: str, expected: str, open_page: OpenPage) -> None:
    """As text, as JSON or as a command that asks the same."""
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    ask(page, "今天天气很[MASK]。")

    page.get_by_role("button", name=f"复制{' ' if button.isascii() else ''}{button}").click()

    page.get_by_role("status").filter(has_text="已复制").wait_for()
    assert expected in page.evaluate("navigator.clipboard.readText()")


def test_example_is_opened_and_remembered(page: Page) -> None:
    """An example is a sentence that works; the history keeps it over a reload, in this browser only, until cleared."""
    page.get_by_role("button", name="床前明月□，疑是地上霜。").first.click()
    page.locator(CANDIDATES).first.wait_for()

    page.reload()

    history = page.locator("section", has=page.get_by_role("heading", name="历史"))
    history.get_by_role("button", name="床前明月□，疑是地上霜。").click()
    page.locator(CANDIDATES).first.wait_for()
    assert area(page) == "床前明月[MASK]，疑是地上霜。"
    page.get_by_role("button", name="清空历史").click()
    assert history.locator(".entry").count() == 0
