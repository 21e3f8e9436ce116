"""One text: what the model is asked about it, and what becomes of the model's numbers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from handler.core import best_first, joint, keys, payloads, ranking, targets
from handler.core.errors import PassBudgetError
from handler.core.lexicon import Lexicon
from handler.core.passes import Passes
from handler.core.phrases import context_of
from handler.core.ports import MaskedLanguageModel, Tokenizer
from handler.core.requests import DEFAULT_TOP_K, FillMaskRequest
from handler.core.sizes import TEXT_BYTES, worst_string_bytes
from handler.core.text import TextPreparer, splice, splice_all
from handler.core.types import (
    Candidate,
    FilledMask,
    FilledText,
    FloatArray,
    JointCandidate,
    JointFilling,
    Limits,
    Mask,
    MaskedSequence,
    Neighbour,
    PreparedText,
    RankedText,
    Ranking,
    TargetSet,
    TokenIds,
)
from handler.core.vocabulary import Vocabulary

_CANDIDATE_BYTES: Final = 320  # keys, numbers and the token of one candidate
_TOKEN_BYTES: Final = 128  # one token of a joint filling


@dataclass(frozen=True, slots=True, kw_only=True)
class JointOptions:
    """How the blanks of a text are filled together."""

    lexicon: bool
    beam: int
    top_k: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FillJob:
    """A text that will be answered, with all that its rankings depend on."""

    prepared: PreparedText
    targets: tuple[TargetSet, ...] | None  # one for each mask
    widened: Mapping[tuple[int, int], MaskedSequence]  # by blank and length, for targets of several tokens
    joint: JointOptions | None
    top_k: int
    key: str

    @property
    def text(self) -> str:
        """See handler.core.operations.Job."""
        return self.prepared.text

    @property
    def expected_tokens(self) -> int:
        """See handler.core.operations.Job."""
        passes = joint.passes_at_most(len(self.prepared.masks), self.joint.beam) if self.joint else 1
        return len(self.prepared.sequence.ids) * passes + sum(len(each.ids) for each in self.widened.values())


class Filling:
    """The operation that fills blanks; see handler.core.operations.Operation.

    Args:
        tokenizer: the model's own.
        vocabulary: the classes of its tokens.
        lexicon: phrases for joint filling, or None.
        limits: what one request may ask for.
        digest: the artifact's; part of every key.
    """

    def __init__(
        self,
        *,
        tokenizer: Tokenizer,
        vocabulary: Vocabulary,
        lexicon: Lexicon | None,
        limits: Limits,
        digest: str,
    ) -> None:
        self._vocabulary = vocabulary
        self._tokenizer = tokenizer
        self._lexicon = lexicon
        self._limits = limits
        self._digest = digest
        self._preparer = TextPreparer(tokenizer, self._vocabulary, limits)

    def job(self, text: str, request: FillMaskRequest) -> FillJob:
        """Check a text against a request and find all that its answer depends on.

        Raises:
            InvalidInputError, TooLargeError: the text cannot be answered.
        """
        prepared = self._preparer.prepare(text)
        sets = None
        if request.targets is not None:
            sets = targets.resolve(
                request.targets,
                len(prepared.masks),
                self._tokenizer,
                self._vocabulary,
                longest=prepared.longest_filling,
            )
        top_k = request.top_k or self._open_top_k(sets)
        options = self._joint_options(prepared, request, sets)
        ids = None if sets is None else [sorted(targets_of_mask.spellings) for targets_of_mask in sets]
        widened = self._widened(prepared, ids or [])
        joint_facts = self._joint_facts(prepared, options)
        return FillJob(
            prepared=prepared,
            targets=sets,
            widened=widened,
            joint=options,
            top_k=top_k,
            key=keys.fill_mask_key(self._digest, prepared, top_k, ids, list(widened.values()), joint_facts),
        )

    def _widened(
        self, prepared: PreparedText, targets_of_masks: Sequence[Sequence[TokenIds]]
    ) -> Mapping[tuple[int, int], MaskedSequence]:
        """Return what the model reads for targets of several tokens, by blank and number of tokens."""
        wanted = sorted(
            {(at, len(ids)) for at, fillings in enumerate(targets_of_masks) for ids in fillings if len(ids) > 1}
        )
        if len(wanted) + 1 > self._limits.max_passes:
            raise PassBudgetError(limit=self._limits.max_passes)
        return dict(zip(wanted, self._preparer.widened(prepared.text, wanted), strict=True))

    def _open_top_k(self, sets: tuple[TargetSet, ...] | None) -> int:
        """Where the caller left top_k open: a handful of candidates, but every target that was asked for."""
        if sets is None:
            return min(DEFAULT_TOP_K, self._limits.max_top_k)
        return max(1, *(len(targets_of_mask.spellings) for targets_of_mask in sets))

    def _joint_options(
        self, prepared: PreparedText, request: FillMaskRequest, sets: tuple[TargetSet, ...] | None
    ) -> JointOptions | None:
        """Return how to fill jointly; None where it was not asked for, or where it has nothing to add."""
        lexicon = request.lexicon and self._lexicon is not None
        masks = len(prepared.masks)
        if not request.joint or sets is not None or (masks == 1 and not lexicon):
            return None
        if best_first.passes_needed(masks, request.beam) > self._limits.max_passes:
            raise PassBudgetError(limit=self._limits.max_passes)
        top_k = request.top_k or min(DEFAULT_TOP_K, self._limits.max_top_k)
        return JointOptions(lexicon=lexicon, beam=request.beam, top_k=top_k)

    def _joint_facts(self, prepared: PreparedText, options: JointOptions | None) -> dict[str, object] | None:
        if options is None:
            return None
        masks, context = prepared.masks, None
        if self._lexicon and options.lexicon:
            context = context_of(prepared.text, masks, self._lexicon.longest - 1)
        return {
            "lexicon": options.lexicon,
            "beam": options.beam,
            "top_k": options.top_k,
            "context": context,
            # A filled blank directly to the left is a neighbour.
            "touching": [left.end == right.start for left, right in itertools.pairwise(masks)],
        }

    def worst_bytes(self, job: FillJob) -> int:
        """See Operation."""
        length, masks = worst_string_bytes(job.text), len(job.prepared.masks)
        joint_top_k = job.joint.top_k if job.joint else 0
        size = TEXT_BYTES + length + joint_top_k * (length + _CANDIDATE_BYTES + masks * _TOKEN_BYTES)
        for index in range(masks):
            count = job.top_k
            if job.targets is not None:
                spellings = job.targets[index].spellings.values()
                count = min(count, len(spellings))
                size += 2 * sum(map(worst_string_bytes, spellings))  # the token, and the token in its text
                size += sum(TEXT_BYTES + worst_string_bytes(entry.target) for entry in job.targets[index].unusable)
            size += TEXT_BYTES + count * (length + _CANDIDATE_BYTES)
        return size

    def dump(self, value: RankedText) -> str:
        """See Operation."""
        return payloads.dump(value)

    def load(self, payload: str, job: FillJob) -> RankedText:
        """See Operation."""
        return payloads.load(payload, self._expected(job))

    def _expected(self, job: FillJob) -> payloads.Expected:
        """Return what a cached payload for a job must be: whatever else a cache answers is refused."""
        if job.targets is None:
            rankings = [
                payloads.ExpectedRanking(
                    entries=min(job.top_k, int(np.count_nonzero(self._vocabulary.allowed(neighbour)))),
                    holds=partial(self._is_allowed, neighbour),
                    targets=False,
                )
                for neighbour in job.prepared.neighbours
            ]
        else:
            rankings = [
                payloads.ExpectedRanking(
                    entries=min(job.top_k, len(targets_of_mask.spellings)),
                    holds=targets_of_mask.spellings.__contains__,
                    targets=True,
                )
                for targets_of_mask in job.targets
            ]
        return payloads.Expected(
            rankings=rankings,
            joint_top_k=job.joint.top_k if job.joint else 0,
            vocabulary_size=len(self._vocabulary),
        )

    def _is_allowed(self, neighbour: Neighbour, ids: TokenIds) -> bool:
        return len(ids) == 1 and self._vocabulary.is_allowed(neighbour, ids[0])

    def compute(self, job: FillJob, model: MaskedLanguageModel) -> tuple[RankedText, int]:
        """Run the model; return the rankings and the number of passes.

        Raises:
            PassBudgetError: joint filling needs more passes than a text may take.
            InferenceError: the runtime failed.
        """
        logits, *wide = model.logits([job.prepared.sequence, *job.widened.values()])
        rankings = tuple(self._rankings(job, logits, dict(zip(job.widened, wide, strict=True))))
        if job.joint is None:
            return RankedText(rankings=rankings, joint=()), 1 + len(wide)
        passes = Passes(model, job.prepared, self._limits.max_passes)
        fillings = joint.decode(
            job.prepared,
            self._vocabulary,
            self._lexicon if job.joint.lexicon else None,
            logits,
            passes,
            top_k=job.joint.top_k,
            beam=job.joint.beam,
        )
        return RankedText(rankings=rankings, joint=fillings), passes.spent

    def _rankings(
        self, job: FillJob, logits: FloatArray, wide: Mapping[tuple[int, int], FloatArray]
    ) -> Iterator[Ranking]:
        if job.targets is None:
            for row, neighbour in zip(logits, job.prepared.neighbours, strict=True):
                yield ranking.best(row, self._vocabulary.bans(neighbour), job.top_k)
        else:
            for index, targets_of_mask in enumerate(job.targets):
                rows = {1: logits[index : index + 1]} | {count: wide[at, count] for at, count in wide if at == index}
                yield ranking.among(rows, targets_of_mask.spellings, job.top_k)

    def compose(self, job: FillJob, value: RankedText, *, cached: bool) -> FilledText:
        """Put the rankings into the caller's own string."""
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
                for mask, entries, targets_of_mask in zip(job.prepared.masks, value.rankings, sets, strict=True)
            ),
            joint=tuple(self._joint_candidate(job.prepared, filling) for filling in value.joint),
        )

    def _candidates(
        self, text: str, mask: Mask, entries: Ranking, targets_of_mask: TargetSet | None
    ) -> Iterator[Candidate]:
        for entry in entries:
            # A target in the caller's own spelling.
            token = targets_of_mask.spellings[entry.token_ids] if targets_of_mask else self._surface(entry.token_ids)
            yield Candidate(
                token=token,
                piece=self._vocabulary.piece(entry.token_ids[0]) if len(entry.token_ids) == 1 else token,
                token_ids=entry.token_ids,
                score=entry.score,
                target_score=entry.target_score,
                text=splice(text, mask, token),
            )

    def _surface(self, token_ids: TokenIds) -> str:
        return "".join(map(self._vocabulary.surface, token_ids))

    def _joint_candidate(self, prepared: PreparedText, filling: JointFilling) -> JointCandidate:
        tokens = tuple(self._vocabulary.surface(token_id) for token_id in filling.token_ids)
        return JointCandidate(
            tokens=tokens,
            score=filling.score,
            lexicon_score=filling.lexicon_score,
            source=filling.source,
            text=splice_all(prepared.text, prepared.masks, tokens),
        )
