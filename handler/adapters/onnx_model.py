"""onnxruntime behind the core's port."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as ort_errors

from handler.core.errors import ArtifactCorruptError, InferenceError
from handler.core.types import FloatArray, MaskedSequence

# onnxruntime's exceptions have no base of their own below Exception.
_ORT_ERRORS: Final[tuple[type[Exception], ...]] = tuple(
    kind for kind in vars(ort_errors).values() if isinstance(kind, type) and issubclass(kind, Exception)
)
_REQUIRED: Final = frozenset({"input_ids", "mask_positions"})
_KNOWN: Final = _REQUIRED | {"attention_mask", "token_type_ids"}


class OnnxMaskedLanguageModel:
    """One session, created once.

    Args:
        path: the model.onnx.
        threads: of one run; 1 means that no pool is made and nothing ever spins.
        vocabulary_size: how many scores the graph must give for each masked position.

    Raises:
        ArtifactCorruptError: the file is no graph that this runtime loads, or not one of a masked language model.
    """

    def __init__(self, path: Path, *, threads: int, vocabulary_size: int) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
        # The graph is written as it is to run. onnxruntime's own pass would fold the word table's second view into a
        # copy, and bias and activation into a node that is slower than the two (docs/performance.md).
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        # No plan of the memory for each shape ever seen: lengths and blanks vary, and hundreds of plans of hundreds of
        # values each are megabytes, for no measurable time.
        options.enable_mem_pattern = False
        options.log_severity_level = 3  # errors; they are raised as exceptions as well
        # Threads spin while a run lasts, which saves wake-ups, and stop when it ends: Lambda bills and throttles by
        # processor time, and freezes the process between two requests.
        options.add_session_config_entry("session.force_spinning_stop", "1")
        # Smaller shares of a loop, so that the thread that is done first takes one more: a few percent for short texts.
        options.add_session_config_entry("session.dynamic_block_base", "4")
        shares = processors_apart(threads)
        if shares is not None:
            # Numbered from 1; one for each thread of the pool, which the caller's own is not one of.
            others = ";".join(str(processor + 1) for processor in shares[1])
            options.add_session_config_entry("session.intra_op_thread_affinities", others)
        self._callers = shares[0] if shares else None
        self._settled = threading.local()
        try:
            self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except _ORT_ERRORS as error:
            raise ArtifactCorruptError(problem=f"{path.name} cannot be loaded.") from error
        self._inputs = frozenset(declared.name for declared in self._session.get_inputs())
        output = self._session.get_outputs()[0]
        self._output = output.name
        if not _REQUIRED <= self._inputs <= _KNOWN or output.shape[-1:] != [vocabulary_size]:
            raise ArtifactCorruptError(problem=f"{path.name} is no masked language model of this vocabulary.")

    def logits(self, sequences: Sequence[MaskedSequence]) -> list[FloatArray]:
        """See handler.core.ports.MaskedLanguageModel.

        Every sequence is a run of its own, without padding: dynamic int8 scales activations by the whole tensor, so a
        neighbour or a padded position would change the numbers.
        """
        return [self._run(sequence) for sequence in sequences]

    def _run(self, sequence: MaskedSequence) -> FloatArray:
        ids = np.asarray([sequence.ids], dtype=np.int64)  # (1, sequence)
        feeds = {
            "input_ids": ids,
            "mask_positions": np.asarray(sequence.mask_positions, dtype=np.int64),  # (masks,)
        }
        if "attention_mask" in self._inputs:
            feeds["attention_mask"] = np.ones_like(ids)
        if "token_type_ids" in self._inputs:
            feeds["token_type_ids"] = np.zeros_like(ids)
        if self._callers is not None and not hasattr(self._settled, "here"):
            with contextlib.suppress(OSError):  # where that is forbidden, it stays where it may be
                os.sched_setaffinity(0, self._callers)
            self._settled.here = True
        try:
            [logits] = self._session.run([self._output], feeds)
        except _ORT_ERRORS as error:
            raise InferenceError from error
        return np.asarray(logits)  # (masks, vocab) float32


def processors_apart(threads: int) -> tuple[frozenset[int], tuple[int, ...]] | None:
    """Share out the processors that this process may use: where callers run, and one for each thread beside them.

    A thread that is woken on the processor of the one that woke it waits there for the scheduler's next tick, 4 ms on
    many kernels: longer than a whole run of a small model (docs/performance.md). Apart, both run at once.

    Args:
        threads: of one run, the caller's own included.

    Returns:
        The callers' processors and those of the other threads; None with one thread, with fewer processors than
        threads, or where the system does not tell.
    """
    if threads < 2 or not hasattr(os, "sched_getaffinity"):
        return None
    usable = sorted(os.sched_getaffinity(0))
    if len(usable) < threads:
        return None
    others = tuple(usable[1:threads])
    return frozenset(usable) - frozenset(others), others
