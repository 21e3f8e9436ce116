"""The language of messages: what Accept-Language prefers of the two that we speak."""

from __future__ import annotations

from starlette.requests import Request

from handler.core.errors import Language


def language_of(request: Request) -> Language:
    """Return the language preferred; English where the header is absent, unreadable or names neither."""
    best: Language = "en"
    best_weight = 0.0
    for part in request.headers.get("accept-language", "").split(","):
        tag, _, parameters = part.partition(";")
        weight = _weight(parameters)
        primary = tag.strip().lower().partition("-")[0]
        if weight > best_weight and primary in {"zh", "en"}:
            best, best_weight = ("zh" if primary == "zh" else "en"), weight
    return best


def _weight(parameters: str) -> float:
    name, _, value = parameters.strip().partition("=")
    if name.strip() != "q":
        return 1.0
    try:
        return float(value)
    except ValueError:
        return 0.0
