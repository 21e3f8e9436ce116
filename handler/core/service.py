"""One request, start to end: prepare, ask the caches, run the model, rank, splice, keep."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from handler.core import answers, keys, payloads, ranking, targets
from handler.core.cache_chain import CacheChain
from handler.core.errors import (
    AnswerTooLargeError,
    CacheRecordInvalidError,
    DeadlineNearError,
    InvalidInputError,
    TooLargeError,
)
from handler.core.estimate import RESERVE_MS, RunEstimate
from handler.core.ports import CacheEntry, Deadline, MaskedLanguageModel, Tokenizer
from handler.core.requests import DEFAULT_TOP_K, FillMaskRequest
from handler.core.text import TextPreparer, splice
from handler.core.types import (
    Candidate,
    FailedText,
    FilledMask,
    FilledText,
    FillMaskAnswer,
    FloatArray,
    Limits,
    Mask,
    ModelIdentity,
    PreparedText,
    RankedText,
    Ranking,
    TargetSet,
    Timing,
)
from handler.core.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """A text that will be answered, with all that its ranking depends on."""

    prepared: PreparedText
    targets: tuple[TargetSet, ...] | None  # one for each mask
    top_k: int
    key: str


class FillMaskService:
    """Answers requests with one model.

    Args:
        tokenizer: the model's own.
        model: loaded and ready.
        identity: what the answers name as their source; its digest enters every cache key.
        limits: what one request may ask for.
        cache: the caches, behind one object that never fails.
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
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.identity = identity
        self.limits = limits
        self.vocabulary = Vocabulary(tokenizer.vocabulary, tokenizer.special_ids)
        self._tokenizer = tokenizer
        self._model = model
        self._cache = cache
        self._clock = clock
        self._preparer = TextPreparer(tokenizer, self.vocabulary, limits)
        self._estimate = RunEstimate()

    def warm_up(self) -> None:
        """Run the model once and learn its speed, so that the first caller does not pay for first-run allocations."""
        prepared = self._preparer.prepare("[MASK]" * 2)
        self._model.logits([prepared.sequence])
        self._run(prepared, Timing())

    def fill(self, request: FillMaskRequest, deadline: Deadline) -> FillMaskAnswer:
        """Fill the blanks of every text of a request.

        A text of a batch that cannot be answered carries its own error; a single text raises it.

        Raises:
            InvalidInputError, TooLargeError: the single text, or the request as a whole, cannot be answered.
            DeadlineNearError: too little time is left; refused before the work where that can be told.
            InferenceError: the runtime failed.
        """
        timing = Timing()
        with self._timed(timing, "total_ms"):
            if deadline.remaining_ms() < RESERVE_MS:
                raise DeadlineNearError
            with self._timed(timing, "encode_ms"):
                jobs = [self._job(text, request) for text in request.texts]
                self._check_answer_size(jobs)
            ranked, faults, hits = self._ranked([job for job in jobs if isinstance(job, _Job)], deadline, timing)
            with self._timed(timing, "decode_ms"):
                results = tuple(
                    job if isinstance(job, FailedText) else self._compose(job, ranked[job.key], cached=job.key in hits)
                    for job in jobs
                )
        return FillMaskAnswer(
            model=self.identity,
            results=results,
            timing=timing,
            passes=len(ranked) - len(hits),
            cache_faults=faults,
        )

    def _job(self, text: str, request: FillMaskRequest) -> _Job | FailedText:
        try:
            prepared = self._preparer.prepare(text)
            sets = None
            if request.targets is not None:
                sets = targets.resolve(request.targets, len(prepared.masks), self._tokenizer, self.vocabulary)
        except (InvalidInputError, TooLargeError) as error:
            if request.fails_one_by_one:
                return FailedText(text=text, error=error)
            raise
        top_k = request.top_k or self._open_top_k(sets)
        ids = None if sets is None else [sorted(targets_of_mask.spellings) for targets_of_mask in sets]
        return _Job(
            prepared=prepared,
            targets=sets,
            top_k=top_k,
            key=keys.fill_mask_key(self.identity.digest, prepared, top_k, ids),
        )

    def _open_top_k(self, sets: tuple[TargetSet, ...] | None) -> int:
        """Where the caller left top_k open: a handful of candidates, but every target that was asked for."""
        if sets is None:
            return min(DEFAULT_TOP_K, self.limits.max_top_k)
        return max(1, *(len(targets_of_mask.spellings) for targets_of_mask in sets), 1)

    def _check_answer_size(self, jobs: Sequence[_Job | FailedText]) -> None:
        worst = answers.ENVELOPE_BYTES
        for job in jobs:
            if isinstance(job, FailedText):
                worst += answers.worst_failure_bytes(job.text)
            else:
                worst += answers.worst_text_bytes(job.prepared.text, len(job.prepared.masks), job.top_k, job.targets)
        if worst > self.limits.max_body_bytes:
            raise AnswerTooLargeError(limit=self.limits.max_body_bytes)

    def _ranked(
        self, jobs: Sequence[_Job], deadline: Deadline, timing: Timing
    ) -> tuple[dict[str, RankedText], int, set[str]]:
        """Return the rankings by key, the cache faults, and which keys a cache knew."""
        by_key = {job.key: job for job in jobs}
        with self._timed(timing, "cache_ms"):
            lookup = self._cache.lookup(list(by_key))
        ranked, faults = self._loaded(lookup.payloads, by_key), lookup.faults
        faults += len(lookup.payloads) - len(ranked)
        hits = set(ranked)
        missing = [job for key, job in by_key.items() if key not in hits]
        needed_ms = self._estimate.needed_ms(len(job.prepared.sequence.ids) for job in missing)
        if missing and deadline.remaining_ms() < needed_ms + RESERVE_MS:
            raise DeadlineNearError
        for job in missing:
            if deadline.remaining_ms() < RESERVE_MS:  # the estimate was too hopeful
                raise DeadlineNearError
            ranked[job.key] = self._rank(job, timing)
        with self._timed(timing, "cache_ms"):
            faults += self._cache.store(
                {job.key: CacheEntry(payload=payloads.dump(ranked[job.key]), passes=1) for job in missing}
            )
        return ranked, faults, hits

    def _loaded(self, found: Mapping[str, str], jobs: Mapping[str, _Job]) -> dict[str, RankedText]:
        """Read cached payloads; one that cannot be read is as good as none."""
        loaded: dict[str, RankedText] = {}
        for key, payload in found.items():
            masks = len(jobs[key].prepared.masks)
            try:
                loaded[key] = payloads.load(payload, masks=masks, vocabulary_size=len(self.vocabulary))
            except CacheRecordInvalidError:
                continue
        return loaded

    def _rank(self, job: _Job, timing: Timing) -> RankedText:
        logits = self._run(job.prepared, timing)
        with self._timed(timing, "decode_ms"):
            if job.targets is None:
                allowed = [self.vocabulary.allowed(neighbour) for neighbour in job.prepared.neighbours]
                rankings = [ranking.best(row, offer, job.top_k) for row, offer in zip(logits, allowed, strict=True)]
            else:
                rankings = [
                    ranking.among(row, list(targets_of_mask.spellings), job.top_k)
                    for row, targets_of_mask in zip(logits, job.targets, strict=True)
                ]
        return RankedText(rankings=tuple(rankings))

    def _run(self, prepared: PreparedText, timing: Timing) -> FloatArray:
        """Run the model on one text: float32 (masks, vocab)."""
        before = timing.run_ms
        with self._timed(timing, "run_ms"):
            [logits] = self._model.logits([prepared.sequence])
        self._estimate.record(len(prepared.sequence.ids), timing.run_ms - before)
        return logits

    def _compose(self, job: _Job, ranked: RankedText, *, cached: bool) -> FilledText:
        sets: Sequence[TargetSet | None] = job.targets or [None] * len(job.prepared.masks)
        return FilledText(
            text=job.prepared.text,
            truncated=job.prepared.truncated,
            unknown_characters=job.prepared.unknown_characters,
            cached=cached,
            masks=tuple(
                FilledMask(
                    mask=mask,
                    candidates=tuple(self._candidates(job.prepared.text, mask, entries, targets_of_mask)),
                    unusable_targets=targets_of_mask.unusable if targets_of_mask else None,
                )
                for mask, entries, targets_of_mask in zip(job.prepared.masks, ranked.rankings, sets, strict=True)
            ),
        )

    def _candidates(
        self, text: str, mask: Mask, entries: Ranking, targets_of_mask: TargetSet | None
    ) -> Iterator[Candidate]:
        for entry in entries:
            token = self.vocabulary.surface(entry.token_id)
            if targets_of_mask:
                token = targets_of_mask.spellings[entry.token_id]  # the caller's own spelling
            yield Candidate(
                token=token,
                piece=self.vocabulary.piece(entry.token_id),
                token_id=entry.token_id,
                score=entry.score,
                target_score=entry.target_score,
                text=splice(text, mask, token),
            )

    @contextmanager
    def _timed(self, timing: Timing, field: str) -> Iterator[None]:
        """Add the time spent inside to one field of the timing."""
        start = self._clock()
        try:
            yield
        finally:
            setattr(timing, field, getattr(timing, field) + (self._clock() - start) * 1000)
