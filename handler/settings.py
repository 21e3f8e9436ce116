"""Everything that the function can be told from outside, read and checked once. The only reader of the environment.

A plain dataclass instead of pydantic-settings: a direct event never needs pydantic, whose import costs more than this
whole module (docs/decisions.md).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from handler.core.types import Limits

PREFIX: Final = "TIANKONG_"
MB_PER_VCPU: Final = 1769  # Lambda's share of a processor by memory size (AWS documentation, "Configure memory")
_EMBEDDED_MODEL: Final = Path(__file__).resolve().parent.parent / "layers" / "model"


class SettingsError(ValueError):
    """A variable has a value that the service cannot start with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One field for each ``TIANKONG_`` variable, plus what Lambda itself tells."""

    model_dir: Path = _EMBEDDED_MODEL
    threads: int = 1  # of the model run; by default the processors that the memory size buys
    log_level: str = "INFO"
    cors_origins: tuple[str, ...] = ()  # none: browsers on other origins are refused
    base_path: str = ""  # e.g. "/nlp": taken off the front of every path, once
    cache_table: str | None = None  # None: no DynamoDB
    cache_ttl_s: int = 86_400  # 0: nothing is cached anywhere
    cache_admit_after: int = 2  # sights after which a single-pass answer goes to DynamoDB
    cache_read_ms: int = 10  # about one run of a BERT-base model: a slower read is no help
    results_queue: str | None = None  # URL of the SQS queue for answers to queued requests
    max_tokens: int = 128  # what the model sees at once; never more than the model's own limit
    max_texts: int = 256
    max_text_chars: int = 10_000
    max_masks: int = 16
    max_top_k: int = 100
    max_passes: int = 128  # model passes for one text
    on_lambda: bool = False
    function_name: str = "tiankong"
    # Lambda calls init only once for many environments, ahead of any request, with these two kinds.
    initialised_ahead: bool = False

    def limits(self, model_max_tokens: int) -> Limits:
        """Return the limits of one request, with a model that sees so many tokens."""
        return Limits(
            max_texts=self.max_texts,
            max_text_chars=self.max_text_chars,
            max_masks=self.max_masks,
            max_top_k=self.max_top_k,
            max_tokens=min(self.max_tokens, model_max_tokens),
            max_passes=self.max_passes,
        )


def load(environment: Mapping[str, str] | None = None) -> Settings:
    """Read the settings; unset and empty variables mean the default.

    Args:
        environment: the variables; those of the process when None.

    Raises:
        SettingsError: a value is not allowed; the message names the variable and what is.
    """
    source = os.environ if environment is None else environment
    values: dict[str, Any] = {"threads": _threads_bought(source)}
    for field, read in _READERS.items():
        raw = source.get(PREFIX + field.upper(), "").strip()
        if raw:
            values[field] = read(PREFIX + field.upper(), raw)
    values["on_lambda"] = "AWS_LAMBDA_FUNCTION_NAME" in source
    values["function_name"] = source.get("AWS_LAMBDA_FUNCTION_NAME") or "tiankong"
    values["initialised_ahead"] = source.get("AWS_LAMBDA_INITIALIZATION_TYPE") in {
        "provisioned-concurrency",
        "snap-start",
    }
    return Settings(**values)


def variables() -> tuple[str, ...]:
    """Return the names of all variables that are read as settings."""
    return tuple(PREFIX + field.upper() for field in _READERS)


def demo_text() -> str:
    """Return the text that ``make run`` passes through the environment, so that no shell ever interprets it."""
    return os.environ.get("TEXT", "")


def _threads_bought(source: Mapping[str, str]) -> int:
    """Return the processors that the memory size buys; elsewhere those that this process may use."""
    memory_mb = source.get("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "")
    if memory_mb.isdecimal() and int(memory_mb) > 0:
        return max(1, int(memory_mb) // MB_PER_VCPU)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _whole(low: int, high: int) -> Callable[[str, str], int]:
    def read(name: str, raw: str) -> int:
        if not re.fullmatch(r"[0-9]{1,9}", raw) or not low <= int(raw) <= high:
            raise SettingsError(f"{name} must be a whole number from {low} to {high}.")
        return int(raw)

    return read


def _folder(_name: str, raw: str) -> Path:
    # Whether the artifact is really there is the model's question: the function must start and say so.
    return Path(raw)


def _log_level(name: str, raw: str) -> str:
    levels = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
    if raw.upper() not in levels:
        raise SettingsError(f"{name} must be one of {', '.join(levels)}.")
    return raw.upper()


def _origins(name: str, raw: str) -> tuple[str, ...]:
    origins = tuple(part.strip() for part in raw.split(",") if part.strip())
    if not all(origin == "*" or re.fullmatch(r"https?://[^/\s]+", origin) for origin in origins):
        raise SettingsError(
            f"{name} must be * or a comma-separated list of origins such as https://app.example, without paths."
        )
    return origins


def _base_path(name: str, raw: str) -> str:
    path = "/" + raw.strip("/")
    if not re.fullmatch(r"(/[A-Za-z0-9._~-]+)*|/", path):
        raise SettingsError(f"{name} must be a path such as /nlp, of letters, digits and ._~- between slashes.")
    return "" if path == "/" else path


def _table(name: str, raw: str) -> str:
    if not re.fullmatch(
        r"[A-Za-z0-9_.-]{3,255}|arn:aws[a-z-]*:dynamodb:[a-z0-9-]+:[0-9]{12}:table/[A-Za-z0-9_.-]{3,255}", raw
    ):
        raise SettingsError(f"{name} must be the name or ARN of a DynamoDB table.")
    return raw


def _queue_url(name: str, raw: str) -> str:
    if not re.fullmatch(r"https?://\S+", raw) or raw.endswith(".fifo"):
        raise SettingsError(f"{name} must be the URL of a standard SQS queue (not a FIFO one).")
    return raw


_READERS: Final[Mapping[str, Callable[[str, str], Any]]] = {
    "model_dir": _folder,
    "threads": _whole(1, 64),
    "log_level": _log_level,
    "cors_origins": _origins,
    "base_path": _base_path,
    "cache_table": _table,
    "cache_ttl_s": _whole(0, 31_536_000),
    "cache_admit_after": _whole(1, 255),
    "cache_read_ms": _whole(1, 1000),
    "results_queue": _queue_url,
    "max_tokens": _whole(3, 512),
    "max_texts": _whole(1, 10_000),
    "max_text_chars": _whole(1, 1_000_000),
    "max_masks": _whole(1, 510),
    "max_top_k": _whole(1, 1000),
    "max_passes": _whole(1, 10_000),
}
