"""From the model's scores for one blank to a ranking of what may stand there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np

from handler.core.errors import InferenceError
from handler.core.types import FloatArray, RankedFilling, Ranking, TokenIds

_GROUPS: Final = 512
_LEAST: Final = np.finfo(np.float32).min  # of all finite numbers


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


def best(logits: FloatArray, bans: FloatArray, top_k: int) -> Ranking:
    """Rank the allowed tokens of one blank.

    The vocabulary is not sorted: only what may be among the first is ordered, by score and then by id, so that ties
    always fall the same way.

    Args:
        logits: float32 (vocab,).
        bans: float32 (vocab,), 0 for tokens that may be offered and minus infinity for the others.
        top_k: how many to return at most; fewer only where fewer are allowed.

    Returns:
        Scores over the whole vocabulary, not over the allowed part.

    Raises:
        InferenceError: a logit is not finite.
    """
    exponentials: FloatArray = np.exp(_shifted(logits))
    total = exponentials.sum()
    values = logits + bans
    offered = np.flatnonzero(values >= max(_at_most_kth(values, top_k), _LEAST))
    first = offered[np.lexsort((offered, -logits[offered]))[:top_k]]
    scores = exponentials[first] / total
    return tuple(
        RankedFilling(token_ids=(token_id,), score=shortest(score))
        for token_id, score in zip(first.tolist(), scores, strict=True)
    )


def _at_most_kth(values: FloatArray, k: int) -> np.float32:
    """Return a number that at least k values reach, close to the k-th largest; minus infinity for few values.

    It is the k-th largest of the maxima of groups, whatever the groups are. For 21,128 values it takes a third of the
    time of np.partition, which would find the k-th itself.
    """
    groups = max(_GROUPS, k)
    rows = len(values) // groups
    if not rows:
        return np.float32(-np.inf)
    maxima = values[: rows * groups].reshape(rows, groups).max(axis=0)
    kth: np.float32 = np.partition(maxima, groups - k)[groups - k]
    return kth


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
