"""Stage 1: a checkpoint, checked and brought into one form: config.json, fp32 safetensors, tokenizer.json."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from export.architecture import read_architecture
from export.character_map import choose_character_map
from export.config import ExportConfig
from export.hub import find_checkpoint
from export.reference import Reference
from export.vocabulary import TOKENIZER_FILE, read_vocabulary
from export.workspace import whole_folder, write_facts

STAGE: Final = "load"
WEIGHTS_FILE: Final = "model.safetensors"


def load(workspace: Path, config: ExportConfig) -> Path:
    """Write the checkpoint into ``workspace/load``.

    Raises:
        SourceError: the checkpoint cannot be used; each subclass says why.
        WorkspaceError: the disk.
    """
    checkpoint = find_checkpoint(config.source, config.revision)
    architecture = read_architecture(checkpoint.folder)
    vocabulary = read_vocabulary(checkpoint.folder, architecture)
    reference = Reference(checkpoint.folder, architecture)
    facts = {
        "source": {"id": checkpoint.id, "revision": checkpoint.revision},
        "licence": config.licence or checkpoint.licence or "unknown",
        "special_ids": dict(vocabulary.special_ids),
        "lowercase": vocabulary.lowercase,
    }
    chosen = choose_character_map(vocabulary, reference) if config.proved else None
    facts["character_map"] = chosen.facts() if chosen is not None else None
    with whole_folder(workspace / STAGE) as folder:
        reference.save(folder)
        characters = chosen.mapping if chosen is not None else {}
        (folder / TOKENIZER_FILE).write_text(vocabulary.tokenizer_json(characters), encoding="utf-8")
        write_facts(folder, facts)
    return workspace / STAGE
