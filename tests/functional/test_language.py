"""Several blanks, targets, correction and scoring through every door, on an artifact with a lexicon of our own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from handler.entry import Function
from tests.functional.conftest import FunctionFactory
from tests.functional.test_doors_agree import verdict
from tests.support.events import Context, http_v2, queue_batch, reply
from tests.support.language import artifact_with_language
from tests.support.results_queue import RecordingResultsQueue

ROUTES = {"fill-mask": "/v1/fill-mask", "correct": "/v1/correct", "score": "/v1/score"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An artifact with a lexicon and an error model."""
    return artifact_with_language(tmp_path_factory.mktemp("artifact"))


def through_http(function: Function, payload: dict[str, Any]) -> Any:
    """Send a payload to the route of its operation."""
    body = dict(payload)
    route = "/hf/fill-mask" if "inputs" in body else ROUTES[body.pop("operation", "fill-mask")]
    return reply(function(http_v2(route, json.dumps(body)), Context())).json


def first_joint(answer: Any) -> str:
    """Return the text of the best joint filling."""
    text: str = answer["results"][0]["joint"][0]["text"]
    return text


def sources(answer: Any) -> list[str]:
    """Return where the joint fillings come from."""
    return [each["source"] for each in answer["results"][0]["joint"]]


def error_types(answer: Any) -> Any:
    """Return the error's type of each text."""
    return [result.get("error", {}).get("type") for result in answer["results"]]


def unusable(answer: Any) -> list[dict[str, str]]:
    """Return the targets of the first blank that could not be used."""
    entries: list[dict[str, str]] = answer["results"][0]["masks"][0]["unusable_targets"]
    return entries


def ranked(answer: Any) -> set[str]:
    """Return the candidates of the first blank."""
    return {candidate["token"] for candidate in answer["results"][0]["masks"][0]["candidates"]}


def untouched(answer: Any) -> bool:
    """Tell whether no text was corrected anywhere."""
    return all(result["corrected"] == result["text"] and not result["corrections"] for result in answer["results"])


_LONG = "好" * 118
# Name: payload, what is read of the answer, what it must be. None of it depends on what a model knows.
HARD: dict[str, tuple[dict[str, Any], Callable[[Any], Any], Any]] = {
    "idiom, end hidden": ({"text": "守株[MASK][MASK]"}, first_joint, "守株待兔"),
    "idiom, apart": ({"text": "画[MASK]点[MASK]"}, first_joint, "画龙点睛"),
    "idiom, start hidden": ({"text": "[MASK][MASK]补牢"}, first_joint, "亡羊补牢"),
    "idiom, one hidden": ({"text": "半[MASK]而废"}, first_joint, "半途而废"),
    "idiom in a sentence": ({"text": "做事不能半[MASK]而[MASK]。"}, first_joint, "做事不能半途而废。"),
    "line of verse": ({"text": "床前明月[MASK]，疑是地上霜。"}, first_joint, "床前明月光，疑是地上霜。"),
    "other spellings of a blank": ({"text": "守株［mask］【 MASK 】"}, first_joint, "守株待兔"),
    "angle brackets": ({"text": "画<mask>点<mask>"}, first_joint, "画龙点睛"),
    "spaces between blanks": ({"text": "守株 [MASK] [MASK]"}, first_joint, "守株 待 兔"),
    "zero width between": ({"text": "守\u200b株[MASK]\u200b[MASK]"}, first_joint, "守\u200b株待\u200b兔"),
    "rare Han beside": ({"text": "𠮷守株[MASK][MASK]龘"}, first_joint, "𠮷守株待兔龘"),
    "Latin beside": ({"text": "ok守株[MASK][MASK]ok"}, first_joint, "ok守株待兔ok"),
    "emoji beside": ({"text": "🐰守株[MASK][MASK]🐰"}, first_joint, "🐰守株待兔🐰"),
    "two idioms": ({"text": "守株[MASK]兔，亡[MASK]补牢"}, first_joint, "守株待兔，亡羊补牢"),
    "a mark ends a phrase": ({"text": "守株，[MASK][MASK]"}, sources, ["model"]),
    "a line ends a phrase": ({"text": "守株\n[MASK][MASK]"}, sources, ["model"]),
    "no entry fits": ({"text": "守[MASK]点[MASK]"}, sources, ["model"]),
    "phrase and other blank": ({"text": "守株[MASK][MASK]，我[MASK]你"}, sources, ["mixed"]),
    "lexicon off": ({"text": "守株[MASK][MASK]", "lexicon": False}, sources, ["model"]),
    "joint off": ({"text": "守株[MASK][MASK]", "joint": "off"}, sources, []),
    "one blank, no phrase": ({"text": "天气很[MASK]"}, sources, []),
    "outside the window": (
        {"text": _LONG + "，守株[MASK][MASK]，" + _LONG},
        first_joint,
        _LONG + "，守株待兔，" + _LONG,
    ),
    "beam within the budget": ({"text": "[MASK]，[MASK]", "beam": 8, "top_k": 8}, lambda a: len(sources(a)), 8),
    "beam beyond its limit": ({"text": "[MASK]，[MASK]", "beam": 9}, verdict, "request_invalid"),
    "the most blanks and the widest beam": (
        {"text": "，".join(["[MASK]"] * 16), "beam": 8, "lexicon": False},
        lambda answer: len(answer["results"][0]["masks"]),
        16,
    ),
    "target of two characters": ({"text": "天[MASK]", "targets": ["气很好", "气"]}, ranked, {"气很好", "气"}),
    "target too long": (
        {"text": "天[MASK]", "targets": ["好" * 127, "好" * 126]},
        unusable,
        [{"target": "好" * 127, "reason": "too_long"}],
    ),
    "target unknown": (
        {"text": "天[MASK]", "targets": ["气", "好𠮷"]},
        unusable,
        [{"target": "好𠮷", "reason": "not_in_vocabulary"}],
    ),
    "too many lengths of targets": (
        {"text": "[MASK]，[MASK]", "targets": ["好" * length for length in range(2, 80)]},
        verdict,
        "too_many_passes",
    ),
    "nothing to correct in symbols": (
        {"operation": "correct", "texts": ["", "2026-11-30", "Hello, world!", "。，！？", "🐶𠮷", "\x00\u200b "]},
        untouched,
        True,
    ),
    "correct keeps lengths": (
        {"operation": "correct", "text": "我今天很高心，iPhone 15 卖5999元🐶𠮷。"},
        lambda answer: len(answer["results"][0]["corrected"]),
        len("我今天很高心，iPhone 15 卖5999元🐶𠮷。"),
    ),
    "correct too long": ({"operation": "correct", "text": "天气很好。" * 500}, verdict, "too_many_passes"),
    "correct, one bad in a batch": (
        {"operation": "correct", "texts": ["好", "天气很好。" * 500, "\ud83d"]},
        error_types,
        [None, "too_many_passes", "text_not_unicode"],
    ),
    "correct knows no top_k": ({"operation": "correct", "text": "好", "top_k": 3}, verdict, "request_invalid"),
    "score nothing": ({"operation": "score", "text": " \u200b"}, verdict, "text_empty"),
    "score too long": ({"operation": "score", "text": "好" * 129}, verdict, "too_many_passes"),
    "score one by one": (
        {"operation": "score", "texts": ["好", "", "𠮷", "天"]},
        error_types,
        [None, "text_empty", "text_empty", None],
    ),
    "score nothing right": ({"operation": "score", "texts": ["", "𠮷"]}, lambda answer: answer["best"], None),
    "score equal texts": ({"operation": "score", "texts": ["好", "好"]}, lambda answer: answer["best"], 0),
}


def test_hard_inputs_are_many() -> None:
    """The table holds at least 20."""
    assert len(HARD) >= 20


@pytest.mark.parametrize("name", HARD)
def test_hard_input_has_its_right_answer_through_every_door(name: str, start: FunctionFactory, folder: Path) -> None:
    """Direct, HTTP and queue give the same answer, and what the table says of it holds."""
    payload, read, expected = HARD[name]
    function, results = start(model_dir=folder), RecordingResultsQueue()

    direct = function(payload, Context())
    failures = start(model_dir=folder, results_queue=results)(queue_batch([json.dumps(payload)]), Context())

    assert read(direct) == expected
    assert failures == {"batchItemFailures": []}
    assert verdict(through_http(function, payload)) == verdict(direct)
    assert verdict(results.messages[0]["answer"]) == verdict(direct)


def test_hugging_face_shape_has_no_id_for_several_tokens(start: FunctionFactory, folder: Path) -> None:
    """A target of several tokens is whole in token_str and sequence; the one id that the task has is null."""
    payload = {"inputs": "天[MASK]", "parameters": {"targets": ["气很好", "气"]}}

    found = {each["token_str"]: each for each in start(model_dir=folder)(payload, Context())}

    assert found["气很好"]["token"] is None
    assert found["气很好"]["sequence"] == "天气很好"
    assert isinstance(found["气"]["token"], int)
    assert verdict(through_http(start(model_dir=folder), payload)) == sorted(
        found.values(), key=lambda each: -each["score"]
    )


CACHED = [
    {"text": "守株[MASK][MASK]，很[MASK]"},
    {"text": "很[MASK]", "targets": ["高兴", "好", "不高兴"]},
    {"operation": "correct", "text": "我今天很高心。"},
    {"operation": "score", "text": "我今天很高兴。"},
]


@pytest.mark.parametrize("payload", CACHED)
def test_second_answer_is_cached_and_equal(payload: dict[str, Any], start: FunctionFactory, folder: Path) -> None:
    """Every operation keeps what it computed, to the last digit."""
    function = start(model_dir=folder, max_text_chars=998)  # a function of its own: nothing is cached yet

    first, second = (function(payload, Context())["results"][0] for _ in range(2))

    assert (first.pop("cached"), second.pop("cached")) == (False, True)
    assert first == second


def test_scores_of_targets_add_up_to_one(start: FunctionFactory, folder: Path) -> None:
    """All usable targets, of whatever lengths, share one."""
    answer = start(model_dir=folder)({"text": "很[MASK]", "targets": ["高兴", "好", "不高兴"]}, Context())
    candidates = answer["results"][0]["masks"][0]["candidates"]

    assert sum(candidate["target_score"] for candidate in candidates) == pytest.approx(1)
    assert {candidate["text"] for candidate in candidates} == {"很高兴", "很好", "很不高兴"}


def test_correct_says_that_a_model_has_no_error_model(start: FunctionFactory, folder: Path, tmp_path: Path) -> None:
    """An artifact may come without; the operation then has an error of its own through every door."""
    bare = artifact_with_language(tmp_path)
    manifest = json.loads((bare / "manifest.json").read_text())
    del manifest["files"]["error_model.json"]
    (bare / "manifest.json").write_text(json.dumps(manifest))
    payload = {"operation": "correct", "text": "好"}

    assert verdict(start(model_dir=bare)(payload, Context())) == "operation_unavailable"
    assert verdict(through_http(start(model_dir=bare), payload)) == "operation_unavailable"
