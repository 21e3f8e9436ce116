"""Targets: the caller's own candidates, resolved to the vocabulary, none of them silently cut or dropped."""

from __future__ import annotations

from collections.abc import Sequence

from handler.core.errors import TargetListsMismatchError
from handler.core.ports import Tokenizer
from handler.core.types import TargetSet, TokenIds, UnusableTarget
from handler.core.vocabulary import Vocabulary

NOT_IN_VOCABULARY = "not_in_vocabulary"
TOO_LONG = "too_long"  # with so many tokens in place of the blank, the blanks leave the model's window
NO_TEXT = "no_text"  # spaces or control characters only
DUPLICATE = "same_token_as_another"  # e.g. "A" beside "a" in a lower-casing model


def resolve(
    targets: tuple[str, ...] | tuple[tuple[str, ...], ...],
    masks: int,
    tokenizer: Tokenizer,
    vocabulary: Vocabulary,
    *,
    longest: int,
) -> tuple[TargetSet, ...]:
    """Return one set of targets for each mask.

    Args:
        targets: one list for all masks, or one for each.
        masks: how many blanks the text has.
        tokenizer: the model's own.
        vocabulary: the classes of its tokens.
        longest: tokens that one blank may be filled with.

    Raises:
        TargetListsMismatchError: there are lists for another number of blanks.
    """
    if isinstance(targets[0], str):
        common = [target for target in targets if isinstance(target, str)]
        return (_resolve_list(common, longest, tokenizer, vocabulary),) * masks
    if len(targets) != masks:
        raise TargetListsMismatchError(actual=len(targets), expected=masks)
    return tuple(_resolve_list(part, longest, tokenizer, vocabulary) for part in targets)


def _resolve_list(targets: Sequence[str], longest: int, tokenizer: Tokenizer, vocabulary: Vocabulary) -> TargetSet:
    spellings: dict[TokenIds, str] = {}
    unusable: list[UnusableTarget] = []
    for target in dict.fromkeys(targets):  # a target sent twice is one target
        ids = tokenizer.encode(target).ids
        if not ids:
            unusable.append(UnusableTarget(target=target, reason=NO_TEXT))
        elif tokenizer.special.unk in ids or not all(map(vocabulary.is_offerable, ids)):
            unusable.append(UnusableTarget(target=target, reason=NOT_IN_VOCABULARY))
        elif len(ids) > longest:
            unusable.append(UnusableTarget(target=target, reason=TOO_LONG))
        elif ids in spellings:
            unusable.append(UnusableTarget(target=target, reason=DUPLICATE))
        else:
            spellings[ids] = target
    return TargetSet(spellings=spellings, unusable=tuple(unusable))
