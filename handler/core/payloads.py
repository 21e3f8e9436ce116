"""What a cache keeps: rankings as one JSON string, never as floats of a database's own kind."""

from __future__ import annotations

import json

from handler.core.errors import CacheRecordInvalidError
from handler.core.types import RankedText, ScoredToken


def dump(ranked: RankedText) -> str:
    """Return the payload: for each mask a list of [id, score, target_score]."""
    return json.dumps(
        [[[token.token_id, token.score, token.target_score] for token in ranking] for ranking in ranked.rankings],
        separators=(",", ":"),
    )


def load(payload: str, *, masks: int, vocabulary_size: int) -> RankedText:
    """Read a payload back, exactly.

    Raises:
        CacheRecordInvalidError: it is not what this version wrote for such a text.
    """
    try:
        rankings = tuple(tuple(_token(entry, vocabulary_size) for entry in ranking) for ranking in json.loads(payload))
    except (ValueError, TypeError, RecursionError) as error:
        raise CacheRecordInvalidError(problem="a cached payload cannot be read") from error
    if len(rankings) != masks:
        raise CacheRecordInvalidError(problem="a cached payload is of another text")
    return RankedText(rankings=rankings)


def _token(entry: object, vocabulary_size: int) -> ScoredToken:
    if not isinstance(entry, list) or len(entry) != 3:
        raise ValueError("a ranking entry has three parts")
    token_id, score, target_score = entry
    if type(token_id) is not int or not 0 <= token_id < vocabulary_size:
        raise ValueError("no id of this vocabulary")
    for number in (score,) if target_score is None else (score, target_score):
        if type(number) is not float or not 0 <= number <= 1:
            raise ValueError("no score")
    return ScoredToken(token_id=token_id, score=score, target_score=target_score)
