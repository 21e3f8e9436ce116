"""Writes the lock files: complete lists with hashes and without any registry's address.

usage: python -m tests.support.lock            resolve anew (needs uv on the path)
       python -m tests.support.lock --check    see that the lists still cover pyproject.toml (needs nothing)
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RUNTIME = ROOT / "layers" / "runtime" / "requirements.txt"

# tokenizers asks for huggingface-hub, which only Tokenizer.from_pretrained uses: 25 MB that the image need not carry.
# What comes with it and with nothing else is left out too.
NOT_IN_THE_IMAGE = (
    "click", "colorama", "filelock", "fsspec", "h11", "hf-xet", "httpcore2", "httpx2", "httpx2-jsfetch",
    "huggingface-hub", "pyyaml", "tqdm", "truststore",
)  # fmt: skip

# Tools that pin versions which the project's own dependencies exclude, so that each set lives in an environment of its
# own under build/: the SAM CLI with checkov, and the local cloud with what expands a SAM template for it.
TOOLS = {
    ROOT / "locks" / "infra.txt": ("aws-sam-cli==1.170.0", "checkov==3.2.10"),
    ROOT / "locks" / "cloud.txt": ("aws-sam-translator==1.115.0", "docker==7.2.0", "ministack==1.5.33"),
}

LOCKS = {
    RUNTIME: [],
    ROOT / "locks" / "serve.txt": ["--extra", "serve"],
    ROOT / "locks" / "dev.txt": ["--extra", "serve", "--extra", "dev"],
    ROOT / "locks" / "browser.txt": ["--extra", "browser"],
}


def main() -> int:
    """Write or check."""
    if "--check" in sys.argv[1:]:
        return check()
    for path, extras in LOCKS.items():
        if path == RUNTIME:
            extras = [*extras, *(part for name in NOT_IN_THE_IMAGE for part in ("--no-emit-package", name))]
        else:
            extras = [*extras, "--constraint", str(RUNTIME)]
        compile_lock(path, "pyproject.toml", extras)
    for path, requirements in TOOLS.items():
        compile_lock(path, "-", [], "\n".join(requirements))
    return 0


def compile_lock(path: Path, source: str, options: Sequence[str], stdin: str | None = None) -> None:
    """Write one list, from a file of requirements or from standard input."""
    command = ["uv", "pip", "compile", source, "--universal", "--python-version", "3.11", "--quiet"]
    command += ["--generate-hashes", "--no-emit-index-url", "--no-header", "--no-annotate", *options, "-o", str(path)]
    print(f"{path.relative_to(ROOT)} …", flush=True)
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, input=stdin, text=True)


def check() -> int:
    """Return 1, and say why, when a dependency of pyproject.toml is not in the list that should hold it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = {
        RUNTIME: project["dependencies"],
        ROOT / "locks" / "serve.txt": project["dependencies"] + extras["serve"],
        ROOT / "locks" / "dev.txt": project["dependencies"] + extras["serve"] + extras["dev"],
        ROOT / "locks" / "browser.txt": extras["browser"],
        **TOOLS,
    }
    problems = []
    for path, requirements in wanted.items():
        text = path.read_text(encoding="utf-8")
        locked = set(re.findall(r"^([a-z0-9-]+)(?:\[[a-z0-9,-]+\])?==", text, re.MULTILINE))
        for requirement in requirements:
            name = re.split(r"[^A-Za-z0-9_-]", requirement, maxsplit=1)[0].lower().replace("_", "-")
            if name not in locked:
                problems.append(f"{path.relative_to(ROOT)} lacks {name}: run make lock")
        if "://" in text:
            problems.append(f"{path.relative_to(ROOT)} names an address")
    print("\n".join(problems) or "lock files cover pyproject.toml")
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
