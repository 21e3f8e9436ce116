"""Every route and the shape of what it answers."""

from __future__ import annotations

import re
from typing import Any

import pytest

from handler.entry import Function
from tests.support.events import TEXT, Context, Reply, http_v2, reply

MANY = "[MASK]天天气很[MASK]。"


def call(function: Function, path: str, body: Any = None, **options: Any) -> Reply:
    """Send one HTTP request."""
    return reply(function(http_v2(path, body, **options), Context()))


def test_fill_mask_answers_in_one_shape(function: Function) -> None:
    """One text or many, one mask or many: the same fields at the same places."""
    one = call(function, "/v1/fill-mask", {"text": TEXT}).json
    many = call(function, "/v1/fill-mask", {"texts": [MANY, TEXT]}).json

    assert set(one) == set(many) == {"request_id", "model", "timing_ms", "results"}
    assert set(one["model"]) == {"name", "digest"}
    assert set(one["timing_ms"]) == {"total", "encode", "run", "decode", "cache"}
    assert [len(result["masks"]) for result in many["results"]] == [2, 1]
    for result in [*one["results"], *many["results"]]:
        assert {"text", "truncated", "unknown_characters", "cached", "masks"} <= set(result)
        for index, mask in enumerate(result["masks"]):
            assert mask["index"] == index
            assert result["text"][mask["start"] : mask["end"]] == "[MASK]"
            assert {"token", "score", "text"} <= set(mask["candidates"][0])


def test_fill_mask_candidates_are_ranked_and_spliced(function: Function) -> None:
    """Scores fall, lie between 0 and 1, and each text is the caller's with the token in place of its mask."""
    [result] = call(function, "/v1/fill-mask", {"text": MANY, "top_k": 20}).json["results"]

    for mask in result["masks"]:
        scores = [candidate["score"] for candidate in mask["candidates"]]
        assert scores == sorted(scores, reverse=True)
        assert all(0 <= score <= 1 for score in scores)
        assert sum(scores) <= 1 + 1e-5
        assert len({candidate["token"] for candidate in mask["candidates"]}) == 20
        for candidate in mask["candidates"]:
            assert candidate["text"] == MANY[: mask["start"]] + candidate["token"] + MANY[mask["end"] :]


def test_server_timing_names_the_parts_of_the_time(function: Function) -> None:
    """A browser's network panel shows where the time went, as the body does."""
    answer = call(function, "/v1/fill-mask", {"text": TEXT})

    parts = dict(re.findall(r"(\w+);dur=([0-9.]+)", answer.headers["server-timing"]))

    assert {name: float(ms) for name, ms in parts.items()} == answer.json["timing_ms"]


def test_targets_are_the_only_candidates(function: Function) -> None:
    """With targets nothing else is offered, their shares add up to one, and what cannot be scored is named."""
    body = {"text": TEXT, "targets": ["好", "冷", "🐶"]}

    [result] = call(function, "/v1/fill-mask", body).json["results"]

    [mask] = result["masks"]
    assert {candidate["token"] for candidate in mask["candidates"]} == {"好", "冷"}
    assert sum(candidate["target_score"] for candidate in mask["candidates"]) == pytest.approx(1, abs=1e-5)
    assert [unusable["target"] for unusable in mask["unusable_targets"]] == ["🐶"]
    assert all(unusable["reason"] for unusable in mask["unusable_targets"])


def test_failed_text_of_a_batch_carries_its_own_error(function: Function) -> None:
    """A neighbour's fault changes nothing, and the error stands where the masks would."""
    alone = call(function, "/v1/fill-mask", {"text": TEXT}).json["results"][0]

    first, bad, last = call(function, "/v1/fill-mask", {"texts": [TEXT, "没有", TEXT]}).json["results"]

    assert first["masks"] == last["masks"] == alone["masks"]
    assert set(bad) == {"text", "error"}
    assert bad["error"]["type"] == "mask_missing"


def test_predict_keeps_the_reference_designs_contract(function: Function) -> None:
    """Five candidates for the first mask, in percent with two decimals, and nothing else."""
    native = call(function, "/v1/fill-mask", {"text": MANY}).json["results"][0]["masks"][0]["candidates"]

    answer = call(function, "/predict", {"text": MANY}).json

    assert set(answer) == {"results"}
    assert [set(one) for one in answer["results"]] == [{"token", "probability"}] * 5
    assert [one["token"] for one in answer["results"]] == [candidate["token"] for candidate in native]
    assert [one["probability"] for one in answer["results"]] == [round(c["score"] * 100, 2) for c in native]


@pytest.mark.parametrize(
    ("body", "error_type"),
    [
        ({"text": "没有"}, "mask_missing"),
        ({}, "request_invalid"),
        ({"text": 5}, "request_invalid"),
        ({"text": TEXT, "top_k": 3}, "request_invalid"),
        ({"texts": [TEXT]}, "request_invalid"),
    ],
)
def test_predict_refuses_what_its_contract_has_not(body: Any, error_type: str, function: Function) -> None:
    """A text without a mask, and every field but the text, is 422."""
    answer = call(function, "/predict", body)

    assert (answer.status, answer.json["error"]["type"]) == (422, error_type)


@pytest.mark.parametrize(
    "path", ["/", "/hf/fill-mask", "/models/bert-base-chinese", "/models/google-bert/bert-base-chinese"]
)
def test_hugging_face_task_is_answered_at_all_its_addresses(path: str, function: Function) -> None:
    """The client posts to exactly the address that it is given."""
    answer = call(function, path, {"inputs": TEXT, "parameters": {"top_k": 3}})

    assert answer.status == 200
    assert [set(filling) for filling in answer.json] == [{"score", "token", "token_str", "sequence"}] * 3
    for filling in answer.json:
        assert filling["sequence"] == TEXT.replace("[MASK]", filling["token_str"])


def test_hugging_face_task_nests_as_the_task_does(function: Function) -> None:
    """A list for one mask, a list of lists for several, and for a list of inputs a list of such answers."""
    one = call(function, "/hf/fill-mask", {"inputs": TEXT}).json
    several = call(function, "/hf/fill-mask", {"inputs": MANY}).json
    batch = call(function, "/hf/fill-mask", {"inputs": [TEXT, MANY]}).json

    assert [len(mask) for mask in several] == [5, 5]
    assert batch == [one, several]


def test_model_tells_what_answers(function: Function) -> None:
    """Name and digest are those of every answer; limits are those that are kept."""
    answer = call(function, "/v1/model", method="GET").json

    assert call(function, "/v1/fill-mask", {"text": TEXT}).json["model"] == {
        "name": answer["name"],
        "digest": answer["digest"],
    }
    assert answer["vocabulary_size"] > 0
    assert answer["cpu"]
    assert {"max_texts": 256, "max_text_chars": 10_000, "max_masks": 16, "max_top_k": 100}.items() <= answer[
        "limits"
    ].items()
    assert answer["limits"]["max_tokens"] <= 128
    assert "proof" in answer


def test_healthz_is_ready(function: Function) -> None:
    """With a model loaded the function is ready."""
    answer = call(function, "/healthz", method="GET")

    assert (answer.status, answer.json) == (200, {"status": "ready"})


@pytest.mark.parametrize("path", ["/", "/docs", "/openapi.json", "/healthz", "/v1/model", "/docs/start.js"])
def test_head_is_get_without_the_body(path: str, function: Function) -> None:
    """Uptime monitors ask with HEAD; the headers are those of GET, and nothing follows them."""
    get, head = (call(function, path, method=method) for method in ("GET", "HEAD"))

    assert (head.status, head.text) == (200, "")
    assert head.headers == get.headers


@pytest.mark.parametrize("content_type", ["application/x-www-form-urlencoded", "text/plain", "", "nonsense", None])
def test_json_is_read_whatever_its_content_type(content_type: str | None, function: Function) -> None:
    """``curl -d`` calls its body a form; it is JSON all the same."""
    answer = call(function, "/v1/fill-mask", {"text": TEXT}, headers={"content-type": content_type})

    assert answer.status == 200


def test_byte_order_mark_is_no_fault(function: Function) -> None:
    """Windows editors put one in front of UTF-8."""
    assert call(function, "/v1/fill-mask", "\ufeff" + '{"text": "很[MASK]"}').status == 200
