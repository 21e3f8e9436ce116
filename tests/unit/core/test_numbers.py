"""The numbers for a text depend on that text alone: on the real artifact, exactly."""

from __future__ import annotations

import random
from typing import Any

import pytest

from handler.adapters.memory_cache import MemoryCache
from tests.support import embedded

SENTENCES = (
    *("[MASK]", "今天天气真[MASK]啊。", "守株[MASK][MASK]", "床前明月光，疑是地上[MASK]。", "BERT 有 12 [MASK]。"),
    *(
        "学而时习之，不亦[MASK]乎？",
        "[MASK]" * 16,
        "天" * 300 + "[MASK]" + "地" * 300,
        "abc[MASK]𠮷👍",
        "他[MASK]说：“好”",
    ),
)


def texts() -> list[str]:
    """Return 64 different texts, from one token to the longest window."""
    return [f"{sentence}{'好' * (at * at)}" for at in range(7) for sentence in SENTENCES][:64]


@pytest.fixture(scope="module")
def alone() -> dict[str, Any]:
    """The scores of each text on its own, without a cache."""
    service = embedded.service()
    return {
        text: embedded.scores(embedded.fill(service, {"text": text, "joint": "off"}).results[0]) for text in texts()
    }


@pytest.mark.parametrize("size", [2, 8, 64])
@pytest.mark.parametrize("order", ["as written", "reversed", "shuffled"])
def test_scores_in_a_batch_equal_those_alone(alone: dict[str, Any], size: int, order: str) -> None:
    """In batches of 2, 8 and 64, in any order, no score differs by a digit from that of the text on its own."""
    chosen = texts()
    if order == "reversed":
        chosen.reverse()
    elif order == "shuffled":
        random.Random(size).shuffle(chosen)
    service = embedded.service()
    for start in range(0, len(chosen), size):
        batch = chosen[start : start + size]
        results = embedded.fill(service, {"texts": batch, "joint": "off"}).results

        assert [alone[text] for text in batch] == [embedded.scores(result) for result in results]


def test_scores_from_a_cache_equal_those_alone(alone: dict[str, Any]) -> None:
    """Whether computed, remembered or partly both, the scores are the same."""
    service = embedded.service(local=MemoryCache(ttl_s=1000))
    embedded.fill(service, {"texts": texts()[::2], "joint": "off"})

    answer = embedded.fill(service, {"texts": texts(), "joint": "off"})

    assert answer.cache_hits == 32
    assert list(alone.values()) == [embedded.scores(result) for result in answer.results]


def test_scores_are_a_part_of_one(alone: dict[str, Any]) -> None:
    """Candidates of a mask are best first, and their scores never add up to more than one."""
    for masks in alone.values():
        for mask in masks:
            scores = [score for _, score, _ in mask]

            assert scores == sorted(scores, reverse=True)
            assert 0 < sum(scores) < 1 + 1e-5
