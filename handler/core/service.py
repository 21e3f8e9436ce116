"""One request, start to end: prepare, ask the caches, run the model, rank, splice, keep."""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from handler.core import answers, payloads
from handler.core.cache_chain import CacheChain
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
from handler.core.filling import Filler, Job
from handler.core.lexicon import Lexicon
from handler.core.metering import MeteredModel
from handler.core.ports import CacheEntry, Deadline, MaskedLanguageModel, Tokenizer
from handler.core.requests import FillMaskRequest
from handler.core.types import (
    FailedText,
    FilledText,
    FillMaskAnswer,
    Limits,
    MaskedSequence,
    ModelIdentity,
    RankedText,
    Timing,
)
from handler.core.vocabulary import Vocabulary

# The tokens of the first run: a short sentence. A shorter one costs far more for each token, and the estimate for long
# batches would be too careful.
_WARM_UP_TOKENS: Final = 16


class FillMaskService:
    """Answers requests with one model.

    Args:
        tokenizer: the model's own.
        model: loaded and ready.
        identity: what the answers name as their source; its digest enters every cache key.
        limits: what one request may ask for.
        cache: the caches, behind one object that never fails.
        lexicon: phrases for joint filling, or None.
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
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.identity = identity
        self.limits = limits
        self._filler = Filler(tokenizer=tokenizer, lexicon=lexicon, limits=limits, digest=identity.digest)
        self._special = tokenizer.special
        self._model = model
        self._cache = cache
        self._clock = clock
        self._estimate = RunEstimate()

    @property
    def vocabulary(self) -> Vocabulary:
        """What the model may offer."""
        return self._filler.vocabulary

    def warm_up(self) -> None:
        """Run the model once and learn its speed, so that the first caller does not pay for first-run allocations."""
        filling = [self._special.unk] * (min(_WARM_UP_TOKENS, self.limits.max_tokens) - 3)
        ids = (self._special.cls, self._special.mask, *filling, self._special.sep)
        sequence = MaskedSequence(ids=ids, mask_positions=(1,))
        self._model.logits([sequence])
        self._metered().logits([sequence])

    def fill(self, request: FillMaskRequest, deadline: Deadline) -> FillMaskAnswer:
        """Fill the blanks of every text of a request.

        A text of a batch that cannot be answered carries its own error; a single text raises it.

        Raises:
            InvalidInputError, TooLargeError: the single text, or the request as a whole, cannot be answered.
            DeadlineNearError: too little time is left; refused before the work where that can be told.
            InferenceError: the runtime failed, on the single text or on all that a batch needed it for.
        """
        timing, model = Timing(), self._metered()
        with self._timed(timing, "total_ms"):
            if deadline.remaining_ms() < RESERVE_MS:
                raise DeadlineNearError
            with self._timed(timing, "encode_ms"):
                jobs = [self._job(text, request) for text in request.texts]
                self._check_answer_size(jobs)
            by_key = {job.key: job for job in jobs if isinstance(job, Job)}
            with self._timed(timing, "cache_ms"):
                lookup = self._cache.lookup(list(by_key))
            known = self._loaded(lookup.payloads, by_key)
            missing = [job for key, job in by_key.items() if key not in known]
            computed, failed = self._computed(missing, deadline, model, timing)
            # Where the runtime answers nothing at all a retry may help, which an answer of errors would prevent.
            broken = not known and not computed and any(isinstance(error, InferenceError) for error in failed.values())
            if failed and (broken or not request.fails_one_by_one):
                raise next(iter(failed.values()))
            with self._timed(timing, "cache_ms"):
                faults = self._cache.store(
                    {
                        key: CacheEntry(payload=payloads.dump(ranked), passes=passes)
                        for key, (ranked, passes) in computed.items()
                    }
                )
            with self._timed(timing, "decode_ms"):
                ranked = known | {key: ranked for key, (ranked, _) in computed.items()}
                results = tuple(self._result(job, ranked, failed, cached=known.keys()) for job in jobs)
        timing.run_ms = model.run_ms
        return FillMaskAnswer(
            model=self.identity,
            results=results,
            timing=timing,
            passes=sum(passes for _, passes in computed.values()),
            cache_faults=lookup.faults + len(lookup.payloads) - len(known) + faults,
        )

    def _metered(self) -> MeteredModel:
        return MeteredModel(self._model, self._estimate, self._clock)

    def _job(self, text: str, request: FillMaskRequest) -> Job | FailedText:
        try:
            return self._filler.job(text, request)
        except (InvalidInputError, TooLargeError) as error:
            if request.fails_one_by_one:
                return FailedText(text=text, error=error)
            raise

    def _check_answer_size(self, jobs: Sequence[Job | FailedText]) -> None:
        worst = answers.ENVELOPE_BYTES
        for job in jobs:
            if isinstance(job, FailedText):
                worst += answers.worst_failure_bytes(job.text)
            else:
                text, joint_top_k = job.prepared, job.joint.top_k if job.joint else 0
                worst += answers.worst_text_bytes(text.text, len(text.masks), job.top_k, job.targets, joint_top_k)
        if worst > self.limits.max_body_bytes:
            raise AnswerTooLargeError(limit=self.limits.max_body_bytes)

    def _loaded(self, found: Mapping[str, str], jobs: Mapping[str, Job]) -> dict[str, RankedText]:
        """Read cached payloads; one that cannot be read is as good as none."""
        loaded: dict[str, RankedText] = {}
        for key, payload in found.items():
            try:
                loaded[key] = payloads.load(payload, self._filler.expected(jobs[key]))
            except CacheRecordInvalidError:
                continue
        return loaded

    def _result(
        self,
        job: Job | FailedText,
        ranked: Mapping[str, RankedText],
        failed: Mapping[str, TiankongError],
        *,
        cached: Container[str],
    ) -> FilledText | FailedText:
        if isinstance(job, FailedText):
            return job
        if job.key in failed:
            return FailedText(text=job.prepared.text, error=failed[job.key])
        return self._filler.compose(job, ranked[job.key], cached=job.key in cached)

    def _computed(
        self, jobs: Sequence[Job], deadline: Deadline, model: MeteredModel, timing: Timing
    ) -> tuple[dict[str, tuple[RankedText, int]], dict[str, TiankongError]]:
        """Return rankings and passes, and what failed, by key; computed one text after the other."""
        needed_ms = self._estimate.needed_ms(job.expected_tokens for job in jobs)
        if jobs and deadline.remaining_ms() < needed_ms + RESERVE_MS:
            raise DeadlineNearError
        computed, failed = {}, dict[str, TiankongError]()
        start, run_before = self._clock(), model.run_ms
        for job in jobs:
            if deadline.remaining_ms() < RESERVE_MS:  # the estimate was too hopeful
                raise DeadlineNearError
            try:
                computed[job.key] = self._filler.rank(job, model)
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
