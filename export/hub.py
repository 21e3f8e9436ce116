"""Checkpoints from the Hugging Face hub or, with HF_ENDPOINT set, from a mirror of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from export.errors import SourceMissingError

_REPOSITORY: Final = re.compile(r"[\w.-]+(/[\w.-]+)?")
_DESCRIPTIONS: Final = ("config.json", "tokenizer_config.json", "tokenizer.json", "vocab.txt")
_SAFE_WEIGHTS: Final = "*.safetensors*"
_TORCH_WEIGHTS: Final = "pytorch_model*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """Files of a checkpoint, and where they are from."""

    folder: Path
    id: str
    revision: str | None  # the commit, for a repository; None for a folder
    licence: str


def find_checkpoint(source: str, revision: str | None) -> Checkpoint:
    """Return a folder as it is, or fetch a repository.

    Args:
        source: a path, or an id such as google-bert/bert-base-chinese.
        revision: branch, tag or commit of a repository.

    Raises:
        SourceMissingError: neither exists, or the network does not answer.
    """
    folder = Path(source)
    if source and folder.is_dir():
        return Checkpoint(folder=folder, id=folder.resolve().name, revision=None, licence="")
    if not _REPOSITORY.fullmatch(source):
        raise SourceMissingError(f"{source} is no folder, and no id of a repository either.")
    return _fetch(source, revision)


def _fetch(repository: str, revision: str | None) -> Checkpoint:
    from huggingface_hub import HfApi, snapshot_download

    try:
        facts = HfApi().model_info(repository, revision=revision)
        names = [file.rfilename for file in facts.siblings or ()]
        # One kind of weights only: repositories often hold the same numbers three times. Safetensors cannot run code.
        weights = _SAFE_WEIGHTS if any(Path(name).match(_SAFE_WEIGHTS) for name in names) else _TORCH_WEIGHTS
        folder = snapshot_download(repository, revision=facts.sha, allow_patterns=[*_DESCRIPTIONS, weights])
    except Exception as error:  # the library lets its transport's own errors through, whichever that is
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise SourceMissingError(
            f"{repository} is no folder here, and could not be fetched from the hub: {reason} "
            "(set HF_ENDPOINT to use a mirror)."
        ) from error
    card = facts.card_data
    licence = card.get("license") if card is not None else None
    return Checkpoint(folder=Path(folder), id=repository, revision=facts.sha, licence=str(licence or ""))
