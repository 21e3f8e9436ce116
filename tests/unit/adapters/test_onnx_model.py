"""The session behind the port: what it takes, what it refuses and that runs do not mix."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from handler.adapters.onnx_model import OnnxMaskedLanguageModel, processors_apart
from handler.core.errors import ArtifactCorruptError, InferenceError
from handler.core.types import MaskedSequence
from tests.support import embedded
from tests.support.graphs import graph

SPECIAL = embedded.artifact().special


def sequence(length: int, masks: int = 1) -> MaskedSequence:
    """Return a sequence of so many tokens, its blanks first."""
    ids = (SPECIAL.cls, *[SPECIAL.mask] * masks, *[SPECIAL.unk] * (length - masks - 2), SPECIAL.sep)
    return MaskedSequence(ids=ids, mask_positions=tuple(range(1, 1 + masks)))


def load(content: bytes, folder: Path, vocabulary_size: int = 7) -> OnnxMaskedLanguageModel:
    """Load a graph from a file."""
    path = folder / "model.onnx"
    path.write_bytes(content)
    return OnnxMaskedLanguageModel(path, threads=1, vocabulary_size=vocabulary_size)


@pytest.mark.parametrize(("length", "masks"), [(3, 1), (18, 16), (128, 1), (128, 126)])
def test_logits_are_float32_of_masks_by_vocabulary(length: int, masks: int) -> None:
    """Every length that the model sees, with one blank or all of it blanks."""
    [logits] = embedded.model().logits([sequence(length, masks)])

    assert (masks, embedded.artifact().vocabulary_size) == logits.shape
    assert np.float32 == logits.dtype
    assert np.isfinite(logits).all()


def test_logits_of_a_sequence_do_not_depend_on_the_others() -> None:
    """Several sequences in one call give what each gives alone, bit by bit."""
    sequences = [sequence(length) for length in (3, 128, 7, 64)]
    together = embedded.model().logits(sequences)

    for each, logits in zip(sequences, together, strict=True):
        np.testing.assert_array_equal(embedded.model().logits([each])[0], logits)


def test_logits_do_not_depend_on_the_number_of_threads() -> None:
    """A function with more memory, and so more processors, gives the same numbers."""
    two = OnnxMaskedLanguageModel(
        embedded.artifact().path("model.onnx"), threads=2, vocabulary_size=embedded.artifact().vocabulary_size
    )
    with ThreadPoolExecutor(1) as pool:  # the caller of two threads leaves a processor to the other one
        [logits] = pool.submit(two.logits, [sequence(40)]).result()

    np.testing.assert_array_equal(embedded.model().logits([sequence(40)])[0], logits)


@pytest.mark.parametrize(
    "broken",
    [
        MaskedSequence(ids=(SPECIAL.cls, SPECIAL.mask, SPECIAL.sep), mask_positions=(5000,)),
        sequence(embedded.artifact().max_positions + 1),
    ],
    ids=["no such position", "too long"],
)
def test_logits_raise_an_inference_error_when_the_runtime_refuses(broken: MaskedSequence) -> None:
    """What the runtime raises is translated, with its cause kept."""
    with pytest.raises(InferenceError) as caught:
        embedded.model().logits([broken])

    assert caught.value.__cause__ is not None


@pytest.mark.parametrize("content", [b"", b"\x00" * 100, b"no graph at all", b"\xff" * 4096])
def test_constructor_refuses_a_file_that_is_no_graph(content: bytes, tmp_path: Path) -> None:
    """Garbage is a corrupt artifact, not a crash."""
    with pytest.raises(ArtifactCorruptError):
        load(content, tmp_path)


def test_constructor_refuses_half_a_model(tmp_path: Path) -> None:
    """So is a download that broke off."""
    whole = embedded.artifact().path("model.onnx").read_bytes()
    with pytest.raises(ArtifactCorruptError):
        load(whole[: len(whole) // 2], tmp_path, embedded.artifact().vocabulary_size)


def test_constructor_refuses_a_file_that_is_absent(tmp_path: Path) -> None:
    """A file that went away after the manifest was read is reported the same way."""
    with pytest.raises(ArtifactCorruptError):
        OnnxMaskedLanguageModel(tmp_path / "model.onnx", threads=1, vocabulary_size=7)


@pytest.mark.parametrize("difference", [-1, 1])
def test_constructor_refuses_a_head_of_another_vocabulary(difference: int) -> None:
    """A model whose scores are for another number of tokens is not this artifact's."""
    size = embedded.artifact().vocabulary_size + difference
    with pytest.raises(ArtifactCorruptError):
        OnnxMaskedLanguageModel(embedded.artifact().path("model.onnx"), threads=1, vocabulary_size=size)


def test_constructor_takes_a_graph_with_the_inputs_that_it_needs(tmp_path: Path) -> None:
    """The hand-written graphs below are refused for what was changed in them: this one is taken."""
    for more in ((), ("attention_mask",), ("attention_mask", "token_type_ids")):
        inputs = ("input_ids", *more, "mask_positions")
        [logits] = load(graph(inputs=inputs), tmp_path).logits([sequence(5, 2)])

        np.testing.assert_array_equal(np.zeros((2, 7), dtype=np.float32), logits)


def test_logits_are_the_first_output_of_several(tmp_path: Path) -> None:
    """A graph that also gives hidden states or attention still answers with its scores."""
    [logits] = load(graph(outputs=3), tmp_path).logits([sequence(5)])

    assert logits.shape == (1, 7)


@pytest.mark.parametrize(
    ("inputs", "shape"),
    [
        (("input_ids", "position_ids", "mask_positions"), ("masks", 7)),  # an input that nobody would feed
        (("input_ids", "attention_mask"), ("masks", 7)),
        (("mask_positions",), ("masks", 7)),
        (("input_ids", "mask_positions"), ("masks", 8)),
    ],
)
def test_constructor_refuses_a_graph_of_another_kind(
    inputs: tuple[str, ...], shape: tuple[int | str, ...], tmp_path: Path
) -> None:
    """Inputs that we cannot feed or scores of another shape are found when loading, not in the first request."""
    with pytest.raises(ArtifactCorruptError):
        load(graph(inputs=inputs, shape=shape), tmp_path)


@pytest.mark.parametrize(
    ("usable", "threads", "expected"),
    [
        ({0, 1}, 1, None),
        ({0, 1}, 2, ({0}, (1,))),
        ({3, 5, 7}, 2, ({3, 7}, (5,))),
        ({0, 1, 2, 3}, 4, ({0}, (1, 2, 3))),
        ({4}, 2, None),
    ],
)
def test_threads_of_a_run_are_kept_apart(
    monkeypatch: pytest.MonkeyPatch, usable: set[int], threads: int, expected: object
) -> None:
    """Each thread of the pool has a processor of its own, and callers have all the others."""
    monkeypatch.setattr("os.sched_getaffinity", lambda process: usable)

    assert processors_apart(threads) == expected


def test_system_that_does_not_tell_its_processors_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """As macOS."""
    monkeypatch.delattr("os.sched_getaffinity")

    assert processors_apart(2) is None


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one processor only")
def test_caller_leaves_the_processors_of_the_other_threads(tmp_path: Path) -> None:
    """With two threads the caller's own stays off the other's processor; in a thread, since the mask is its own."""
    (tmp_path / "model.onnx").write_bytes(graph())
    model = OnnxMaskedLanguageModel(tmp_path / "model.onnx", threads=2, vocabulary_size=7)

    def call() -> set[int]:
        model.logits([MaskedSequence(ids=(1, 2, 3), mask_positions=(1,))])
        return os.sched_getaffinity(0)

    usable = os.sched_getaffinity(0)
    with ThreadPoolExecutor(1) as pool:
        mask = pool.submit(call).result()

    assert mask == usable - {sorted(usable)[1]}
