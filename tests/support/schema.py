"""Writes docs/openapi.json, or with --check compares it with what the application serves."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from handler.api.app import Backend, create_app
from handler.settings import Settings

FILE = Path(__file__).resolve().parents[2] / "docs" / "openapi.json"


def schema() -> dict[str, Any]:
    """Return the OpenAPI document of the application, without a model behind it."""
    backend = Backend(
        service=_no_model,
        limits=Settings().limits(512),
        about=dict,
        observe=lambda _: None,
        fault=lambda _error, _request_id: None,
    )
    document: dict[str, Any] = create_app(backend).openapi()
    return document


def _no_model() -> Any:
    raise AssertionError("the document is made without a model")


def main() -> int:
    """Write or check."""
    text = json.dumps(schema(), ensure_ascii=False, indent=2) + "\n"
    if "--check" in sys.argv[1:]:
        same = FILE.is_file() and FILE.read_text(encoding="utf-8") == text
        print("docs/openapi.json is up to date" if same else "docs/openapi.json differs from the code: run make schema")
        return 0 if same else 1
    FILE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
