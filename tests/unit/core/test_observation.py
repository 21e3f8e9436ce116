"""The figures of several answers in one observation."""

from __future__ import annotations

from handler.adapters.memory_cache import MemoryCache
from handler.core.observation import Observation
from tests.support import embedded


def test_take_adds_up_the_answers_of_a_queue_batch() -> None:
    """Texts, failures, passes and hits of each record are counted together."""
    service = embedded.service(local=MemoryCache(ttl_s=60))
    noted = Observation(kind="queue", request_id="id")
    for payload in ({"texts": ["天[MASK]", "没有"]}, {"text": "天[MASK]"}, {"text": "地[MASK]"}):
        noted.take(embedded.fill(service, {**payload, "joint": "off"}))

    assert (noted.texts, noted.failed_texts, noted.passes, noted.cache_hits, noted.cache_faults) == (4, 1, 2, 1, 0)
    assert noted.run_ms > 0
