"""Stage 2: the checkpoint as a plain fp32 graph, the same as torch."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from export.architecture import read_architecture
from export.config import ExportConfig
from export.graph import save_model
from export.load import WEIGHTS_FILE
from export.network import Layout, write_network
from export.parity import check_parity, parity_cases, save_cases
from export.reference import Reference
from export.weights import read_weights
from export.workspace import whole_folder, write_facts

STAGE: Final = "convert"
MODEL_FILE: Final = "model.onnx"


def convert(loaded: Path, config: ExportConfig) -> Path:
    """Write the graph beside ``loaded``, in standard operators, the head at the masked positions.

    Raises:
        ParityError: it differs from torch.
        WorkspaceError: the disk.
    """
    architecture = read_architecture(loaded)
    weights = read_weights(loaded / WEIGHTS_FILE, architecture)
    with whole_folder(loaded.parent / STAGE) as folder:
        save_model(write_network(architecture, weights, Layout()), folder / MODEL_FILE)
        cases = parity_cases(Reference(loaded, architecture), architecture)
        save_cases(cases, folder)
        largest = check_parity(folder / MODEL_FILE, cases, config.gates.parity_tolerance)
        write_facts(folder, {"parity": largest, "parameters": weights.parameters})
    return loaded.parent / STAGE


def write_reference_design(loaded: Path, path: Path) -> None:
    """Write the graph that the usual design serves, for comparison: plain fp32, logits at every position.

    Inputs input_ids, attention_mask, token_type_ids (batch, sequence); output logits (batch * sequence, vocab).
    """
    architecture = read_architecture(loaded)
    weights = read_weights(loaded / WEIGHTS_FILE, architecture)
    save_model(write_network(architecture, weights, Layout(masked_head=False)), path)
