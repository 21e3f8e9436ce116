"""Targets: the caller's own candidates, resolved to the vocabulary, none of them silently cut or dropped."""

from __future__ import annotations

from collections.abc import Sequence

from handler.core.errors import TargetListsMismatchError
from handler.core.ports import Tokenizer
from handler.core.types import TargetSet, UnusableTarget
from handler.core.vocabulary import Vocabulary

NOT_IN_VOCABULARY = "not_in_vocabulary"
SEVERAL_TOKENS = "several_tokens"
NO_TEXT = "no_text"  # spaces or control characters only
DUPLICATE = "same_token_as_another"  # e.g. "A" beside "a" in a lower-casing model


def resolve(
    targets: tuple[str, ...] | tuple[tuple[str, ...], ...], masks: int, tokenizer: Tokenizer, vocabulary: Vocabulary
) -> tuple[TargetSet, ...]:
    """Return one set of targets for each mask.

    Args:
        targets: one list for all masks, or one for each.
        masks: how many blanks the text has.
        tokenizer: the model's own.
        vocabulary: the classes of its tokens.

    Raises:
        TargetListsMismatchError: there are lists for another number of blanks.
    """
    if isinstance(targets[0], str):
        common = _resolve_list([target for target in targets if isinstance(target, str)], tokenizer, vocabulary)
        return (common,) * masks
    if len(targets) != masks:
        raise TargetListsMismatchError(actual=len(targets), expected=masks)
    return tuple(_resolve_list(part, tokenizer, vocabulary) for part in targets)


def _resolve_list(targets: Sequence[str], tokenizer: Tokenizer, vocabulary: Vocabulary) -> TargetSet:
    spellings: dict[int, str] = {}
    unusable: list[UnusableTarget] = []
    for target in dict.fromkeys(targets):  # a target sent twice is one target
        ids = tokenizer.encode(target).ids
        if not ids:
            unusable.append(UnusableTarget(target=target, reason=NO_TEXT))
        elif tokenizer.special.unk in ids:
            unusable.append(UnusableTarget(target=target, reason=NOT_IN_VOCABULARY))
        elif len(ids) > 1:
            unusable.append(UnusableTarget(target=target, reason=SEVERAL_TOKENS))
        elif ids[0] in spellings:
            unusable.append(UnusableTarget(target=target, reason=DUPLICATE))
        elif not vocabulary.is_offerable(ids[0]):
            unusable.append(UnusableTarget(target=target, reason=NOT_IN_VOCABULARY))
        else:
            spellings[ids[0]] = target
    return TargetSet(spellings=spellings, unusable=tuple(unusable))
