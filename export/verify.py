"""Stage 5: the int8 artifact against its checkpoint, through the code that will serve it."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from export.agreement import Agreement, compare_logits
from export.architecture import read_architecture
from export.config import ExportConfig, Gates
from export.convert import MODEL_FILE
from export.convert import STAGE as CONVERT
from export.emulation import PROCESSOR, emulated_logits
from export.errors import AgreementError, StructureError
from export.evaluation.clozes import read_clozes
from export.evaluation.sentences import TRIVIAL
from export.graph import save_for_service
from export.load import STAGE as LOAD
from export.manifest import WEIGHTS, write_manifest
from export.network import INPUTS, OUTPUT
from export.positions import masked_texts
from export.reference import Reference
from export.serving import ServedArtifact
from export.session import open_session
from export.statistics import Share, share_of
from export.vocabulary import TOKENIZER_FILE
from export.workspace import read_facts, whole_folder, write_facts
from handler.adapters.artifact import MODEL, TOKENIZER
from handler.core.errors import TiankongError
from handler.core.types import FloatArray, PreparedText

STAGE: Final = "verify"
CANDIDATE: Final = "artifact"
# The texts of the slow, emulated check: fewer and shorter than those of the native one.
_MASKS_AT_ONCE: Final = 2
_SENTENCES_AT_ONCE: Final = 2
_LARGE_TEXTS: Final = 20


def verify(quantized: Path, config: ExportConfig) -> Path:
    """Put a candidate artifact together, load it as the service does, and measure it.

    Raises:
        StructureError: names, axes, shapes or values are wrong.
        AgreementError: any gate of accuracy does not hold; all that do not are in the message.
        WorkspaceError: the disk.
    """
    workspace = quantized.parent
    with whole_folder(workspace / STAGE) as folder:
        candidate = folder / CANDIDATE
        candidate.mkdir()
        save_for_service(quantized / MODEL_FILE, candidate / MODEL, WEIGHTS)
        shutil.copyfile(workspace / LOAD / TOKENIZER_FILE, candidate / TOKENIZER)
        write_manifest(candidate, workspace, config, None)
        served = _served(candidate)
        check_structure(candidate / MODEL, served)
        proof = _Proof(workspace, served, config).measure() if config.proved else None
        write_facts(folder, {"proof": proof})
    return workspace / STAGE


def check_structure(model: Path, served: ServedArtifact) -> None:
    """Compare names, types and axes of the graph with what the service feeds, and its answer with what is expected.

    Raises:
        StructureError: everything that differs.
    """
    session = open_session(model)
    inputs = {declared.name: (declared.type, list(declared.shape)) for declared in session.get_inputs()}
    wanted = {INPUTS[0]: ("tensor(int64)", [1, "sequence"]), INPUTS[3]: ("tensor(int64)", ["masks"])}
    failures = [
        f"input {name} is {inputs.get(name)} instead of {wanted.get(name)}"
        for name in sorted(inputs | wanted)
        if inputs.get(name) != wanted.get(name)
    ]
    vocabulary = served.artifact.vocabulary_size
    outputs = [(output.name, output.type, list(output.shape)) for output in session.get_outputs()]
    if outputs != [(OUTPUT, "tensor(float)", ["masks", vocabulary])]:
        failures.append(f"the outputs are {outputs}")
    logits = served.logits([served.prepare("[MASK]" * 2)])
    if logits.shape != (2, vocabulary) or not np.isfinite(logits).all():
        failures.append(f"two blanks give an array of shape {logits.shape}, or one that is not finite")
    if failures:
        raise StructureError(failures)


class _Proof:
    def __init__(self, workspace: Path, served: ServedArtifact, config: ExportConfig) -> None:
        architecture = read_architecture(workspace / LOAD)
        self.served = served
        self.reference = Reference(workspace / LOAD, architecture)
        self.config = config
        self.gates = config.gates
        self.parameters = int(read_facts(workspace / CONVERT)["parameters"])
        self.clozes = read_clozes()
        self.failures: list[str] = []

    def measure(self) -> dict[str, Any]:
        facts: dict[str, Any] = {"trivial_clozes": self._trivial()}
        texts = masked_texts(self.clozes, self.config.positions)
        prepared = [self.served.prepare(masked.text) for masked in texts]
        expected, actual = self._expected(prepared), self.served.logits(prepared)
        native = compare_logits(expected, actual, self.gates.clear_margin)
        self.failures += gate_failures(native, self.gates, "here")
        golds = [gold for masked in texts for gold in masked.golds]
        facts |= self._accuracies(golds, expected, actual)
        facts["native"] = native.facts()
        facts[PROCESSOR.lower()] = self._emulated()
        if self.failures:
            raise AgreementError(self.failures)
        return facts

    def _expected(self, prepared: Sequence[PreparedText]) -> FloatArray:
        return self.reference.masked_logits(
            [text.sequence.ids for text in prepared], [text.sequence.mask_positions for text in prepared]
        )

    def _trivial(self) -> dict[str, Any]:
        prepared = [self.served.prepare(text) for text, _ in TRIVIAL]
        facts: dict[str, Any] = {}
        for name, logits in (("fp32", self._expected(prepared)), ("int8", self.served.logits(prepared))):
            hits = sum(
                any(token_id in _best(row, 5) for token_id in map(self.served.id_of, right))
                for row, (_, right) in zip(logits, TRIVIAL, strict=True)
            )
            facts[name] = Share(hits=hits, total=len(TRIVIAL)).facts()
            if hits < self.gates.trivial_clozes:
                self.failures.append(
                    f"{name}: only {hits} of {len(TRIVIAL)} trivial clozes have the right character among the first "
                    f"five ({self.gates.trivial_clozes} are wanted): the head is not trained, or not for Chinese"
                )
        return facts

    def _accuracies(self, golds: Sequence[str], expected: FloatArray, actual: FloatArray) -> dict[str, Any]:
        """Count right answers on the labelled sentences and, given their logits, on the sentences masked anew.

        The gate is for both together: on some 300 sentences alone, two near-ties that fall the same way are more than
        half a point.
        """
        prepared = [self.served.prepare(cloze.text) for cloze in self.clozes]
        labelled = ([cloze.gold for cloze in self.clozes], self._expected(prepared), self.served.logits(prepared))
        facts: dict[str, Any] = {}
        before = after = total = 0
        for name, (right, fp32, int8) in {"labelled": labelled, "masked": (golds, expected, actual)}.items():
            shares = {k: (self._accuracy(right, fp32, k), self._accuracy(right, int8, k)) for k in (1, 5)}
            facts[name] = {f"top_{k}": {"fp32": a.facts(), "int8": b.facts()} for k, (a, b) in shares.items()}
            before, after = before + shares[1][0].hits, after + shares[1][1].hits
            total += len(right)
        if abs(before - after) > self.gates.accuracy_loss * total:
            self.failures.append(f"of {total} blanks, {after} are filled right in int8 and {before} in fp32")
        return facts

    def _accuracy(self, golds: Sequence[str], logits: FloatArray, k: int) -> Share:
        rights = [self.served.id_of(gold) in _best(row, k) for gold, row in zip(golds, logits, strict=True)]
        return share_of(rights)

    def _emulated(self) -> dict[str, Any]:
        large = self.parameters > self.config.large
        wanted = _LARGE_TEXTS * _MASKS_AT_ONCE if large else self.config.emulated_positions
        masked = masked_texts(self.clozes, wanted, masks=_MASKS_AT_ONCE, longest_run=_SENTENCES_AT_ONCE)
        texts = [each.text for each in masked]
        prepared = [self.served.prepare(text) for text in texts]
        expected, native = self._expected(prepared), self.served.logits(prepared)
        try:
            emulated = emulated_logits(self.served.artifact.folder, texts)
        except AgreementError as error:
            self.failures += error.failures
            return {}
        agreement = compare_logits(expected, emulated, self.gates.clear_margin)
        self.failures += gate_failures(agreement, self.gates, f"on {PROCESSOR}")
        between = compare_logits(native, emulated, self.gates.clear_margin)
        return agreement.facts() | {"with_native": between.facts()}


def gate_failures(agreement: Agreement, gates: Gates, where: str) -> Sequence[str]:
    """Return what of an agreement is below its gate, one sentence each."""
    failures = []
    if agreement.first.value < gates.agreement:
        failures.append(f"{where}, first answers agree with fp32 on {agreement.first}, below {gates.agreement:.1%}")
    if agreement.clear.value < gates.clear_agreement:
        failures.append(
            f"{where}, clear first answers agree with fp32 on {agreement.clear}, below {gates.clear_agreement:.1%}"
        )
    return failures


def _served(candidate: Path) -> ServedArtifact:
    try:
        return ServedArtifact(candidate)
    except TiankongError as error:
        raise StructureError([f"the service does not load the artifact: {error}"]) from error


def _best(row: FloatArray, k: int) -> frozenset[int]:
    return frozenset(int(index) for index in np.argpartition(row, -k)[-k:])
