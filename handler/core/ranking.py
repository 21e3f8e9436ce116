"""From the model's scores for one blank to a ranking of what may stand there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from handler.core.errors import InferenceError
from handler.core.types import BoolArray, FloatArray, Ranking, ScoredToken


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
    return tuple(ScoredToken(token_id=int(token_id), score=shortest(scores[token_id])) for token_id in offered[order])


def among(logits: FloatArray, targets: Sequence[int], top_k: int) -> Ranking:
    """Rank the given tokens of one blank, bans aside: the caller asked for them.

    Args:
        logits: float32 (vocab,).
        targets: ids, each once. Their order changes nothing, not even the last digit of a sum of float32.
        top_k: how many to return at most.

    Returns:
        With each token its score over the whole vocabulary and its share among the targets.
    """
    if not targets:
        return ()
    ids = np.asarray(sorted(targets), dtype=np.int64)
    scores, shares = softmax(logits), softmax(logits[ids])
    order = np.lexsort((ids, -logits[ids]))[:top_k]
    return tuple(
        ScoredToken(token_id=int(ids[at]), score=shortest(scores[ids[at]]), target_score=shortest(shares[at]))
        for at in order
    )


def shortest(value: np.float32) -> float:
    """Return the number with the fewest digits that still is this float32: 0.93, not 0.9300000071525574.

    A cache keeps it as text and gives back exactly the same number.
    """
    return float(str(value))
