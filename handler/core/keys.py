"""Cache keys: everything that the model's part of an answer depends on, and nothing else.

What is read from the caller's own string only (offsets, spelling, unknown count, truncation) is never cached, so texts
that the model cannot tell apart share an entry.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

from handler.core.types import MaskedSequence, PreparedText, TokenIds

PAYLOAD_SCHEMA = 2  # raise it whenever a payload or a ranking rule changes its meaning


def fill_mask_key(
    digest: str,
    text: PreparedText,
    top_k: int,
    targets: Sequence[Sequence[TokenIds]] | None,
    widened: Sequence[MaskedSequence],
    joint: Mapping[str, object] | None,
) -> str:
    """Return the key of one text's rankings.

    Args:
        digest: the artifact's.
        text: the prepared text; its ids, its masks' positions and their neighbours enter the key.
        top_k: how many candidates are kept for each mask.
        targets: for each mask the fillings that are ranked, or None where the whole vocabulary is.
        widened: what the model reads beside the text itself, for targets of several tokens.
        joint: the options of joint decoding and what its lexicon reads of the text, or None without.

    Returns:
        64 hexadecimal digits (SHA-256). Equal keys mean equal uncached answers.
    """
    return key(
        digest,
        "fill-mask",
        {
            "ids": text.sequence.ids,
            "masks": text.sequence.mask_positions,
            "neighbours": [neighbour.value for neighbour in text.neighbours],
            "top_k": top_k,
            "targets": targets,
            "widened": [(sequence.ids, sequence.mask_positions) for sequence in widened],
            "joint": joint,
        },
    )


def key(digest: str, operation: str, facts: Mapping[str, object]) -> str:
    """Return the key of an operation's value that depends on these facts: 64 hexadecimal digits (SHA-256)."""
    whole = {"artifact": digest, "schema": PAYLOAD_SCHEMA, "operation": operation, **facts}
    return hashlib.sha256(json.dumps(whole, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
