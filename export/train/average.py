"""The weighted mean of two checkpoints, of which one was trained on from the other.

    python -m export.train.average FIRST SECOND --share S --out DIR

A run that went on from FIRST to SECOND moved back and forth as well as ahead; a point between the two is often better
than either, and costs no training. The share of SECOND is to be chosen on the development documents.
"""

import argparse
from pathlib import Path

import torch

from export.train.checkpoint import load_bert, save_bert
from export.train.model import MaskedModel
from export.train.train import Development


def averaged(first: MaskedModel, second: MaskedModel, share: float) -> MaskedModel:
    """A network whose weights lie between those of two of the same shape; share is the second's.

    Raises:
        ValueError: the shapes differ.
    """
    if first.shape != second.shape:
        raise ValueError(f"{first.shape} and {second.shape} differ")
    between = MaskedModel(first.shape)
    theirs = second.state_dict()
    between.load_state_dict({name: torch.lerp(mine, theirs[name], share) for name, mine in first.state_dict().items()})
    return between


def main() -> None:
    """Average, report on the development documents if there is a corpus, and save."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path)
    parser.add_argument("--share", type=float, required=True, help="weight of SECOND, 0 to 1")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, help="report on its development documents")
    arguments = parser.parse_args()
    (first, tokenizer), (second, other) = load_bert(arguments.first), load_bert(arguments.second)
    if tokenizer.entries != other.entries:
        raise SystemExit("the vocabularies differ")
    between = averaged(first, second, arguments.share)
    save_bert(between.state_dict(), between.shape, tokenizer, arguments.out)
    if arguments.corpus:
        print(Development(arguments.corpus, tokenizer).report(between))


if __name__ == "__main__":
    main()
