"""An artifact's answers on another kind of processor, by user-mode emulation.

Run as a program (python -m export.emulation ARTIFACT TEXTS OUT) it writes the answers of the processor it runs on.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

import export
from export.errors import AgreementError
from export.serving import ServedArtifact
from handler.core.types import FloatArray

EMULATOR: Final = "qemu-x86_64"
PROCESSOR: Final = "Haswell"  # AVX2 without VNNI


def emulated_logits(artifact: Path, texts: Sequence[str]) -> FloatArray:
    """Score the blanks of the texts on an emulated processor, through the serving code: float32 (blanks, vocab).

    Raises:
        AgreementError: the emulator is not installed, or the program failed under it.
    """
    emulator = shutil.which(EMULATOR)
    if emulator is None:
        raise AgreementError([f"{EMULATOR} is not installed (Debian: qemu-user), so {PROCESSOR} cannot be checked"])
    with tempfile.TemporaryDirectory() as scratch:
        asked, answered = Path(scratch, "texts.json"), Path(scratch, "answers.npy")
        asked.write_text(json.dumps(list(texts)), encoding="utf-8")
        python = [sys.executable, "-m", __name__]
        command = [emulator, "-cpu", PROCESSOR, *python, str(artifact.resolve()), str(asked), str(answered)]
        root = Path(export.__file__).resolve().parent.parent
        # Emulation warns about features it lacks; that is what it is here for.
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)  # noqa: S603 - our own
        if done.returncode != 0:
            raise AgreementError([f"the service failed on {PROCESSOR}: {done.stderr.strip()[-500:]}"])
        return np.asarray(np.load(answered), np.float32)


def main(artifact: str, texts: str, out: str) -> None:
    """Answer on this processor."""
    served = ServedArtifact(Path(artifact))
    prepared = [served.prepare(text) for text in json.loads(Path(texts).read_text(encoding="utf-8"))]
    np.save(out, served.logits(prepared))


if __name__ == "__main__":
    main(*sys.argv[1:])
