"""One request, start to end: prepare, ask the caches, run the model, compute, compose, keep."""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from handler.core.cache_chain import CacheChain
from handler.core.correcting import Correcting
from handler.core.error_model import ErrorModel
from handler.core.errors import (
    AnswerTooLargeError,
    CacheRecordInvalidError,
    DeadlineNearError,
    InferenceError,
    InvalidInputError,
    TiankongError,
    TooLargeError,
)
from handler.core.estimate import RESERVE_MS, RunEstimate
from handler.core.filling import Filling
from handler.core.lexicon import Lexicon
from handler.core.metering import MeteredModel
from handler.core.operations import Job, Operation
from handler.core.ports import CacheEntry, Deadline, MaskedLanguageModel, Tokenizer
from handler.core.requests import CorrectRequest, FillMaskRequest, Request, ScoreRequest
from handler.core.scoring import Scoring
from handler.core.sizes import ENVELOPE_BYTES, worst_failure_bytes, worst_string_bytes
from handler.core.types import Answer, FailedText, Limits, MaskedSequence, ModelIdentity, TextResult, Timing
from handler.core.vocabulary import Vocabulary

# The tokens of the first run: a short sentence. A shorter one costs far more for each token, and the estimate for long
# batches would be too careful.
_WARM_UP_TOKENS: Final = 16

AnyOperation = Operation[Any, Any, Any]  # each knows its own jobs and values; the service only passes them on


class Service:
    """Answers requests with one model.

    Args:
        tokenizer: the model's own.
        model: loaded and ready.
        identity: what the answers name as their source; its digest enters every cache key.
        limits: what one request may ask for.
        cache: the caches, behind one object that never fails.
        lexicon: phrases for joint filling, or None.
        errors: which character is written for which, or None: then nothing is corrected.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        *,
        tokenizer: Tokenizer,
        model: MaskedLanguageModel,
        identity: ModelIdentity,
        limits: Limits,
        cache: CacheChain,
        lexicon: Lexicon | None = None,
        errors: ErrorModel | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.identity = identity
        self.limits = limits
        self.vocabulary = Vocabulary(tokenizer.vocabulary, tokenizer.special_ids)
        digest, vocabulary = identity.digest, self.vocabulary
        self._operations: Mapping[type[Request], AnyOperation] = {
            FillMaskRequest: Filling(
                tokenizer=tokenizer, vocabulary=vocabulary, lexicon=lexicon, limits=limits, digest=digest
            ),
            CorrectRequest: Correcting(
                tokenizer=tokenizer, vocabulary=vocabulary, errors=errors, limits=limits, digest=digest
            ),
            ScoreRequest: Scoring(tokenizer=tokenizer, limits=limits, digest=digest),
        }
        self._special = tokenizer.special
        self._model = model
        self._cache = cache
        self._clock = clock
        self._estimate = RunEstimate()

    def warm_up(self) -> None:
        """Run the model once and learn its speed, so that the first caller does not pay for first-run allocations."""
        filling = [self._special.unk] * (min(_WARM_UP_TOKENS, self.limits.max_tokens) - 3)
        ids = (self._special.cls, self._special.mask, *filling, self._special.sep)
        sequence = MaskedSequence(ids=ids, mask_positions=(1,))
        self._model.logits([sequence])
        self._metered().logits([sequence])

    def answer(self, request: Request, deadline: Deadline) -> Answer:
        """Answer every text of a request.

        A text of a batch that cannot be answered carries its own error; a single text raises it.

        Raises:
            InvalidInputError, TooLargeError: the single text, or the request as a whole, cannot be answered.
            DeadlineNearError: too little time is left; refused before the work where that can be told.
            InferenceError: the runtime failed, on the single text or on all that a batch needed it for.
        """
        operation = self._operations[type(request)]
        timing, model = Timing(), self._metered()
        with self._timed(timing, "total_ms"):
            if deadline.remaining_ms() < RESERVE_MS:
                raise DeadlineNearError
            with self._timed(timing, "encode_ms"):
                self._check_text_size(request)
                jobs = [self._job(operation, text, request, deadline) for text in request.texts]
                self._check_answer_size(operation, jobs)
            by_key = {job.key: job for job in jobs if not isinstance(job, FailedText)}
            with self._timed(timing, "cache_ms"):
                lookup = self._cache.lookup(list(by_key))
            known = _loaded(operation, lookup.payloads, by_key)
            missing = [job for key, job in by_key.items() if key not in known]
            computed, failed = self._computed(operation, missing, deadline, model, timing)
            # Where the runtime answers nothing at all a retry may help, which an answer of errors would prevent.
            broken = not known and not computed and any(isinstance(error, InferenceError) for error in failed.values())
            if failed and (broken or not request.fails_one_by_one):
                raise next(iter(failed.values()))
            with self._timed(timing, "cache_ms"):
                faults = self._cache.store(
                    {
                        key: CacheEntry(payload=operation.dump(value), passes=passes)
                        for key, (value, passes) in computed.items()
                        if self._cache.keeps
                    }
                )
            with self._timed(timing, "decode_ms"):
                values = known | {key: value for key, (value, _) in computed.items()}
                results = tuple(_result(operation, job, values, failed, cached=known.keys()) for job in jobs)
        timing.run_ms = model.run_ms
        return Answer(
            model=self.identity,
            results=results,
            timing=timing,
            passes=sum(passes for _, passes in computed.values()),
            cache_faults=lookup.faults + len(lookup.payloads) - len(known) + faults,
        )

    def _metered(self) -> MeteredModel:
        return MeteredModel(self._model, self._estimate, self._clock)

    def _check_text_size(self, request: Request) -> None:
        """Refuse before encoding what its texts alone, which the answer repeats, make too large."""
        answerable = [text for text in request.texts if len(text) <= self.limits.max_text_chars]
        if sum(map(worst_string_bytes, answerable)) > self.limits.max_body_bytes:
            raise AnswerTooLargeError(limit=self.limits.max_body_bytes)

    def _job(self, operation: AnyOperation, text: str, request: Request, deadline: Deadline) -> Job | FailedText:
        if deadline.remaining_ms() < RESERVE_MS:  # long texts take time even to read
            raise DeadlineNearError
        try:
            job: Job = operation.job(text, request)
        except (InvalidInputError, TooLargeError) as error:
            if request.fails_one_by_one:
                return FailedText(text=text, error=error)
            raise
        return job

    def _check_answer_size(self, operation: AnyOperation, jobs: Sequence[Job | FailedText]) -> None:
        worst = ENVELOPE_BYTES + sum(
            worst_failure_bytes(job.text) if isinstance(job, FailedText) else operation.worst_bytes(job) for job in jobs
        )
        if worst > self.limits.max_body_bytes:
            raise AnswerTooLargeError(limit=self.limits.max_body_bytes)

    def _computed(
        self,
        operation: AnyOperation,
        jobs: Sequence[Job],
        deadline: Deadline,
        model: MeteredModel,
        timing: Timing,
    ) -> tuple[dict[str, tuple[Any, int]], dict[str, TiankongError]]:
        """Return values and passes, and what failed, by key; computed one text after the other."""
        needed_ms = self._estimate.needed_ms(job.expected_tokens for job in jobs)
        if jobs and deadline.remaining_ms() < needed_ms + RESERVE_MS:
            raise DeadlineNearError
        computed, failed = {}, dict[str, TiankongError]()
        start, run_before = self._clock(), model.run_ms
        for job in jobs:
            if deadline.remaining_ms() < RESERVE_MS:  # the estimate was too hopeful
                raise DeadlineNearError
            try:
                computed[job.key] = operation.compute(job, model)
            except (InvalidInputError, InferenceError) as error:
                failed[job.key] = error
        timing.decode_ms += (self._clock() - start) * 1000 - (model.run_ms - run_before)
        return computed, failed

    @contextmanager
    def _timed(self, timing: Timing, field: str) -> Iterator[None]:
        """Add the time spent inside to one field of the timing."""
        start = self._clock()
        try:
            yield
        finally:
            setattr(timing, field, getattr(timing, field) + (self._clock() - start) * 1000)


def _loaded(operation: AnyOperation, found: Mapping[str, str], jobs: Mapping[str, Job]) -> dict[str, Any]:
    """Read cached payloads; one that cannot be read is as good as none."""
    loaded: dict[str, Any] = {}
    for key, payload in found.items():
        try:
            loaded[key] = operation.load(payload, jobs[key])
        except CacheRecordInvalidError:
            continue
    return loaded


def _result(
    operation: AnyOperation,
    job: Job | FailedText,
    values: Mapping[str, Any],
    failed: Mapping[str, TiankongError],
    *,
    cached: Container[str],
) -> TextResult | FailedText:
    if isinstance(job, FailedText):
        return job
    if job.key in failed:
        return FailedText(text=job.text, error=failed[job.key])
    return operation.compose(job, values[job.key], cached=job.key in cached)
