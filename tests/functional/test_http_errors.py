"""Errors over HTTP: each its status, all one body, readable from a browser, in the caller's language."""

from __future__ import annotations

import json
from typing import Any

import pytest

from handler.adapters.onnx_model import OnnxMaskedLanguageModel
from handler.core.errors import TiankongError
from handler.entry import Function
from tests.functional.conftest import FunctionFactory
from tests.support.events import ORIGIN, TEXT, Context, Event, encoded, http_v2, reply, rest_v1

SECRET = "某人的秘密"  # stands in every request of ERRORS and in no answer
ERRORS: dict[str, tuple[Event, int, str]] = {
    "not JSON": (http_v2(body='{"text": "' + SECRET), 400, "not_json"),
    "form": (http_v2(body=f"text={SECRET}"), 400, "not_json"),
    "single quotes": (http_v2(body="{'text': '" + SECRET + "[MASK]'}"), 400, "not_json"),
    "two values": (http_v2(body=f'{{"text": "{SECRET}"}} {{}}'), 400, "not_json"),
    "NaN": (http_v2(body=f'{{"text": "{SECRET}[MASK]", "top_k": NaN}}'), 400, "not_json"),
    "Infinity": (http_v2(body=f'{{"text": "{SECRET}[MASK]", "top_k": -Infinity}}'), 400, "not_json"),
    "a number of 5,000 digits": (
        http_v2(body=f'{{"text": "{SECRET}[MASK]", "top_k": {"9" * 5000}}}'),
        400,
        "not_json",
    ),
    "nested deeply": (http_v2(body="[" * 100_000 + f'"{SECRET}"'), 400, "not_json"),
    "GBK": (http_v2(body=encoded(f'{{"text": "{SECRET}[MASK]"}}'.encode("gbk")), is_base64=True), 400, "not_utf8"),
    "UTF-16": (http_v2(body=encoded(f'{{"text": "{SECRET}"}}'.encode("utf-16")), is_base64=True), 400, "not_utf8"),
    "base64 of another alphabet": (http_v2(body=SECRET, is_base64=True), 400, "bad_base64"),
    "base64 cut short": (http_v2(body=encoded(f'{{"text": "{SECRET}"}}')[:-3], is_base64=True), 400, "bad_base64"),
    "no route": (http_v2(f"/{SECRET}", method="GET"), 404, "not_found"),
    "no asset": (http_v2(f"/docs/{SECRET}.js", method="GET"), 404, "not_found"),
    "asset outside": (http_v2("/docs/../app.py", method="GET"), 404, "not_found"),
    "asset outside, escaped": (http_v2("/docs/..%2f..%2fapp.py", method="GET"), 404, "not_found"),
    "wrong method": (http_v2(body={"text": SECRET}, method="PUT"), 405, "method_not_allowed"),
    "text too long": (http_v2(body={"text": SECRET * 2_001 + "[MASK]"}), 413, "text_too_long"),
    "too many texts": (http_v2(body={"texts": [SECRET] * 257}), 413, "too_many_texts"),
    "answer too large": (http_v2(body={"text": SECRET * 1_900 + "[MASK]", "top_k": 100}), 413, "answer_too_large"),
    "body too large": (http_v2(body={"text": SECRET + "x" * 6_291_456}), 413, "body_too_large"),
    "wrong type": (http_v2(body={"text": [SECRET]}), 422, "request_invalid"),
    "unknown field": (http_v2(body={"text": "[MASK]", SECRET: SECRET}), 422, "request_invalid"),
    "no mask": (http_v2(body={"text": SECRET}), 422, "mask_missing"),
    "misspelt mask": (http_v2(body={"text": f"{SECRET}[MSAK]"}), 422, "mask_misspelt"),
    "too many masks": (http_v2(body={"text": SECRET + "[MASK]" * 17}), 422, "too_many_masks"),
    "masks far apart": (http_v2(body={"text": f"[MASK]{SECRET * 200}[MASK]"}), 422, "masks_too_far_apart"),
    "half a character": (http_v2(body='{"text": "' + SECRET + '\\ud83d[MASK]"}'), 422, "text_not_unicode"),
    "bad top_k": (http_v2(body={"text": f"{SECRET}[MASK]", "top_k": SECRET}), 422, "top_k_invalid"),
    "bad targets": (http_v2(body={"text": "[MASK]", "targets": SECRET}), 422, "targets_invalid"),
}


def languages() -> dict[str, str]:
    """Accept-Language headers and the language that each asks for."""
    return {
        "zh": "zh",
        "zh-CN,zh;q=0.9,en;q=0.8": "zh",
        "zh-Hant-TW": "zh",
        "en;q=0.5,zh;q=0.6": "zh",
        "ZH-cn": "zh",
        "fr, zh;q=0.1": "zh",
        "en-US,en;q=0.9,zh;q=0.8": "en",
        "zh;q=0,en": "en",
        "fr": "en",
        "*": "en",
        "": "en",
        "zh;q=x": "en",
        "zh;q=nan": "en",
        ";;;,,,": "en",
    }


@pytest.mark.parametrize("name", ERRORS)
def test_error_has_its_status_and_our_body(name: str, function: Function) -> None:
    """Type, message and request id, as JSON that no cache keeps."""
    event, status, error_type = ERRORS[name]

    answer = reply(function(event, Context()))

    assert (answer.status, answer.json["error"]["type"]) == (status, error_type)
    assert set(answer.json) == {"error"}
    assert set(answer.json["error"]) == {"type", "message", "request_id"}
    assert answer.json["error"]["request_id"] == "gateway-2"
    assert answer.headers["content-type"].startswith("application/json")
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("name", ERRORS)
def test_error_repeats_nothing_of_the_input(name: str, function: Function, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither the answer nor the log holds a word of what was sent, and no stack trace."""
    answer = function(ERRORS[name][0], Context())

    for told in (json.dumps(answer, ensure_ascii=False), capsys.readouterr().out):
        assert SECRET not in told
        assert json.dumps(SECRET)[1:-1] not in told
        assert "Traceback" not in told


@pytest.mark.parametrize("name", ERRORS)
def test_error_is_readable_from_an_allowed_origin(name: str, function: Function) -> None:
    """Without these headers a browser shows a network failure in place of the message."""
    event = {**ERRORS[name][0], "headers": {"origin": ORIGIN}}

    assert reply(function(event, Context())).headers["access-control-allow-origin"] == ORIGIN


@pytest.mark.parametrize("name", ERRORS)
def test_error_speaks_chinese_when_asked(name: str, function: Function) -> None:
    """Every message exists in both languages; the type is the same in both."""
    event = ERRORS[name][0]

    english = reply(function(event, Context())).json["error"]
    chinese = reply(function({**event, "headers": {"accept-language": "zh-CN"}}, Context())).json["error"]

    assert chinese["type"] == english["type"]
    assert english["message"] != chinese["message"]
    assert any("\u4e00" <= character <= "\u9fff" for character in chinese["message"])


@pytest.mark.parametrize("header", languages())
def test_language_is_the_one_preferred_of_two(header: str, function: Function) -> None:
    """Weights count; what names neither language, or cannot be read, means English."""
    event = http_v2(body={"text": "没有"}, headers={"accept-language": header})

    message = reply(function(event, Context())).json["error"]["message"]

    assert message.startswith("文本" if languages()[header] == "zh" else "The text")


def test_error_of_a_batch_item_speaks_chinese_too(function: Function) -> None:
    """The language reaches the errors inside a batch."""
    event = http_v2(body={"texts": [TEXT, "没有"]}, headers={"accept-language": "zh"})

    assert reply(function(event, Context())).json["results"][1]["error"]["message"].startswith("文本")


@pytest.mark.parametrize(
    ("path", "method", "allow"),
    [
        ("/v1/fill-mask", "GET", "POST"),
        ("/v1/fill-mask", "HEAD", "POST"),
        ("/v1/fill-mask", "OPTIONS", "POST"),
        ("/predict", "DELETE", "POST"),
        ("/hf/fill-mask", "GET", "POST"),
        ("/models/a/b", "GET", "POST"),
        ("/v1/model", "POST", "GET, HEAD"),
        ("/healthz", "PATCH", "GET, HEAD"),
        ("/docs", "POST", "GET, HEAD"),
        ("/openapi.json", "POST", "GET, HEAD"),
        ("/", "PUT", "GET, HEAD, POST"),
    ],
)
def test_allow_names_every_method_of_the_address(path: str, method: str, allow: str, function: Function) -> None:
    """A 405 tells what would work, even where two routes share an address."""
    answer = reply(function(http_v2(path, method=method), Context()))

    assert (answer.status, answer.headers["allow"]) == (405, allow)


@pytest.mark.parametrize("build", [http_v2, rest_v1])
def test_too_little_time_is_503(build: Any, function: Function) -> None:
    """Better an answer that says so than a gateway's timeout."""
    answer = reply(function(build(body={"text": "明天天气也很[MASK]。"}), Context(remaining_ms=20)))

    assert (answer.status, answer.json["error"]["type"]) == (503, "deadline_near")


def test_batch_that_will_not_be_ready_is_refused_before_the_work(
    start: FunctionFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    """The estimate, not the clock alone, decides: not one pass is made for a batch that cannot be ready in time."""
    function = start(cache_ttl_s=0)
    function({"text": TEXT}, Context())  # so that the speed is known
    texts = [f"第{number}天的天气很[MASK]。" + "好" * 100 for number in range(256)]
    capsys.readouterr()

    answer = reply(function(http_v2(body={"texts": texts, "top_k": 1}), Context(remaining_ms=200)))

    [line] = map(json.loads, capsys.readouterr().out.splitlines())
    assert (answer.status, answer.json["error"]["type"]) == (503, "deadline_near")
    assert line["Passes"] == 0


def test_unexpected_error_is_500_with_our_body(
    start: FunctionFactory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A fault of ours reaches the browser as an error like all, and the log tells where it was, not what was sent."""
    function = start(cache_ttl_s=0)

    def break_down(*arguments: object) -> None:
        raise ZeroDivisionError(SECRET)

    monkeypatch.setattr(OnnxMaskedLanguageModel, "logits", break_down)

    answer = reply(function(http_v2(body={"text": f"{SECRET}[MASK]"}, headers={"origin": ORIGIN}), Context()))

    fault, line = map(json.loads, capsys.readouterr().out.splitlines())
    assert (answer.status, answer.json["error"]["type"]) == (500, TiankongError.code)
    assert answer.headers["access-control-allow-origin"] == ORIGIN
    assert (fault["errors"][0]["type"], fault["errors"][0]["at"][-1].split()[-1]) == ("ZeroDivisionError", "break_down")
    assert (line["status"], line["Faults"]) == (500, 1)
    for told in (answer.text, json.dumps([fault, line], ensure_ascii=False)):
        assert SECRET not in told


def test_unexpected_error_of_a_direct_event_is_raised_for_a_retry(
    start: FunctionFactory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lambda retries an asynchronous invocation only when it raises; the fault is in the log all the same."""
    function = start(cache_ttl_s=0)

    def break_down(*arguments: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(OnnxMaskedLanguageModel, "logits", break_down)

    with pytest.raises(ZeroDivisionError):
        function({"text": TEXT}, Context())

    fault, line = map(json.loads, capsys.readouterr().out.splitlines())
    assert fault["errors"][0]["type"] == "ZeroDivisionError"
    assert line["Faults"] == 1
