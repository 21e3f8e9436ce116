"""How large an answer can become on its way: bounds by which a request is refused before any work."""

from __future__ import annotations

import re
from typing import Final

ENVELOPE_BYTES: Final = 1024  # request id, model, times and brackets
TEXT_BYTES: Final = 256  # the fields of one text, mask or token, without long strings
_PLAIN: Final = re.compile(r"[ !#-\[\]-~]+")  # printable ASCII but for quotes and backslashes


def worst_failure_bytes(text: str) -> int:
    """Return an upper bound of the bytes that a failed text of a batch takes."""
    return worst_string_bytes(text) + 4 * TEXT_BYTES


def worst_string_bytes(text: str) -> int:
    r"""Bound a string's bytes as JSON inside a JSON string.

    Beyond ASCII that is \uXXXX or a pair of them; quotes and backslashes are escaped twice, control characters \\uXXXX.
    """
    other = len(_PLAIN.sub("", text))
    astral = len(text.encode("utf-16-le", "surrogatepass")) // 2 - len(text)  # each is two units of UTF-16
    return len(text) - other + 12 * astral + 7 * (other - astral)
