"""What a cache keeps: rankings as one JSON string, never as floats of a database's own kind."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from handler.core.errors import CacheRecordInvalidError
from handler.core.types import JointFilling, JointSource, RankedFilling, RankedText, Ranking, TokenIds


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedRanking:
    """What the ranking of one blank must be, whatever the model says."""

    entries: int  # how many
    holds: Callable[[TokenIds], bool]  # whether a filling may be among them
    targets: bool  # whether each has its share among targets


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What the payload of one text must be."""

    rankings: Sequence[ExpectedRanking]  # one for each mask
    joint_top_k: int  # joint fillings at most
    vocabulary_size: int


def dump(ranked: RankedText) -> str:
    """Return the payload: for each mask a list of [ids, score, target_score], then the joint fillings likewise."""
    rankings = [
        [[entry.token_ids, entry.score, entry.target_score] for entry in ranking] for ranking in ranked.rankings
    ]
    joint = [
        [filling.token_ids, filling.score, filling.lexicon_score, filling.source.value] for filling in ranked.joint
    ]
    return json.dumps([rankings, joint], separators=(",", ":"))


def load(payload: str, expected: Expected) -> RankedText:
    """Read a payload back, exactly.

    Args:
        payload: any string; a table is open to others.
        expected: what the text can have been ranked to.

    Raises:
        CacheRecordInvalidError: it is not what this version wrote for such a text.
    """
    try:
        rankings, joint = json.loads(payload)
        if not isinstance(joint, list) or len(joint) > expected.joint_top_k:
            raise ValueError("not the joint fillings asked for")
        return RankedText(
            rankings=tuple(
                _ranking(entries, shape) for entries, shape in zip(rankings, expected.rankings, strict=True)
            ),
            joint=tuple(_filling(entry, expected) for entry in joint),
        )
    except (ValueError, TypeError, RecursionError) as error:
        raise CacheRecordInvalidError(problem="a cached payload is not what was written for this text") from error


def _ranking(entries: object, expected: ExpectedRanking) -> Ranking:
    if not isinstance(entries, list) or len(entries) != expected.entries:
        raise ValueError("another number of entries")
    ranking = tuple(_ranked_filling(entry, expected) for entry in entries)
    if len({entry.token_ids for entry in ranking}) != len(ranking):
        raise ValueError("a filling twice")
    if any(worse.score > better.score for better, worse in itertools.pairwise(ranking)):
        raise ValueError("not best first")
    return ranking


def _ranked_filling(entry: Any, expected: ExpectedRanking) -> RankedFilling:
    token_ids, score, target_score = entry
    if (target_score is not None) is not expected.targets:
        raise ValueError("a share among targets without targets, or none with them")
    ids = _ids(token_ids)
    if not expected.holds(ids):
        raise ValueError("no filling that may stand here")
    return RankedFilling(token_ids=ids, score=_score(score), target_score=_score_or_none(target_score))


def _filling(entry: Any, expected: Expected) -> JointFilling:
    token_ids, score, lexicon_score, source = entry
    ids = _ids(token_ids)
    if len(ids) != len(expected.rankings) or not all(0 <= token_id < expected.vocabulary_size for token_id in ids):
        raise ValueError("a filling of another text")
    return JointFilling(
        token_ids=ids,
        score=_score(score),
        lexicon_score=_score_or_none(lexicon_score),
        source=JointSource(source),
    )


def _ids(value: object) -> TokenIds:
    if not isinstance(value, list) or any(type(token_id) is not int for token_id in value):
        raise ValueError("no list of ids")
    return tuple(value)


def _score(value: object) -> float:
    if type(value) is not float or not 0 <= value <= 1:
        raise ValueError("no score")
    return value


def _score_or_none(value: object) -> float | None:
    return None if value is None else _score(value)
