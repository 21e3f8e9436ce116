"""Which products cost the most accuracy: each is quantized alone, everything else stays fp32."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from tokenizers import Tokenizer

from export.agreement import compare_logits
from export.architecture import read_architecture
from export.calibration import measure_spreads
from export.config import ExportConfig
from export.convert import MODEL_FILE
from export.evaluation.clozes import read_clozes
from export.evaluation.sentences import CALIBRATION
from export.graph import save_model
from export.load import STAGE as LOAD
from export.load import WEIGHTS_FILE
from export.network import Layout, write_network
from export.positions import masked_texts
from export.products import FloatProducts
from export.quantize import int8_layout, product_nodes
from export.session import open_session
from export.vocabulary import TOKENIZER_FILE
from export.weights import read_weights
from export.workspace import read_facts, whole_folder, write_facts
from handler.core.types import FloatArray

STAGE: Final = "scan"
WORD_TABLE: Final = "word table and decoder"
_POSITIONS: Final = 300


def scan(optimized: Path, config: ExportConfig) -> Path:
    """Measure each product, and write them down with the most sensitive first.

    The names are those that ``keep_float`` takes.

    Raises:
        WorkspaceError: the disk.
    """
    loaded = optimized.parent / LOAD
    architecture = read_architecture(loaded)
    weights = read_weights(loaded / WEIGHTS_FILE, architecture)
    tokenizer = Tokenizer.from_file(str(loaded / TOKENIZER_FILE))
    spreads = measure_spreads(optimized / MODEL_FILE, tokenizer, CALIBRATION, architecture)
    layout = int8_layout(architecture, weights, config, spreads)
    names = list(dict.fromkeys(product_nodes(weights)))
    encoded = [tokenizer.encode(masked.text).ids for masked in masked_texts(read_clozes(), _POSITIONS)]
    sequences = [ids for ids in encoded if len(ids) <= architecture.max_positions]
    mask = int(read_facts(loaded)["special_ids"]["mask"])
    rows: list[dict[str, Any]] = []
    with whole_folder(optimized.parent / STAGE) as folder:
        expected = _logits(optimized / MODEL_FILE, sequences, mask)
        for name in [*names, WORD_TABLE]:
            alone = Layout(
                single=True,
                products=layout.products,
                exceptions=dict(layout.exceptions) | {other: FloatProducts() for other in names if other != name},
                table_block=layout.table_block if name == WORD_TABLE else None,
            )
            model = folder / MODEL_FILE
            save_model(write_network(architecture, weights, alone), model)
            actual = _logits(model, sequences, mask)
            model.unlink()
            agreement = compare_logits(expected, actual, config.gates.clear_margin)
            error = float(np.sqrt(np.mean((actual - expected) ** 2)))
            rows.append({"product": name, "logit_error": round(error, 5), "first": agreement.first.facts()})
        rows.sort(key=lambda row: -row["logit_error"])
        write_facts(folder, {"products": rows})
    return optimized.parent / STAGE


def _logits(model: Path, sequences: Sequence[Sequence[int]], mask: int) -> FloatArray:
    session = open_session(model)
    rows: list[FloatArray] = []
    for sequence in sequences:
        ids = np.array([sequence], np.int64)
        rows += session.run(None, {"input_ids": ids, "mask_positions": np.flatnonzero(ids[0] == mask)})
    return np.concatenate(rows)
