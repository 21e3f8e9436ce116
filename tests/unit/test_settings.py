"""Every variable: its default, what it takes, and what stops the start."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from handler import settings
from handler.settings import Settings, SettingsError

# As design and README name them, with their defaults (MODEL_DIR and THREADS depend on where the function runs).
DEFAULTS: dict[str, Any] = {
    "LOG_LEVEL": "INFO",
    "CORS_ORIGINS": (),
    "BASE_PATH": "",
    "CACHE_TABLE": None,
    "CACHE_TTL_S": 86_400,
    "CACHE_ADMIT_AFTER": 2,
    "CACHE_READ_MS": 10,
    "RESULTS_QUEUE": None,
    "MAX_TOKENS": 128,
    "MAX_TEXTS": 256,
    "MAX_TEXT_CHARS": 10_000,
    "MAX_MASKS": 16,
    "MAX_TOP_K": 100,
    "MAX_PASSES": 128,
}
NAMES = {"MODEL_DIR", "THREADS", *DEFAULTS}
WHOLE = {
    "THREADS": (1, 64),
    "CACHE_TTL_S": (0, 31_536_000),
    "CACHE_ADMIT_AFTER": (1, 255),
    "CACHE_READ_MS": (1, 1000),
    "MAX_TOKENS": (3, 512),
    "MAX_TEXTS": (1, 10_000),
    "MAX_TEXT_CHARS": (1, 1_000_000),
    "MAX_MASKS": (1, 510),
    "MAX_TOP_K": (1, 1000),
    "MAX_PASSES": (1, 10_000),
}


def load(**variables: str) -> Settings:
    """Load settings from these variables alone, named without their prefix."""
    return settings.load({f"TIANKONG_{name}": value for name, value in variables.items()})


def test_variables_are_those_that_the_design_names() -> None:
    """No variable more, none less, and each is a field."""
    assert {f"TIANKONG_{name}" for name in NAMES} == set(settings.variables())
    assert {name.lower() for name in NAMES} <= {field.name for field in fields(Settings)}


@pytest.mark.parametrize("name", sorted(DEFAULTS))
@pytest.mark.parametrize("value", [None, "", "   "])
def test_load_takes_the_default_when_a_variable_is_unset_or_empty(name: str, value: str | None) -> None:
    """A template that sets a variable to nothing asks for the default."""
    loaded = load() if value is None else load(**{name: value})

    assert DEFAULTS[name] == getattr(loaded, name.lower())


def test_load_finds_the_embedded_model_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The default artifact is the one beside the code, wherever the process was started."""
    monkeypatch.chdir(tmp_path)

    assert (load().model_dir / "manifest.json").is_file()
    assert Path("/opt/other") == load(MODEL_DIR="/opt/other").model_dir


@pytest.mark.parametrize("name", sorted(WHOLE))
def test_load_takes_whole_numbers_in_range(name: str) -> None:
    """Both ends of the range are allowed, with spaces around them."""
    low, high = WHOLE[name]

    assert low == getattr(load(**{name: str(low)}), name.lower())
    assert high == getattr(load(**{name: f" {high} "}), name.lower())


@pytest.mark.parametrize("name", sorted(WHOLE))
@pytest.mark.parametrize("value", ["low", "high", "-1", "1.5", "1e3", "ten", "0x10", "１２", "1_000", "9" * 5000, "+5"])
def test_load_refuses_other_numbers(name: str, value: str) -> None:
    """The message names the variable and what is allowed, and not what was sent."""
    low, high = WHOLE[name]
    sent = {"low": str(low - 1), "high": str(high + 1)}.get(value, value)
    with pytest.raises(SettingsError) as caught:
        load(**{name: sent})

    assert f"TIANKONG_{name} must be a whole number from {low} to {high}." == str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("LOG_LEVEL", "debug", "DEBUG"),
        ("LOG_LEVEL", "WARNING", "WARNING"),
        ("CORS_ORIGINS", "*", ("*",)),
        ("CORS_ORIGINS", "https://a.example, http://localhost:3000 ,", ("https://a.example", "http://localhost:3000")),
        ("BASE_PATH", "nlp", "/nlp"),
        ("BASE_PATH", "/nlp/", "/nlp"),
        ("BASE_PATH", "/v1/nlp.api~x", "/v1/nlp.api~x"),
        ("BASE_PATH", "/", ""),
        ("CACHE_TABLE", "tiankong-cache_1.x", "tiankong-cache_1.x"),
        (
            "CACHE_TABLE",
            "arn:aws-cn:dynamodb:cn-north-1:123456789012:table/cache",
            "arn:aws-cn:dynamodb:cn-north-1:123456789012:table/cache",
        ),
        ("RESULTS_QUEUE", "https://sqs.eu-central-1.example/1/queue", "https://sqs.eu-central-1.example/1/queue"),
        ("MODEL_DIR", "relative/model", Path("relative/model")),
    ],
)
def test_load_takes_what_is_allowed(name: str, value: str, expected: object) -> None:
    """Each kind of value in the spellings that people use."""
    assert expected == getattr(load(**{name: value}), name.lower())


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("LOG_LEVEL", "LOUD", "DEBUG, INFO, WARNING, ERROR, CRITICAL"),
        ("LOG_LEVEL", "20", "DEBUG"),
        ("CORS_ORIGINS", "a.example", "https://app.example"),
        ("CORS_ORIGINS", "https://a.example/path", "without paths"),
        ("CORS_ORIGINS", "https://a.example https://b.example", "comma-separated"),
        ("CORS_ORIGINS", "ftp://a.example", "origins"),
        ("BASE_PATH", "/a b", "/nlp"),
        ("BASE_PATH", "/a//b", "/nlp"),
        ("BASE_PATH", "/中文", "letters, digits"),
        ("BASE_PATH", "/a?b", "/nlp"),
        ("CACHE_TABLE", "ab", "name or ARN"),
        ("CACHE_TABLE", "a table", "name or ARN"),
        ("CACHE_TABLE", "x" * 256, "name or ARN"),
        ("CACHE_TABLE", "arn:aws:s3:::bucket", "name or ARN"),
        ("RESULTS_QUEUE", "my-queue", "URL"),
        ("RESULTS_QUEUE", "arn:aws:sqs:eu-central-1:123456789012:queue", "URL"),
        ("RESULTS_QUEUE", "https://sqs.eu-central-1.example/1/queue.fifo", "FIFO"),
    ],
)
def test_load_names_the_variable_and_what_is_allowed(name: str, value: str, allowed: str) -> None:
    """A bad value stops the start with a message that tells what to do."""
    with pytest.raises(SettingsError) as caught:
        load(**{name: value})

    assert f"TIANKONG_{name}" in str(caught.value)
    assert allowed in str(caught.value)


@pytest.mark.parametrize("memory_mb", [128, 1768, 1769, 3007, 3538, 5307, 10_240])
def test_threads_are_the_processors_that_the_memory_buys(memory_mb: int) -> None:
    """One whole processor for each 1,769 MB, and never less than one thread."""
    loaded = settings.load({"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(memory_mb)})

    assert max(1, memory_mb // 1769) == loaded.threads


def test_threads_by_variable_outrank_the_memory() -> None:
    """Who names a number gets it."""
    environment = {"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "10240", "TIANKONG_THREADS": "2"}

    assert settings.load(environment).threads == 2


@pytest.mark.parametrize("memory", [None, "", "0", "much", "-5"])
def test_threads_are_this_machines_processors_outside_lambda(memory: str | None) -> None:
    """Without a memory size to go by, the process uses what it may."""
    environment = {} if memory is None else {"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": memory}

    assert len(os.sched_getaffinity(0)) == settings.load(environment).threads


def test_threads_are_counted_without_affinity(monkeypatch: pytest.MonkeyPatch) -> None:
    """MacOS tells no affinity."""
    monkeypatch.delattr(os, "sched_getaffinity")

    assert (os.cpu_count() or 1) == settings.load({}).threads


@pytest.mark.parametrize(
    ("kind", "expected"), [("provisioned-concurrency", True), ("snap-start", True), ("on-demand", False), (None, False)]
)
def test_load_tells_how_lambda_starts_the_function(kind: str | None, expected: bool) -> None:
    """An init that nobody waits for may do more."""
    environment = {"AWS_LAMBDA_FUNCTION_NAME": "fill"} | ({"AWS_LAMBDA_INITIALIZATION_TYPE": kind} if kind else {})
    loaded = settings.load(environment)

    assert (expected, True, "fill") == (loaded.initialised_ahead, loaded.on_lambda, loaded.function_name)


def test_load_reads_the_process_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a mapping the environment of the process counts."""
    monkeypatch.setenv("TIANKONG_MAX_TEXTS", "7")
    monkeypatch.delenv("AWS_LAMBDA_FUNCTION_NAME", raising=False)

    assert (
        settings.load().max_texts,
        settings.load().on_lambda,
        settings.load().function_name,
    ) == (7, False, "tiankong")


@pytest.mark.parametrize(("setting", "model", "expected"), [(128, 512, 128), (512, 128, 128), (64, 128, 64)])
def test_limits_never_exceed_what_the_model_sees(setting: int, model: int, expected: int) -> None:
    """MAX_TOKENS is the smaller of the setting and the model's own limit."""
    assert expected == Settings(max_tokens=setting).limits(model).max_tokens


def test_limits_are_the_settings_of_the_same_names() -> None:
    """Every other limit is passed on as it is."""
    loaded = Settings(max_texts=1, max_text_chars=2, max_masks=3, max_top_k=4, max_passes=5)
    limits = loaded.limits(128)

    assert (
        limits.max_texts,
        limits.max_text_chars,
        limits.max_masks,
        limits.max_top_k,
        limits.max_passes,
    ) == (1, 2, 3, 4, 5)


def test_demo_text_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make run passes the text so, dollar signs and quotes included."""
    monkeypatch.setenv("TEXT", "$HOME `ls` '[MASK]\"")

    assert settings.demo_text() == "$HOME `ls` '[MASK]\""
