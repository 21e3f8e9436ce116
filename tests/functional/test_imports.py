"""What an event makes Python import: the largest part of a cold start."""

from __future__ import annotations

import json
import sys

import pytest

from tests.support.events import TEXT, http_v2, queue_batch
from tests.support.processes import python

HTTP_ONLY = {"fastapi", "starlette", "pydantic", "mangum", "opentelemetry"}
CLOUD_ONLY = {"boto3", "botocore", "urllib3"}
BUDGET = {"handler", "numpy", "onnxruntime", "tokenizers"}
STARTED_WITH = {"sitecustomize", "usercustomize", "coverage"}  # by the interpreter itself, on some machines
NEVER = {"torch", "transformers", "huggingface_hub", "onnx", "uvicorn", "requests"}


def modules_after(event: object, **environment: str) -> set[str]:
    """Return the top-level modules of a fresh process that answered an event."""
    code = (
        "import json, sys, handler.entry as entry; "
        f"entry.lambda_handler(json.loads({json.dumps(event)!r}), None); "
        "print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    )
    done = python("-c", code, environment=environment)
    assert done.returncode == 0, done.stderr.decode()
    return set(json.loads(done.stdout.decode().splitlines()[-1]))


def test_direct_event_imports_no_package_beyond_its_budget() -> None:
    """Whatever a new version of a dependency drags in shows here, on any machine, before it shows in a cold start."""
    modules = {name for name in modules_after({"text": TEXT}) if not name.startswith("_")}

    assert modules - sys.stdlib_module_names - STARTED_WITH <= BUDGET


@pytest.mark.parametrize(
    "event",
    [
        {"text": TEXT},
        {"inputs": TEXT},
        {"texts": [TEXT, "没有"]},
        {"warmer": True},
        queue_batch([{"text": TEXT}]),
        {},
    ],
)
def test_event_without_http_imports_no_web_framework_and_no_cloud(event: object) -> None:
    """Direct, queue and warm-up events pay for the model's runtime only."""
    assert modules_after(event) & (HTTP_ONLY | CLOUD_ONLY | NEVER) == set()


def test_http_imports_no_cloud_without_a_table() -> None:
    """boto3 is for those who set a table or a results queue."""
    modules = modules_after(http_v2(body={"text": TEXT}))

    assert {"fastapi", "mangum"} <= modules
    assert modules & (CLOUD_ONLY | NEVER) == set()


def test_web_framework_is_imported_in_an_init_that_nobody_waits_for() -> None:
    """With provisioned concurrency the first HTTP request finds everything imported."""
    modules = modules_after({"warmer": True}, AWS_LAMBDA_INITIALIZATION_TYPE="provisioned-concurrency")

    assert {"fastapi", "mangum"} <= modules


def test_table_without_a_cloud_is_a_warning_and_an_answer() -> None:
    """With a table named but no region and no credentials the function answers without it."""
    code = f"import handler.entry as e; print(len(e.lambda_handler({{'text': {TEXT!r}}}, None)['results']))"
    environment = {"TIANKONG_CACHE_TABLE": "absent", "AWS_EC2_METADATA_DISABLED": "true"}

    done = python("-c", code, environment=environment)

    *lines, results = done.stdout.decode().splitlines()
    warnings = [json.loads(line) for line in lines if json.loads(line)["level"] == "WARNING"]
    assert (done.returncode, results) == (0, "1")
    assert sum("cache" in warning["message"] for warning in warnings) == 1
