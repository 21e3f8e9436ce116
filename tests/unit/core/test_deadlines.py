"""Deadlines: refused before the work where that can be told, stopped in the middle where not."""

from __future__ import annotations

import math

import pytest

from handler.adapters.memory_cache import MemoryCache
from handler.core.errors import DeadlineNearError
from handler.core.estimate import RESERVE_MS
from handler.core.types import FloatArray, MaskedSequence
from tests.support import embedded
from tests.support.doubles import Clock, FakeModel, FixedDeadline, RecordingCache, descending

TEXT = "天天[MASK]"
LENGTH = 5  # its tokens: [CLS], two characters, the blank, [SEP]
TEXTS = [f"{character}天[MASK]" for character in "今明后春夏秋冬大小多"]
SIZE = embedded.artifact().vocabulary_size
OFF = {"joint": "off"}


def fake_model() -> FakeModel:
    """Return a model whose scores fall with the id."""
    return FakeModel(descending(SIZE))


def timed_model(clock: Clock, ms_per_token: float) -> FakeModel:
    """Return a model that takes so long, by the clock that the service reads."""

    def scores(sequence: MaskedSequence) -> FloatArray:
        clock.now += len(sequence.ids) * ms_per_token / 1000
        return descending(SIZE)(sequence)

    return FakeModel(scores)


class DeadlineAfterRuns:
    """Time runs out when the model has run so often."""

    def __init__(self, model: FakeModel, runs: int) -> None:
        self._model = model
        self._runs = runs

    def remaining_ms(self) -> float:
        """See handler.core.ports.Deadline."""
        return math.inf if len(self._model.sequences) < self._runs else RESERVE_MS - 1


def test_fill_refuses_before_any_work_when_no_time_is_left() -> None:
    """Below the reserve neither model nor cache is touched."""
    model, cache = fake_model(), RecordingCache(MemoryCache(ttl_s=60))
    with pytest.raises(DeadlineNearError):
        embedded.fill(embedded.service(model=model, local=cache), {"text": TEXT}, FixedDeadline(RESERVE_MS - 1))

    assert model.sequences == []
    assert cache.reads == []


@pytest.mark.parametrize("left_ms", [RESERVE_MS + 10 * LENGTH * 2 - 1, RESERVE_MS + 10 * LENGTH * 2 + 1])
def test_fill_refuses_a_batch_by_the_time_that_it_will_take(left_ms: float) -> None:
    """At 2 ms a token, ten texts of five tokens need 100 ms and the reserve: decided before the first run."""
    clock = Clock()
    model = timed_model(clock, ms_per_token=2)
    service = embedded.service(model=model, clock=clock)
    service.warm_up()
    model.sequences.clear()
    enough = left_ms > RESERVE_MS + 100
    try:
        embedded.fill(service, {"texts": TEXTS, **OFF}, FixedDeadline(left_ms))
    except DeadlineNearError:
        assert not enough

    assert len(model.sequences) == (10 if enough else 0)


def test_fill_stops_in_the_middle_of_a_batch_when_the_time_runs_out() -> None:
    """An estimate that was too hopeful costs the runs so far, not a timeout of the function."""
    model = fake_model()
    with pytest.raises(DeadlineNearError):
        embedded.fill(embedded.service(model=model), {"texts": TEXTS, **OFF}, DeadlineAfterRuns(model, 3))

    assert len(model.sequences) == 3


def test_fill_answers_from_a_cache_when_a_run_would_take_too_long() -> None:
    """What is known already needs no time for the model."""
    clock = Clock()
    service = embedded.service(model=timed_model(clock, ms_per_token=1000), local=MemoryCache(ttl_s=60), clock=clock)
    embedded.fill(service, {"text": TEXT})

    answer = embedded.fill(service, {"text": TEXT}, FixedDeadline(RESERVE_MS + 1))

    assert answer.cache_hits == 1
    with pytest.raises(DeadlineNearError):
        embedded.fill(service, {"text": TEXTS[0]}, FixedDeadline(RESERVE_MS + 1))


def test_fill_reports_the_time_of_the_model_and_of_the_whole() -> None:
    """With a clock that only the model moves, run and total are what the model took, and the rest took none."""
    clock = Clock()
    service = embedded.service(model=timed_model(clock, ms_per_token=2), clock=clock)

    timing = embedded.fill(service, {"texts": TEXTS[:3], **OFF}).timing

    assert timing.run_ms == pytest.approx(3 * LENGTH * 2)
    assert timing.total_ms == pytest.approx(3 * LENGTH * 2)
    assert (timing.encode_ms, timing.cache_ms) == (0, 0)
    assert timing.decode_ms == pytest.approx(0, abs=1e-6)
