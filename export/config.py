"""What an export is asked for.

Saved beside the stages' folders, so that a stage can be run alone and a folder says how it was made.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from export.architecture import Architecture
from export.errors import OptionsError, WorkspaceError

DEFAULT_SOURCE: Final = "google-bert/bert-base-chinese"
CONFIG_FILE: Final = "export.json"

TRANSFORM: Final = "head.transform"

Profile = Literal["portable", "fast", "fp32"]
PROFILES: Final[tuple[Profile, ...]] = ("portable", "fast", "fp32")

# Products whose activations share one scale in a run, by the ends of their names: the least sensitive to it.
BY_RUN: Final[Mapping[Profile, tuple[str, ...]]] = {
    "portable": (".attention_output",),
    "fast": (".attention_output", ".query_key_value", ".up"),
    "fp32": (),
}
_IN_COLUMNS: Final = ".query_key_value"  # of them the one that is written as three products then


@dataclass(frozen=True, slots=True, kw_only=True)
class Gates:
    """What must hold before anything is packaged. Shares are 0..1."""

    parity_tolerance: float = 1e-3  # largest difference of a logit between graph and torch
    agreement: float = 0.97  # of first answers with those of fp32, over all positions
    clear_agreement: float = 0.995  # the same where fp32's best two differ by at least clear_margin
    clear_margin: float = 0.05
    accuracy_loss: float = 0.005  # change in the share of right answers, either way
    trivial_clozes: int = 5  # of 20 with the right character among the first five
    bytes_per_parameter: float = 1.3  # of the graph in int8, where the network has a million parameters or more
    float_constant_bytes: int = 10_000_000  # the largest constant that may stay fp32 in an int8 graph


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportConfig:
    """One export.

    Args:
        source: a folder with a transformers checkpoint, or the id of a repository on the hub.
        revision: of the repository; the newest when None. What was loaded is recorded either way.
        name: of the model in every answer; the last part of the source when empty.
        licence: of the weights; what the hub says when empty.
        profile: portable: the same answers on every kind of x86 processor; fast: the same with fewer nodes and less
            precision; fp32: not quantized.
        proved: whether clozes, agreement and the emulated processor must pass.
        keep_float: products that are not quantized, by name.
        lexicon: path of a lexicon.txt to pack with the model, if any.
        error_model: path of an error_model.json, if any.
        positions: how many masked positions natively, at least.
        emulated_positions: the same on the emulated processor; 20 texts at most where the network has more than
            ``large`` parameters.
        gates: what must hold.
    """

    source: str = DEFAULT_SOURCE
    revision: str | None = None
    name: str = ""
    licence: str = ""
    profile: Profile = "portable"
    proved: bool = True
    keep_float: tuple[str, ...] = ()
    lexicon: str = ""
    error_model: str = ""
    positions: int = 3000
    emulated_positions: int = 300
    large: int = 40_000_000
    gates: Gates = field(default_factory=Gates)

    def __post_init__(self) -> None:
        """Refuse values that no stage could work with."""
        if self.profile not in PROFILES:
            raise OptionsError(f"profile {self.profile!r} does not exist; there are {', '.join(PROFILES)}.")
        if self.proved and self.profile == "fp32":
            raise OptionsError("an fp32 artifact is the reference itself: export it with --unproved.")

    @property
    def model_name(self) -> str:
        """The name that answers carry."""
        return self.name or Path(self.source).resolve().name

    def save(self, folder: Path) -> None:
        """Write the configuration into a workspace."""
        (folder / CONFIG_FILE).write_text(json.dumps(dataclasses.asdict(self), indent=2), encoding="utf-8")

    @classmethod
    def saved(cls, folder: Path) -> ExportConfig:
        """Read the configuration of a workspace.

        Raises:
            WorkspaceError: there is none.
        """
        try:
            values = json.loads((folder / CONFIG_FILE).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise WorkspaceError(f"{folder} is no workspace of an export: no readable {CONFIG_FILE}.") from error
        values["keep_float"] = tuple(values["keep_float"])
        return cls(**values | {"gates": Gates(**values["gates"])})


def table_block(architecture: Architecture) -> int:
    """How many inputs share a scale in the word table: fewer are more precise, and cost bytes where rows are many."""
    return 16 if architecture.embedding <= 256 else 128


def wanted_nodes(architecture: Architecture, profile: Profile, kept_float: Sequence[str] = ()) -> Mapping[str, int]:
    """How many nodes of each telling kind a graph must have: fusions and products.

    Args:
        architecture: of the network.
        profile: that the graph was made for.
        kept_float: names of the products of an int8 graph that stay fp32, one for each node.

    Returns:
        Counts by operator; an operator that is not listed may occur as often as it likes.
    """
    layers = architecture.layers
    products = 4 * layers + (architecture.family == "albert")  # ALBERT widens its embeddings first
    activation = "Relu" if architecture.activation == "relu" else "Gelu"
    fusions = {
        "Attention": layers,
        "Softmax": 0,
        activation: layers + 1,
        "LayerNormalization": 2 * layers + 2,
    }
    if profile == "fp32":
        return fusions | {"MatMul": products + 1, "Gemm": 1}
    transform = TRANSFORM in kept_float
    last = architecture.layer_name(layers - 1)
    left = {end: layers - sum(name.endswith(end) for name in kept_float) for end in BY_RUN[profile]}
    in_columns = left.pop(_IN_COLUMNS, 0)
    # The others read only the rows that were asked for in the last layer, where they are by row (RunProducts).
    by_run = sum(number - (last + end not in kept_float) for end, number in left.items())
    return fusions | {
        "MatMul": len(kept_float),
        "Gemm": 0,
        "MatMulIntegerToFloat": products - by_run + 2 * in_columns - (len(kept_float) - transform),
        "DynamicQuantizeLinear": in_columns,
        "DynamicQuantizeMatMul": by_run,
        "MatMulNBits": 2 - transform,
        "GatherBlockQuantized": 1,
    }
