"""This project: a direct event to the function's handler."""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks.worker import Candidates, Stopwatch


class DirectEvent:
    """The handler, imported as Lambda imports it."""

    def __init__(self, model: Path, threads: int, watch: Stopwatch) -> None:
        os.environ["TIANKONG_MODEL_DIR"] = str(model)
        os.environ["TIANKONG_THREADS"] = str(threads)
        os.environ.setdefault("TIANKONG_CACHE_TTL_S", "0")
        with watch.part("handler"):
            from handler.entry import lambda_handler
        self.handler = lambda_handler
        # The first line of the log tells how init spent its time; a warm-up ping draws it out.
        with contextlib.redirect_stdout(io.StringIO()) as log:
            lambda_handler({"warmer": True}, None)
        watch.parts |= {f"init {part}": ms for part, ms in json.loads(log.getvalue())["init_ms"].items()}

    def __call__(self, text: str) -> Candidates:
        """Answer one text."""
        answer = self.handler({"text": text}, None)
        return [(each["token"], each["score"]) for each in answer["results"][0]["masks"][0]["candidates"]]

    def batch(self, texts: Sequence[str]) -> Any:
        """Answer many texts in one event."""
        return self.handler({"texts": list(texts)}, None)["results"]


load = DirectEvent
