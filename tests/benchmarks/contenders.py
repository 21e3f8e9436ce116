"""Who is measured, and a running process of each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[2]
PEERS_PYTHON: Final = ROOT / "build" / "bench-venv" / "bin" / "python"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """A way of answering.

    Args:
        label: in tables.
        job: module of tests.benchmarks.jobs.
        serves: which of the prepared folders it opens.
        ours: whether it runs in the project's own environment; otherwise in that of the peers.
        int8: whether its agreement with fp32 is a question.
        whole: whether it does the whole job from text to candidates.
        pause_s: how long its threads go on spinning after a turn: nobody else's begins before they are asleep.
    """

    label: str
    job: str
    serves: str
    ours: bool = False
    int8: bool = False
    whole: bool = True
    pause_s: float = 0.06  # onnxruntime's defaults


DIRECT: Final = Contender(label="Tiankong, direct event", job="direct_event", serves="artifact", ours=True, int8=True)
FAST: Final = Contender(
    label="Tiankong, direct event, fast profile", job="direct_event", serves="fast", ours=True, int8=True
)
HTTP: Final = Contender(label="Tiankong, HTTP event", job="http_event", serves="artifact", ours=True)
SESSION: Final = Contender(label="Tiankong, session alone", job="session", serves="artifact", ours=True, whole=False)
IMPORTS: Final = Contender(label="bare imports", job="imports", serves="artifact", ours=True, whole=False)
REFERENCE: Final = Contender(label="reference design (fp32)", job="reference_design", serves="traced")
_OPENMP_S: Final = 0.3
TORCH: Final = Contender(
    label="transformers on torch, fp32", job="torch_pipeline", serves="checkpoint", pause_s=_OPENMP_S
)
TORCH_BF16: Final = Contender(
    label="transformers on torch, bf16", job="torch_pipeline_bf16", serves="checkpoint", pause_s=_OPENMP_S
)
OPTIMUM: Final = Contender(label="optimum-onnx int8", job="optimum_int8", serves="optimum", int8=True)
OPENVINO: Final = Contender(label="OpenVINO, default", job="openvino", serves="openvino")
OPENVINO_INT8: Final = Contender(label="OpenVINO int8", job="openvino_int8", serves="openvino", int8=True)
OPENVINO_DYNAMIC: Final = Contender(
    label="OpenVINO int8 weights, dynamic", job="openvino_dynamic", serves="openvino", int8=True
)
ALL: Final = (
    *(DIRECT, FAST, HTTP, SESSION, REFERENCE, TORCH, TORCH_BF16),
    *(OPTIMUM, OPENVINO, OPENVINO_INT8, OPENVINO_DYNAMIC),
)
QUICK: Final = (DIRECT, HTTP, SESSION, REFERENCE, OPTIMUM, OPENVINO_INT8)


@dataclass(slots=True)
class Running:
    """A contender's process, loaded and waiting.

    Args:
        contender: who.
        folders: where each way of serving lies, by name.
        threads: of one run.
        environment: variables beside the inherited ones.
    """

    contender: Contender
    folders: Mapping[str, Path]
    threads: int
    environment: Mapping[str, str] = field(default_factory=dict)
    parts: dict[str, float] = field(default_factory=dict)  # of loading, ms
    started: float = 0.0
    _process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Running:
        """Start and load."""
        python = sys.executable if self.contender.ours else str(PEERS_PYTHON)
        command = [python, "-m", "tests.benchmarks.worker", self.contender.job]
        command += ["--model", str(self.folders[self.contender.serves]), "--threads", str(self.threads)]
        variables = {name: value for name, value in os.environ.items() if not name.startswith(("TIANKONG_", "AWS_"))}
        variables |= {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", **self.environment}
        self.started = time.perf_counter()
        self._process = subprocess.Popen(
            command, cwd=ROOT, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        try:
            self.parts = self._line()
        except RuntimeError:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop it."""
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(10)
        assert self._process.stdout is not None
        self._process.stdout.close()

    def ask(self, request: Mapping[str, Any]) -> Any:
        """Send one line and return the answer to it.

        Raises:
            RuntimeError: the process ended instead; its own words are on standard error.
        """
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self._line()

    def answers(self, texts: Sequence[str]) -> tuple[list[float], list[str]]:
        """Return milliseconds and the best candidate of each text."""
        answer = self.ask({"texts": list(texts)})
        return answer["ms"], [token for token, _ in answer["first"]]

    def _line(self) -> Any:
        assert self._process is not None
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.contender.label} ended before it answered")
        return json.loads(line)
