"""The manifest of an artifact: what it is, where it is from, what is in it and what was proved of it."""

from __future__ import annotations

import hashlib
import importlib.metadata
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from export.architecture import read_architecture
from export.config import ExportConfig
from export.load import STAGE as LOAD
from export.quantize import STAGE as QUANTIZE
from export.workspace import read_facts, write_facts
from handler.adapters.artifact import ERROR_MODEL, LEXICON, MANIFEST, MODEL, SCHEMA, TOKENIZER

WEIGHTS: Final = "model.bin"
OPTIONAL_FILES: Final = (LEXICON, ERROR_MODEL)
_TOOLS: Final = ("numpy", "onnx", "onnxruntime", "safetensors", "tokenizers", "torch", "transformers")


def write_manifest(folder: Path, workspace: Path, config: ExportConfig, proof: Mapping[str, Any] | None) -> None:
    """Describe the files of a folder.

    Args:
        folder: with the graph, its weights and tokenizer.json.
        workspace: in which the stages were run.
        config: of the export.
        proof: the figures of the verify stage; None for an unproved artifact.
    """
    loaded = read_facts(workspace / LOAD)
    quantized = read_facts(workspace / QUANTIZE)
    architecture = read_architecture(workspace / LOAD)
    files = [name for name in (MODEL, WEIGHTS, TOKENIZER, *OPTIONAL_FILES) if (folder / name).is_file()]
    chosen = loaded["character_map"]
    manifest = {
        "schema": SCHEMA,
        "name": config.model_name,
        "source": loaded["source"],
        "licence": loaded["licence"],
        "architecture": {
            "family": architecture.family,
            "layers": architecture.layers,
            "hidden": architecture.hidden,
            "heads": architecture.heads,
            "vocab_size": architecture.vocab_size,
            "max_positions": architecture.max_positions,
        },
        "special_ids": loaded["special_ids"],
        "quantization": {key: quantized[key] for key in ("profile", "scheme", "keep_float") if key in quantized},
        "character_map": chosen["mapping"] if chosen is not None else {},
        "files": {name: _described(folder / name) for name in files},
        "tools": {tool: importlib.metadata.version(tool) for tool in _TOOLS},
        "proof": proof,
    }
    write_facts(folder, manifest, MANIFEST)


def _described(path: Path) -> Mapping[str, Any]:
    with path.open("rb") as file:
        return {"sha256": hashlib.file_digest(file, "sha256").hexdigest(), "bytes": path.stat().st_size}
