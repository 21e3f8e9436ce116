"""From the model's scores for one blank to a ranking of what may stand there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from handler.core.errors import InferenceError
from handler.core.types import BoolArray, FloatArray, RankedFilling, Ranking, TokenIds


def softmax(logits: FloatArray) -> FloatArray:
    """Return the softmax over the last axis, in float32.

    Raises:
        InferenceError: a logit is not finite; such an answer would be no JSON either.
    """
    exponentials: FloatArray = np.exp(_shifted(logits))
    exponentials /= exponentials.sum(axis=-1, keepdims=True)
    return exponentials


def log_softmax(logits: FloatArray) -> FloatArray:
    """Return the logarithm of the softmax over the last axis, in float32.

    Raises:
        InferenceError: a logit is not finite.
    """
    shifted = _shifted(logits)
    log_probabilities: FloatArray = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return log_probabilities


def _shifted(logits: FloatArray) -> FloatArray:
    """Shift by the maximum, so that no exponential overflows."""
    if not np.isfinite(logits).all():
        raise InferenceError
    shifted: FloatArray = logits - logits.max(axis=-1, keepdims=True)
    return shifted


def best(logits: FloatArray, allowed: BoolArray, top_k: int) -> Ranking:
    """Rank the allowed tokens of one blank.

    The vocabulary is not sorted: the k-th largest value is found by selection, and only what reaches it is ordered, by
    score and then by id, so that ties always fall the same way.

    Args:
        logits: float32 (vocab,).
        allowed: bool (vocab,), which tokens may be offered.
        top_k: how many to return at most; fewer only where fewer are allowed.

    Returns:
        Scores over the whole vocabulary, not over the allowed part.
    """
    scores = softmax(logits)
    offered = np.flatnonzero(allowed)
    values = logits[offered]
    if top_k < len(offered):
        threshold = np.partition(values, len(offered) - top_k)[len(offered) - top_k]
        reached = values >= threshold
        offered, values = offered[reached], values[reached]
    order = np.lexsort((offered, -values))[:top_k]
    return tuple(
        RankedFilling(token_ids=(int(token_id),), score=shortest(scores[token_id])) for token_id in offered[order]
    )


def among(rows: Mapping[int, FloatArray], targets: Iterable[TokenIds], top_k: int) -> Ranking:
    """Rank the given fillings of one blank, bans aside: the caller asked for them.

    Args:
        rows: by number of tokens, float32 (tokens, vocab): the logits where the blank is that many masks.
        targets: each once. Their order changes nothing, not even the last digit of a sum.
        top_k: how many to return at most.

    Returns:
        With each filling its score over the whole vocabulary and its share among the targets.

    Raises:
        InferenceError: a logit is not finite.
    """
    ordered = sorted(targets)
    if not ordered:
        return ()
    scores = {length: softmax(logits) for length, logits in rows.items()}
    totals = {length: _log_total(logits) for length, logits in rows.items()}
    raw = np.asarray([sum(float(rows[len(ids)][at, token]) for at, token in enumerate(ids)) for ids in ordered])
    logs = raw - [totals[len(ids)] for ids in ordered]  # (targets,), in float64
    shares = np.exp(logs - logs.max())
    shares /= shares.sum()
    products = np.asarray(
        [np.prod([scores[len(ids)][place, token] for place, token in enumerate(ids)]) for ids in ordered], np.float32
    )
    return tuple(
        RankedFilling(
            token_ids=ordered[at], score=shortest(products[at]), target_score=shortest(np.float32(shares[at]))
        )
        # By the scores as they are told, so that these fall in order to the last digit (a product's depends on what is
        # multiplied first). Where they are equal, different logits are no tie, however close.
        for at in np.lexsort((np.arange(len(ordered)), -raw, -logs, -products))[:top_k]
    )


def _log_total(logits: FloatArray) -> float:
    """Return the logarithm of the softmax's denominator, all rows together."""
    highest = logits.max(axis=-1)
    sums = np.exp(logits - highest[..., None]).sum(axis=-1)
    return float(highest.sum(dtype=np.float64) + np.log(sums).sum(dtype=np.float64))


def shortest(value: np.float32) -> float:
    """Return the number with the fewest digits that still is this float32: 0.93, not 0.9300000071525574.

    A cache keeps it as text and gives back exactly the same number.
    """
    return float(str(value))
