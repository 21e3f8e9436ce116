"""Stage 3: the same graph with fused nodes, the same as torch still."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from export.architecture import Architecture, read_architecture
from export.config import ExportConfig, Profile, wanted_nodes
from export.convert import MODEL_FILE
from export.errors import StructureError
from export.graph import count_nodes, save_model
from export.load import STAGE as LOAD
from export.load import WEIGHTS_FILE
from export.network import Layout, write_network
from export.parity import check_parity, saved_cases
from export.weights import read_weights
from export.workspace import whole_folder, write_facts

STAGE: Final = "optimize"


def optimize(converted: Path, config: ExportConfig) -> Path:
    """Write the graph as it is served: single texts, attention as one node.

    What onnxruntime has one node for is not always faster as one: residual sum and normalisation stay two
    (SkipLayerNormalization took six times as long), bias and activation too (docs/performance.md).

    Raises:
        StructureError: the fusions are not there.
        ParityError: the graph differs from torch.
        WorkspaceError: the disk.
    """
    loaded = converted.parent / LOAD
    architecture = read_architecture(loaded)
    weights = read_weights(loaded / WEIGHTS_FILE, architecture)
    with whole_folder(converted.parent / STAGE) as folder:
        model = folder / MODEL_FILE
        save_model(write_network(architecture, weights, Layout(single=True)), model)
        counts = check_nodes(model, architecture, "fp32")
        largest = check_parity(model, saved_cases(converted), config.gates.parity_tolerance)
        write_facts(folder, {"parity": largest, "nodes": counts})
    return converted.parent / STAGE


def check_nodes(
    model: Path, architecture: Architecture, profile: Profile, kept_float: Sequence[str] = ()
) -> Mapping[str, int]:
    """Count the nodes of a graph and compare with what it must have.

    Args:
        model: the graph.
        architecture: of its network.
        profile: that it was made for.
        kept_float: names of the products that stay fp32 on purpose, one for each node.

    Returns:
        The counts by operator.

    Raises:
        StructureError: every operator whose count is another.
    """
    counts = count_nodes(model)
    failures = [
        f"{operator}: {counts.get(operator, 0)} nodes instead of {number}"
        for operator, number in wanted_nodes(architecture, profile, kept_float).items()
        if counts.get(operator, 0) != number
    ]
    if failures:
        raise StructureError(failures)
    return counts
