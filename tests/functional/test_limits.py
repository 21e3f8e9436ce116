"""The limits that settings may move, kept at every door."""

from __future__ import annotations

from typing import Any

import pytest

from tests.functional.conftest import FunctionFactory
from tests.support.events import Context, http_v2, reply


@pytest.mark.parametrize(
    ("settings", "within", "beyond", "error_type", "status"),
    [
        ({"max_texts": 2}, {"texts": ["很[MASK]"] * 2}, {"texts": ["很[MASK]"] * 3}, "too_many_texts", 413),
        ({"max_text_chars": 8}, {"text": "很好[MASK]"}, {"text": "很很好[MASK]"}, "text_too_long", 413),
        ({"max_masks": 2}, {"text": "[MASK][MASK]"}, {"text": "[MASK][MASK]好[MASK]"}, "too_many_masks", 422),
        ({"max_top_k": 3}, {"text": "很[MASK]", "top_k": 3}, {"text": "很[MASK]", "top_k": 4}, "top_k_invalid", 422),
        ({"max_tokens": 5}, {"text": "[MASK]好[MASK]"}, {"text": "[MASK]好好[MASK]"}, "masks_too_far_apart", 422),
    ],
)
def test_limit_is_kept_at_its_edge(
    settings: dict[str, int], within: Any, beyond: Any, error_type: str, status: int, start: FunctionFactory
) -> None:
    """The last that is allowed is answered; one more has its error, direct and over HTTP."""
    function = start(**settings)

    answer = reply(function(http_v2(body=beyond), Context()))

    assert "results" in function(within, Context())
    assert reply(function(http_v2(body=within), Context())).status == 200
    assert function(beyond, Context())["error"]["type"] == error_type
    assert (answer.status, answer.json["error"]["type"]) == (status, error_type)


def test_limits_are_told(start: FunctionFactory) -> None:
    """The model's route tells the limits of this very function."""
    limits = reply(start(max_texts=2, max_masks=3)(http_v2("/v1/model", method="GET"), Context())).json["limits"]

    assert (limits["max_texts"], limits["max_masks"]) == (2, 3)


def test_top_k_left_open_stays_within_its_limit(start: FunctionFactory) -> None:
    """A function that offers at most three offers three where nobody said how many."""
    function = start(max_top_k=3)

    [result] = function({"text": "很[MASK]"}, Context())["results"]

    assert len(result["masks"][0]["candidates"]) == 3
    assert len(reply(function(http_v2("/predict", {"text": "很[MASK]"}), Context())).json["results"]) == 3
    assert len(function({"inputs": "很[MASK]"}, Context())) == 3


def test_long_text_is_cut_to_a_window_and_says_so(start: FunctionFactory) -> None:
    """What the model sees is a window; what the caller gets back is the whole text."""
    text = "好" * 50 + "[MASK]" + "好" * 50

    [result] = start(max_tokens=20)({"text": text}, Context())["results"]

    assert result["truncated"] is True
    assert all(len(candidate["text"]) >= 101 for candidate in result["masks"][0]["candidates"])


def test_equal_text_is_cached_and_says_so(start: FunctionFactory) -> None:
    """The second answer comes from memory, the same to the last digit."""
    function = start(max_text_chars=999)  # a function of its own: nothing is cached yet

    first, second = (function({"text": "后天天气很[MASK]。"}, Context())["results"][0] for _ in range(2))

    assert (first.pop("cached"), second.pop("cached")) == (False, True)
    assert first == second


def test_nothing_is_cached_when_the_time_to_live_is_zero(start: FunctionFactory) -> None:
    """The cache can be turned off, and the numbers stay the same."""
    function = start(cache_ttl_s=0)

    first, second = (function({"text": "后天天气很[MASK]。"}, Context())["results"][0] for _ in range(2))

    assert (first["cached"], second["cached"]) == (False, False)
    assert first == second
