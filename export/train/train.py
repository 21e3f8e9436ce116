"""Train, or go on training.

    python -m export.train.train --corpus DIR --out DIR --minutes N [--init FOLDER]

DIR/state/run.pt is the resumable state; the same command again goes on from it, also after SIGTERM. DIR/final is the
Hugging Face folder, written at the end of the decay. With --steps in place of --minutes the result is a function of the
corpus, the seed and the number of steps (on one machine with one number of threads).
"""

import argparse
import ctypes
import signal
import time
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from export.train.checkpoint import load_bert, load_state, save_bert, save_state
from export.train.masking import IGNORE, MaskedBatch, Masker
from export.train.mixture import MIXTURES, Mixture, packed_all, read_rows
from export.train.mixture import Batch as RowBatch
from export.train.model import MaskedModel, Shape, deepened
from export.train.optimizer import MixedOptimizer, parameter_count
from export.train.schedule import Schedule
from export.train.text import normalised
from export.train.tokenizer import Tokenizer

PRECISIONS: Final = {"fp32": torch.float32, "bf16": torch.bfloat16}
DEV_KINDS: Final = ("poem", "news", "review")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a run can be told; the command line has one option for each field."""

    corpus: Path
    out: Path
    init: Path | None = None
    vocabulary: Path | None = None
    minutes: float | None = None
    steps: int | None = None
    layers: int | None = None
    hidden: int = 256
    heads: int = 4
    batch_tokens: int = 8192
    peak: float = 1e-3
    mask_rate: float = 0.2
    decay_share: float = 0.3
    warmup_steps: int = 100
    optimizer: str = "muon"
    mixture: str = "general"
    precision: str = "fp32"
    threads: int = 2
    seed: int = 0
    save_minutes: float = 4.0
    report_steps: int = 50


def keep_freed_memory() -> None:
    """Tell glibc to reuse large blocks; to give them back and get them cleared again costs time at every step."""
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(-3, 1 << 30)  # M_MMAP_THRESHOLD
        libc.mallopt(-1, (1 << 31) - 1)  # M_TRIM_THRESHOLD


def scores_of(model: MaskedModel, batch: MaskedBatch) -> Tensor:
    """The vocabulary's scores at the hidden places."""
    scores: Tensor = model(torch.from_numpy(batch.ids), torch.from_numpy(batch.real), torch.from_numpy(batch.at))
    return scores


def loss_of(model: MaskedModel, batch: MaskedBatch) -> Tensor:
    """Mean cross-entropy of the hidden entries."""
    scores = scores_of(model, batch)
    return cross_entropy(scores.flatten(0, 1), torch.from_numpy(batch.labels).flatten(), ignore_index=IGNORE)


class Development:
    """Loss and accuracy on the documents set aside for choices, one mask in ten, always the same ones."""

    def __init__(self, corpus: Path, tokenizer: Tokenizer, most: int = 400) -> None:
        self.batches = {}
        for kind in DEV_KINDS:
            texts = normalised((corpus / f"dev_{kind}.txt").read_text(encoding="utf-8")).splitlines()
            rows = packed_all(texts, tokenizer)[:most]
            masker = Masker(tokenizer, (), 0.08)
            rng = np.random.default_rng(7)
            self.batches[kind] = [masker.mask(RowBatch(64, rows[i : i + 64]), rng) for i in range(0, len(rows), 64)]

    def report(self, model: MaskedModel) -> str:
        """One line of figures."""
        parts = []
        for kind, batches in self.batches.items():
            loss = right = total = 0.0
            for batch in batches:
                with torch.inference_mode():
                    scores = scores_of(model, batch)
                labels = torch.from_numpy(batch.labels)
                used = labels != IGNORE
                loss += cross_entropy(scores[used], labels[used], reduction="sum").item()
                right += (scores[used].argmax(-1) == labels[used]).sum().item()
                total += used.sum().item()
            parts.append(f"{kind} loss {loss / total:.3f} top-1 {right / total:.3f}")
        return "; ".join(parts)


def started(options: Options) -> tuple[MaskedModel, Tokenizer]:
    """The model a new run begins with: random, or an earlier one, deepened if more layers are asked for."""
    if options.init:
        model, tokenizer = load_bert(options.init)
        if options.layers and options.layers != model.shape.layers:
            model = deepened(model, options.layers)
        return model, tokenizer
    if not options.vocabulary:
        raise SystemExit("give --init FOLDER or --vocabulary FILE")
    tokenizer = Tokenizer.load(options.vocabulary)
    shape = Shape(vocab=len(tokenizer.entries), layers=options.layers or 6, hidden=options.hidden, heads=options.heads)
    return MaskedModel(shape), tokenizer


def run(options: Options) -> None:
    """Train from the saved state, or from the start, to the end of the decay."""
    keep_freed_memory()
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    state_path = options.out / "state" / "run.pt"
    model, tokenizer = started(options)
    optimizer = MixedOptimizer(model, muon=options.optimizer == "muon")
    model.to(PRECISIONS[options.precision])
    step, tokens, spent, round_number, index = 0, 0, 0.0, 0, 0
    if state_path.exists():
        state = load_state(state_path)
        optimizer.restore(state["optimizer"], model)
        step, tokens, spent = state["step"], state["tokens"], state["seconds"]
        round_number, index = state["round"], state["index"]
        print(f"resumed at step {step}, {tokens / 1e6:.1f} M tokens, {spent / 60:.1f} minutes", flush=True)
    rows = read_rows(options.corpus, tokenizer)
    idioms = [line.split("\t")[0] for line in (options.corpus / "idioms.tsv").read_text(encoding="utf-8").splitlines()]
    masker = Masker(tokenizer, idioms, options.mask_rate)
    mixture = Mixture(rows, options.seed, options.batch_tokens, MIXTURES[options.mixture])
    schedule = Schedule(warmup_steps=options.warmup_steps, decay_share=options.decay_share)
    development = Development(options.corpus, tokenizer)
    print(
        f"{parameter_count(model.parameters()) / 1e6:.2f} M parameters; rows: { {k: len(v) for k, v in rows.items()} }"
    )
    print(f"step {step} dev: {development.report(model)}", flush=True)

    def save() -> None:
        state = {"optimizer": optimizer.state(), "step": step, "tokens": tokens, "seconds": spent + elapsed()}
        save_state(state | {"round": round_number, "index": index}, state_path)

    stopping: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: stopping.append(number))
    began = time.monotonic()

    def elapsed() -> float:
        return time.monotonic() - began

    def progress() -> float:
        if options.steps:
            return step / options.steps
        return (spent + elapsed()) / (60 * (options.minutes or 1.0))

    saved, running, tokens_here = elapsed(), 0.0, 0
    for of_round, position, batch in mixture.from_position(round_number, index):
        if progress() >= 1 or stopping:
            break
        rate = options.peak * schedule.factor(step, progress())
        loss = loss_of(model, masker.mask(batch, np.random.default_rng([options.seed, 3, step])))
        torch.autograd.backward(loss)
        optimizer.step(model, rate)
        step += 1
        round_number, index = of_round, position + 1
        tokens += len(batch.rows) * batch.bucket
        tokens_here += len(batch.rows) * batch.bucket
        running = loss.item() if running == 0 else 0.98 * running + 0.02 * loss.item()
        if step % options.report_steps == 0:
            print(
                f"step {step} progress {progress():.3f} tokens {tokens / 1e6:.2f} M loss {running:.3f} "
                f"rate {rate:.2e} tokens/s {tokens_here / elapsed():.0f}",
                flush=True,
            )
        if elapsed() - saved > 60 * options.save_minutes:
            save()
            save_bert(optimizer.masters, model.shape, tokenizer, options.out / "latest")
            print(f"step {step} dev: {development.report(model)}", flush=True)
            saved = elapsed()
    save()
    if stopping:
        print(f"stopped at step {step}", flush=True)
        return
    save_bert(optimizer.masters, model.shape, tokenizer, options.out / "final")
    print(f"step {step} final dev: {development.report(model)}", flush=True)


def main() -> None:
    """Read the command line and train."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = {
        "corpus": Path,
        "out": Path,
        "init": Path,
        "vocabulary": Path,
        "minutes": float,
        "steps": int,
        "layers": int,
    }
    for field in fields(Options):
        required = field.name in ("corpus", "out")
        kind = kinds.get(field.name) or type(field.default)
        parser.add_argument(
            "--" + field.name.replace("_", "-"),
            type=kind,
            required=required,
            default=None if required else field.default,
        )
    arguments = parser.parse_args()
    if (arguments.minutes is None) == (arguments.steps is None):
        parser.error("give one of --minutes and --steps")
    run(Options(**vars(arguments)))


if __name__ == "__main__":
    main()
