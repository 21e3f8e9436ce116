"""Stage 4: the fused graph in int8."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from tokenizers import Tokenizer

from export.architecture import Architecture, read_architecture
from export.calibration import measure_spreads
from export.config import BY_RUN, TRANSFORM, ExportConfig, table_block
from export.convert import MODEL_FILE
from export.errors import OptionsError, StructureError
from export.evaluation.sentences import CALIBRATION
from export.graph import constant_bytes, save_model
from export.load import STAGE as LOAD
from export.load import WEIGHTS_FILE
from export.network import Layout, write_network
from export.optimize import check_nodes
from export.products import BlockProducts, FloatProducts, Products, RowProducts, RunProducts
from export.vocabulary import TOKENIZER_FILE
from export.weights import Weights, read_weights
from export.workspace import whole_folder, write_facts
from handler.core.types import FloatArray

STAGE: Final = "quantize"
_TRANSFORM_BLOCK: Final = 16  # runs at the masked positions only: precision costs nothing there
_SMALL: Final = 1_000_000  # parameters below which names and shapes weigh as much as the numbers


def quantize(optimized: Path, config: ExportConfig) -> Path:
    """Write the int8 graph, or for the fp32 profile keep the fused one.

    Raises:
        OptionsError: a product to be kept in fp32 does not exist.
        StructureError: a product stayed fp32, or the graph is larger than it should be.
        WorkspaceError: the disk.
    """
    loaded = optimized.parent / LOAD
    architecture = read_architecture(loaded)
    with whole_folder(optimized.parent / STAGE) as folder:
        model = folder / MODEL_FILE
        if config.profile == "fp32":
            shutil.copyfile(optimized / MODEL_FILE, model)
            write_facts(folder, {"profile": "fp32", "scheme": "none"})
            return optimized.parent / STAGE
        weights = read_weights(loaded / WEIGHTS_FILE, architecture)
        nodes = product_nodes(weights)
        unknown = sorted(set(config.keep_float) - set(nodes))
        if unknown:
            raise OptionsError(f"no product is called {', '.join(unknown)}; there are {', '.join(sorted(set(nodes)))}.")
        tokenizer = Tokenizer.from_file(str(loaded / TOKENIZER_FILE))
        spreads = measure_spreads(optimized / MODEL_FILE, tokenizer, CALIBRATION, architecture)
        layout = int8_layout(architecture, weights, config, spreads)
        save_model(write_network(architecture, weights, layout), model)
        kept = [name for name in nodes if name in config.keep_float]
        facts = {
            "profile": config.profile,
            "scheme": describe(architecture, config),
            "keep_float": sorted(config.keep_float),
            "nodes": check_nodes(model, architecture, config.profile, kept),
            "bytes": check_size(model, weights, config),
        }
        write_facts(folder, facts)
    return optimized.parent / STAGE


def product_nodes(weights: Weights) -> Sequence[str]:
    """Names of the products that can be kept in fp32, one for each node; the decoder goes with the word table."""
    first = [weights.projection] if weights.projection is not None else []
    layers = [
        product
        for layer in weights.layers
        for product in (layer.query_key_value, layer.attention_output, layer.up, layer.down)
    ]
    return [product.name for product in (*first, *layers, weights.transform)]


def int8_layout(
    architecture: Architecture, weights: Weights, config: ExportConfig, spreads: Mapping[str, FloatArray]
) -> Layout:
    """Decide how each product is written; the reasons and figures are in export/README.md."""
    exceptions: dict[str, Products] = {TRANSFORM: BlockProducts(block=_TRANSFORM_BLOCK)}
    by_run = BY_RUN[config.profile]
    exceptions |= {name: RunProducts(spreads=spreads) for name in product_nodes(weights) if name.endswith(by_run)}
    exceptions |= {name: FloatProducts() for name in config.keep_float}
    return Layout(
        single=True,
        products=RowProducts(spreads=spreads),
        exceptions=exceptions,
        table_block=table_block(architecture),
    )


def describe(architecture: Architecture, config: ExportConfig) -> str:
    """Say in one line how the numbers are kept."""
    return (
        "int8; matrices by output, two neighbours within 7 bits together; activations by row, smoothed, "
        f"those of {' and '.join(name.removeprefix('.') for name in BY_RUN[config.profile])} by run; "
        f"word table, shared with the decoder, and transform by blocks of {table_block(architecture)} "
        f"and {_TRANSFORM_BLOCK}; attention core fp32"
    )


def check_size(model: Path, weights: Weights, config: ExportConfig) -> int:
    """See that nothing large stayed fp32 and nothing is there twice.

    Returns:
        The size of the graph in bytes.

    Raises:
        StructureError: it is too large, or one of its constants is.
    """
    failures = [
        f"{name} is a constant of {size} bytes in fp32"
        for name, (kind, size) in constant_bytes(model).items()
        if kind == "FLOAT" and size > config.gates.float_constant_bytes
    ]
    size = model.stat().st_size
    limit = config.gates.bytes_per_parameter * weights.parameters
    if weights.parameters >= _SMALL and size > limit:
        failures.append(f"the graph has {size} bytes for {weights.parameters} parameters, more than {limit:.0f}")
    if failures:
        raise StructureError(failures)
    return size
