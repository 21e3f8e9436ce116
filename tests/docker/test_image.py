"""The image: how large, what is in it, and that it needs nothing but processor and memory."""

from __future__ import annotations

import json
import shutil
import statistics
from pathlib import Path
from typing import Any

import pytest

from tests.docker.engine import docker, running
from tests.support import base_image

pytestmark = [pytest.mark.docker, pytest.mark.timeout(400)]

LIMIT_MB = 250
INIT_MS = 1500
# What Lambda and hardened engines take away: writing, the network, a known user, more than one processor.
HARDENED = (
    "--read-only", "--tmpfs", "/tmp", "--network", "none", "--user", "12345", "--memory", "1769m", "--cpus", "1",
    "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--env", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=1769",
)  # fmt: skip
CAPITAL: dict[str, Any] = {"text": "北京是中国的[MASK]都。", "top_k": 1}


def first_token(answer: Any) -> str:
    """Return the best candidate of the first mask."""
    token: str = answer["results"][0]["masks"][0]["candidates"][0]["token"]
    return token


def test_size_is_within_its_limit(image: str, base: bool, capsys: pytest.CaptureFixture[str]) -> None:
    """At most 250 MB above the base, dependencies below the model below the code."""
    history = docker("history", "--human=false", "--format", "{{.Size}}", image).split()
    layers = [int(size) for size in reversed(history) if int(size) > 0][-3:]
    whole = int(docker("image", "inspect", "--format", "{{.Size}}", image))
    above = whole - int(docker("image", "inspect", "--format", "{{.Size}}", base_image.TAG))
    with capsys.disabled():
        print(f"\nimage: {whole / 1e6:.0f} MB, {above / 1e6:.0f} MB above the {'stand-in ' if base else ''}base")
        for name, size in zip(("dependencies", "model", "code"), layers, strict=True):
            print(f"  {name:<13}{size / 1e6:8.1f} MB")

    assert above <= LIMIT_MB * 1e6
    assert layers == sorted(layers, reverse=True)


def test_answers_with_everything_taken_away(image: str) -> None:
    """Read-only, no network, a random user, one processor, no shared memory, nothing in /sys."""
    with running(image, *HARDENED, "--ipc", "none", "--tmpfs", "/sys:ro") as container:
        answer = container.invoke(CAPITAL)
        seen = docker("exec", container.identity, "sh", "-c", "ls /dev/shm /sys 2>&1; id -u")

        assert first_token(answer) == "首"
        assert "cannot access '/dev/shm'" in seen
        assert seen.endswith("12345")


def test_http_event_answers_with_everything_taken_away(image: str) -> None:
    """FastAPI writes nothing either."""
    event = json.loads(Path("infra/events/http-api.json").read_text(encoding="utf-8"))
    with running(image, *HARDENED) as container:
        answer = container.invoke(event)

        assert answer["statusCode"] == 200
        assert first_token(json.loads(answer["body"])) == "首"


def test_init_is_fast(image: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The median of three starts at one processor, as the emulator reports it."""
    durations = []
    for _ in range(3):
        with running(image, *HARDENED) as container:
            container.invoke(CAPITAL)
            durations.append(container.init_ms())
    with capsys.disabled():
        print(f"\ninit at 1 processor: {', '.join(f'{ms:.0f}' for ms in durations)} ms")

    assert statistics.median(durations) < INIT_MS


def test_too_little_memory_ends_the_runtime_not_the_container(image: str) -> None:
    """The kernel kills the function, and the emulator answers 502 and goes on."""
    with running(image, "--network", "none", "--memory", "32m", "--memory-swap", "32m") as container:
        answer = container.invoke(CAPITAL)

        assert "results" not in answer
        assert "signal: killed" in container.logs()
        assert docker("inspect", "--format", "{{.State.Running}}", container.identity) == "true"


def test_too_little_time_is_refused_before_it_runs_out(image: str) -> None:
    """A large batch with a second to go raises an error of ours, which Lambda retries; it is not cut off."""
    texts = [f"{'春眠不觉晓，处处闻啼鸟。' * 8}第{number}[MASK]。" for number in range(250)]
    with running(image, "--network", "none", "--env", "AWS_LAMBDA_FUNCTION_TIMEOUT=2") as container:
        container.invoke(CAPITAL)
        answer = container.invoke({"texts": texts})

        assert answer["errorType"] == "DeadlineNearError"


def test_no_time_at_all_is_cut_off(image: str) -> None:
    """A start that takes longer than the timeout ends as on Lambda."""
    options = ("--network", "none", "--cpus", "0.1", "--env", "AWS_LAMBDA_FUNCTION_TIMEOUT=1")
    with running(image, *options) as container:
        answer = container.invoke(CAPITAL)

        assert "timed out" in json.dumps(answer)


def test_holds_only_what_it_runs(image: str) -> None:
    """No training stack, no compiler, no tests; all compiled; readable for every user and writable for none."""
    script = """
import json, os, stat
root, bad_modes, uncompiled, names = "/var/task", [], [], set()
for folder, folders, files in os.walk(root):
    for name in folders + files:
        path = os.path.join(folder, name)
        mode = os.stat(path).st_mode
        readable = 0o005 if stat.S_ISDIR(mode) else 0o004
        if mode & readable != readable or mode & 0o022:
            bad_modes.append(path)
    for name in files:
        cached = os.path.join(folder, "__pycache__", name[:-3] + ".cpython-313.pyc")
        if name.endswith(".py") and not os.path.exists(cached):
            uncompiled.append(os.path.join(folder, name))
    names |= {os.path.relpath(os.path.join(folder, name), root) for name in folders + files}
print(json.dumps([bad_modes, uncompiled, sorted(names)]))
"""
    bad_modes, uncompiled, names = json.loads(docker("run", "--rm", "--entrypoint", "python3", image, "-c", script))
    top = {name.split("/")[0] for name in names}

    assert bad_modes == []
    assert uncompiled == []
    assert top.isdisjoint({"torch", "transformers", "onnx", "tests", "export", "pip", "setuptools", "huggingface_hub"})
    assert not any("/tests/" in name for name in names)
    assert {"dynamodb", "sqs"} <= {name.split("/")[2] for name in names if name.startswith("botocore/data/")}


def test_variables_are_set(image: str) -> None:
    """Telemetry of the runtime is off before anything is imported; no bytecode is written at run time."""
    variables = docker("image", "inspect", "--format", "{{json .Config.Env}}", image)

    assert {"ORT_DISABLE_TELEMETRY=1", "PYTHONDONTWRITEBYTECODE=1", "PYTHONNOUSERSITE=1"} <= set(json.loads(variables))


def test_another_model_is_one_argument(image: str, project: Path) -> None:
    """A folder of the context takes the place of the embedded model, and only its layer is new."""
    other = project / "build" / "model-other"
    shutil.copytree(project / "layers" / "model", other)
    manifest = json.loads((other / "manifest.json").read_text(encoding="utf-8"))
    (other / "manifest.json").write_text(json.dumps({**manifest, "name": "another"}), encoding="utf-8")
    docker(
        "build", "--quiet", "--file", "layers/Dockerfile", "--build-arg", "MODEL=build/model-other",
        "--tag", "tiankong:test-other", ".", folder=project, limit_s=120,
    )  # fmt: skip
    with running("tiankong:test-other", *HARDENED) as container:
        assert container.invoke(CAPITAL)["model"]["name"] == "another"


def test_terminal_of_the_image_answers(image: str) -> None:
    """`docker run` in one line, without the emulator."""
    seen = docker(
        "run", "--rm", "--network", "none", "--entrypoint", "python3", image, "-m", "handler", CAPITAL["text"]
    )

    assert "北京是中国的首都。" in seen
