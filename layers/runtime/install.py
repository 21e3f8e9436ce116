"""Puts the locked dependencies, or code, into the image: installs, trims, compiles, sets file modes.

Runs inside the image's build stages with the standard library alone, because the base image has neither find nor a
compiler, and a COPY keeps whatever modes the builder's umask left.

usage: install.py FOLDER TARGET       install FOLDER/requirements.txt into TARGET, from FOLDER/wheels where it exists
       install.py --compile TARGET    compile what is in TARGET and set its modes
       install.py --modes-of TARGET   set its modes only
"""

from __future__ import annotations

import compileall
import py_compile
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Final

# Services whose descriptions botocore must have; those of some four hundred others are 20 MB.
SERVICES: Final = frozenset({"dynamodb", "sqs", "sts", "sso", "sso-oidc", "signin"})
# Parts of packages that no request reaches: tests, compilers' headers, model converters.
UNUSED: Final = (
    "bin",
    "share",
    "numpy/_core/include",
    "numpy/_core/lib",
    "numpy/_pyinstaller",
    "numpy/f2py",
    "numpy/distutils",
    "numpy/typing/tests",
    "onnxruntime/backend",
    "onnxruntime/datasets",
    "onnxruntime/quantization",
    "onnxruntime/tools",
    "onnxruntime/transformers",
    "boto3/examples",
    "boto3/data",
)
UNUSED_NAMES: Final = frozenset({"tests", "__pycache__"})
UNUSED_SUFFIXES: Final = frozenset({".pyi", ".a", ".pxd", ".h", ".hpp", ".c"})


def main(arguments: list[str]) -> int:
    """Do what the first argument says."""
    if arguments[0] == "--modes-of":
        set_modes(Path(arguments[1]))
        return 0
    if arguments[0] == "--compile":
        target = Path(arguments[1])
    else:
        target = Path(arguments[1])
        install(Path(arguments[0]), target)
        trim(target)
    compile_all(target)
    set_modes(target)
    return 0


def install(source: Path, target: Path) -> None:
    """Install exactly what the lock lists; nothing is resolved and nothing without its hash gets in."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-cache-dir", "--disable-pip-version-check"]
    command += ["--root-user-action=ignore", "--require-hashes", "--no-deps", "--only-binary", ":all:", "--no-compile"]
    command += ["--target", str(target), "-r", str(source / "requirements.txt")]
    wheels = source / "wheels"
    if wheels.is_dir():
        command += ["--no-index", "--find-links", str(wheels)]
    subprocess.run(command, check=True)  # noqa: S603 - pip, with our own arguments


def trim(target: Path) -> None:
    """Remove what no request reaches."""
    for name in UNUSED:
        shutil.rmtree(target / name, ignore_errors=True)
    for folder in [path for path in target.rglob("*") if path.name in UNUSED_NAMES and path.is_dir()]:
        shutil.rmtree(folder, ignore_errors=True)
    for path in target.rglob("*"):
        if path.suffix in UNUSED_SUFFIXES and path.is_file():
            path.unlink()
    for path in (target / "botocore" / "data").iterdir():
        if path.is_dir() and path.name not in SERVICES:
            shutil.rmtree(path)


def compile_all(target: Path) -> None:
    """Compile once, here: the file system is read-only later, so that each cold start would compile again.

    Unchecked, since nothing in an image changes: Python need not even look at the sources' dates.
    """
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    if not compileall.compile_dir(target, maxlevels=30, quiet=1, invalidation_mode=mode, workers=1):
        raise SystemExit("some file does not compile")


def set_modes(target: Path) -> None:
    """Let every user read, and enter folders: Lambda and hardened engines run the image as a user of their own."""
    for path in (target, *target.rglob("*")):
        mode = path.stat().st_mode
        executable = stat.S_ISDIR(mode) or mode & stat.S_IXUSR
        path.chmod(0o755 if executable else 0o644)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
