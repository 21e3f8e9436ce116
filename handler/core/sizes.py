"""How large an answer can become on its way: bounds by which a request is refused before any work."""

from __future__ import annotations

from typing import Final

ENVELOPE_BYTES: Final = 1024  # request id, model, times and brackets
TEXT_BYTES: Final = 256  # the fields of one text, mask or token, without long strings


def worst_failure_bytes(text: str) -> int:
    """Return an upper bound of the bytes that a failed text of a batch takes."""
    return worst_string_bytes(text) + 4 * TEXT_BYTES


def worst_string_bytes(text: str) -> int:
    r"""Bound a string's bytes as JSON inside a JSON string.

    Beyond ASCII that is \uXXXX or a pair of them; quotes and backslashes are escaped twice, control characters \\uXXXX.
    """
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return len(text)
    astral = sum(character > "\uffff" for character in text)
    plain = sum(" " <= character <= "~" and character not in '"\\' for character in text)
    return plain + 12 * astral + 7 * (len(text) - plain - astral)
