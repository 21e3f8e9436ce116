"""A stand-in for AWS's base image, for machines that cannot pull it: the same tag, entry point, folders and variables.

What it proves and what not: that our Dockerfile and our image work on a base with these conventions. It is not AWS's
image. Its C library and programs are this machine's (Debian's), not Amazon Linux 2023's; its Python is this machine's
build; the runtime client is awslambdaric from PyPI, not AWS's build of it; boto3 is not in it. Times and sizes measured
on it are those of our layers and our code, not of AWS's image.

A base image of that name that somebody pulled is left alone and used.

usage: python -m tests.support.base_image [--force]    needs DOCKER_HOST or the machine's engine
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from tests.support.engine import DOCKER

ROOT: Final = Path(__file__).resolve().parents[2]
TAG: Final = "public.ecr.aws/lambda/python:3.13"
LABEL: Final = "tiankong.stand-in"
PYTHON: Final = (3, 13)

_PROGRAMS: Final = (
    "sh", "bash", "cat", "chmod", "cp", "env", "id", "ls", "ln", "mkdir", "mv", "rm", "sleep", "touch", "true",
)  # fmt: skip
_LIBRARIES: Final = (  # that wheels expect of every Linux, Lambda included
    "libstdc++.so.6", "libgcc_s.so.1", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libutil.so.1",
)  # fmt: skip
_RUNTIME_CLIENT: Final = ("awslambdaric", "simplejson", "snapshot-restore-py")
_VARIABLES: Final = {
    "LANG": "en_US.UTF-8",
    "TZ": ":/etc/localtime",
    "PATH": "/var/lang/bin:/usr/local/bin:/usr/bin/:/bin:/opt/bin",
    "LD_LIBRARY_PATH": "/var/lang/lib:/lib64:/usr/lib64:/var/runtime:/var/runtime/lib:/var/task:/var/task/lib:/opt/lib",
    "LAMBDA_TASK_ROOT": "/var/task",
    "LAMBDA_RUNTIME_DIR": "/var/runtime",
}
_ENTRY_POINT: Final = """#!/bin/sh
# With a runtime interface (on Lambda, under sam local) only the client; without one the emulator around it.
[ $# -eq 1 ] || { echo 'the handler must be the only argument' >&2; exit 142; }
export _HANDLER="$1"
if [ -n "$AWS_LAMBDA_RUNTIME_API" ]; then exec /var/runtime/bootstrap; fi
exec /usr/local/bin/aws-lambda-rie /var/runtime/bootstrap
"""
_BOOTSTRAP: Final = """#!/bin/sh
export PYTHONPATH="/var/runtime${PYTHONPATH:+:$PYTHONPATH}"
cd "$LAMBDA_TASK_ROOT"
exec /var/lang/bin/python3 -m awslambdaric "$_HANDLER"
"""


def ensure(*, force: bool = False) -> bool:
    """Build the stand-in unless an image of that name is there; return whether the one that is there is a stand-in."""
    seen = subprocess.run(
        [DOCKER, "image", "inspect", "--format", "{{json .Config.Labels}}", TAG],
        capture_output=True,
        text=True,
        check=False,
    )
    if seen.returncode == 0 and not (force and LABEL in seen.stdout):
        return LABEL in seen.stdout
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        _build(root)
        changes = [f"ENV {name}={value}" for name, value in _VARIABLES.items()]
        changes += ["WORKDIR /var/task", 'ENTRYPOINT ["/lambda-entrypoint.sh"]', f"LABEL {LABEL}=yes"]
        command = [DOCKER, "import", *(part for change in changes for part in ("--change", change)), "-", TAG]
        with subprocess.Popen(
            ["tar", "-C", str(root), "--owner=0", "--group=0", "-c", "."], stdout=subprocess.PIPE
        ) as tar:
            subprocess.run(command, stdin=tar.stdout, check=True, stdout=subprocess.DEVNULL)
    return True


def python_prefix() -> Path:
    """Return where this machine has the Python of the base image.

    Raises:
        FileNotFoundError: nowhere.
    """
    version = f"{PYTHON[0]}.{PYTHON[1]}"
    candidates = [sys.executable] if sys.version_info[:2] == PYTHON else []
    candidates += [found for found in (shutil.which(f"python{version}"),) if found]
    candidates += sorted(str(path) for path in Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}"))
    for candidate in candidates:
        try:
            asked = subprocess.run(
                [candidate, "-c", "import sys; print(sys.base_prefix)"], capture_output=True, text=True, check=False
            )
        except OSError:
            continue
        if asked.returncode == 0:
            return Path(asked.stdout.strip())
    raise FileNotFoundError(f"the stand-in base image needs a Python {version} on this machine")


def _build(root: Path) -> None:
    for folder in ("usr/bin", "usr/lib", "usr/lib64", "usr/sbin", "usr/local/bin", "etc/ssl", "tmp", "opt", "root"):
        (root / folder).mkdir(parents=True)
    for folder in ("var/lang", "var/runtime", "var/task", "proc", "sys", "dev", "run", "home"):
        (root / folder).mkdir(parents=True)
    for name in ("bin", "sbin", "lib", "lib64"):
        (root / name).symlink_to(f"usr/{name}")
    (root / "tmp").chmod(0o1777)
    (root / "etc" / "passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
    (root / "etc" / "group").write_text("root:x:0:\n")
    (root / "etc" / "nsswitch.conf").write_text("hosts: files dns\n")
    if Path("/etc/ssl/certs").is_dir():
        shutil.copytree("/etc/ssl/certs", root / "etc" / "ssl" / "certs", symlinks=False, ignore_dangling_symlinks=True)
    programs = [Path(found) for name in _PROGRAMS if (found := shutil.which(name, path="/usr/bin:/bin"))]
    for program in programs:
        shutil.copy2(program, root / "usr" / "bin" / program.name)
    prefix = python_prefix()
    _copy_python(prefix, root / "var" / "lang")
    extensions = list((root / "var" / "lang").rglob("*.so*"))
    _copy_libraries([*programs, prefix / "bin" / f"python{PYTHON[0]}.{PYTHON[1]}", *extensions], prefix, root)
    _install_runtime_client(prefix, root / "var" / "runtime")
    emulator = root / "usr" / "local" / "bin" / "aws-lambda-rie"
    shutil.copy2(ROOT / "build" / "emulator" / "rie", emulator)
    for path, text in ((root / "lambda-entrypoint.sh", _ENTRY_POINT), (root / "var/runtime/bootstrap", _BOOTSTRAP)):
        path.write_text(text)
        path.chmod(0o755)
    subprocess.run(["chmod", "-R", "a+rX", str(root)], check=True)


def _copy_python(prefix: Path, target: Path) -> None:
    version = f"{PYTHON[0]}.{PYTHON[1]}"
    library = Path("lib") / f"python{version}"
    unused = shutil.ignore_patterns("test", "tests", "idlelib", "tkinter", "turtledemo", "config-*", "site-packages")
    shutil.copytree(prefix / library, target / library, ignore=unused)
    packages = target / library / "site-packages"
    packages.mkdir()
    for path in (prefix / library / "site-packages").glob("pip*"):
        shutil.copytree(path, packages / path.name)
    for path in (prefix / "lib").glob("libpython*.so*"):
        shutil.copy2(path, target / "lib" / path.name)
    (target / "bin").mkdir()
    shutil.copy2(prefix / "bin" / f"python{version}", target / "bin" / f"python{version}")
    for name in ("python3", "python"):
        (target / "bin" / name).symlink_to(f"python{version}")


def _copy_libraries(binaries: Iterable[Path], prefix: Path, root: Path) -> None:
    """Copy what the binaries are linked with, each under the path that the loader looks for."""
    known = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    needed = {
        found for name in _LIBRARIES for found in re.findall(rf"=> (/\S*/{re.escape(name)})$", known, re.MULTILINE)
    }
    for binary in binaries:
        seen = subprocess.run(["ldd", str(binary)], capture_output=True, text=True, check=False)
        needed |= set(re.findall(r"(/\S+\.so\S*)", seen.stdout))
    for name in sorted(needed):
        path = Path(name)
        if prefix in path.parents or not path.exists() or root in path.parents:
            continue
        target = root / name.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)


def _install_runtime_client(prefix: Path, target: Path) -> None:
    """Install the runtime client by the hashes of the project's own lock file."""
    entries = re.split(r"\n(?=\S)", (ROOT / "locks" / "dev.txt").read_text(encoding="utf-8"))
    chosen = [entry for entry in entries if re.split(r"[=\[ ]", entry)[0] in _RUNTIME_CLIENT]
    python = str(prefix / "bin" / f"python{PYTHON[0]}.{PYTHON[1]}")
    with tempfile.TemporaryDirectory() as folder:
        lock = Path(folder) / "requirements.txt"
        lock.write_text("\n".join(chosen) + "\n", encoding="utf-8")
        command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes"]
        command += ["--root-user-action=ignore", "--no-deps", "--target", str(target), "-r", str(lock)]
        subprocess.run(command, check=True, stderr=subprocess.PIPE, env={**os.environ, "PYTHONNOUSERSITE": "1"})


if __name__ == "__main__":
    print(TAG, "is a stand-in" if ensure(force="--force" in sys.argv[1:]) else "is AWS's own")
