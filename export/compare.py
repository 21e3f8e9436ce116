"""Two artifacts side by side on sentences of one's own.

python -m export.compare A B TEXT…; an artifact exported with --profile fp32 stands for the checkpoint itself.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from export.agreement import probabilities
from export.serving import ServedArtifact
from handler.core.errors import TiankongError
from handler.core.types import FloatArray

_SHOWN: Final = 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the best entries of both for every blank; 1 where an artifact or a text cannot be used."""
    parser = argparse.ArgumentParser(prog="python -m export.compare", description=__doc__)
    parser.add_argument("a", type=Path, metavar="A", help="folder of an artifact")
    parser.add_argument("b", type=Path, metavar="B", help="folder of another")
    parser.add_argument("texts", nargs="+", metavar="TEXT", help="sentence with [MASK]")
    options = parser.parse_args(arguments)
    try:
        served = (ServedArtifact(options.a), ServedArtifact(options.b))
        for text in options.texts:
            print("\n".join(side_by_side(text, *served)))
    except TiankongError as error:
        print(f"compare: {error}", file=sys.stderr)
        return 1
    return 0


def side_by_side(text: str, a: ServedArtifact, b: ServedArtifact) -> Iterator[str]:
    """Yield a table for each blank of a text, as lines.

    Raises:
        handler.core.errors.InvalidInputError: the text has no blank, or too many.
    """
    columns = [(served, served.logits([served.prepare(text)])) for served in (a, b)]
    yield text
    for blank in range(len(columns[0][1])):
        rows = [list(_best(served, logits[blank])) for served, logits in columns]
        yield f"  blank {blank + 1}: {a.artifact.name} | {b.artifact.name}"
        for left, right in zip(*rows, strict=True):
            yield f"    {left} | {right}{'' if left.split()[0] == right.split()[0] else '   <- differs'}"


def _best(served: ServedArtifact, logits: FloatArray) -> Iterator[str]:
    shares = probabilities(logits)
    for token_id in np.argsort(-shares, kind="stable")[:_SHOWN]:
        yield f"{served.tokenizer.vocabulary[token_id]} {shares[token_id]:.4f}"


if __name__ == "__main__":
    sys.exit(main())
