"""The tree of errors: complete in the docstring, in both languages, and each with a way to the caller."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pytest

from handler.api.errors import NOT_OVER_HTTP, STATUS, status_of
from handler.core import errors
from handler.core.errors import TiankongError

FACTS: dict[str, Any] = {
    "limit": 4711,
    "what": "an error model",
    "actual": 4712,
    "expected": 4713,
    "problem": "some problem",
    "problem_zh": "某个问题",
}


def subclasses(kind: type[TiankongError]) -> Iterator[type[TiankongError]]:
    """Yield a class of handler.core.errors and all below it."""
    if kind.__module__ == errors.__name__:
        yield kind
        for below in kind.__subclasses__():
            yield from subclasses(below)


ALL = sorted(set(subclasses(TiankongError)), key=lambda kind: kind.__name__)
RAISED = [kind for kind in ALL if not kind.__subclasses__() or kind is errors.ModelUnavailableError]
CALLER_VISIBLE = [kind for kind in RAISED if not issubclass(kind, NOT_OVER_HTTP)]


def drawn_tree() -> dict[str, str | None]:
    """Return each class of the docstring's drawing with the class that it hangs on."""
    parents: dict[str, str | None] = {}
    path: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").split("\n"):
        found = re.match(r"(?P<indent>[| `-]*)(?P<name>[A-Z]\w*Error)\b", line)
        if found is None:
            continue
        depth = len(found["indent"])
        path = [entry for entry in path if entry[0] < depth]
        parents[found["name"]] = path[-1][1] if path else None
        path.append((depth, found["name"]))
    return parents


def test_docstring_draws_the_tree_as_it_is() -> None:
    """Every class stands in the drawing under its own base, and nothing else does."""
    actual = {kind.__name__: None if kind is TiankongError else kind.__mro__[1].__name__ for kind in ALL}

    assert actual == drawn_tree()


@pytest.mark.parametrize("kind", RAISED)
def test_message_states_its_facts_in_both_languages(kind: type[TiankongError]) -> None:
    """Each class has a code and two templates of its own, which say the same facts."""
    names = {part[1] for part in string.Formatter().parse(kind.english) if part[1]}
    names_zh = {part[1] for part in string.Formatter().parse(kind.chinese) if part[1]}
    error = kind(**{name: FACTS[name] for name in names | names_zh})

    assert TiankongError.code != kind.code
    assert re.search("[a-z]", error.message("en"))
    assert re.search("[\u4e00-\u9fff]", error.message("zh")) or "problem" in names_zh
    assert {name.removesuffix("_zh") for name in names_zh} == names
    assert all(str(FACTS[name]) in error.message("en") for name in names)
    assert all(str(FACTS[name]) in error.message("zh") for name in names_zh)
    assert str(error) == error.message("en")


def test_codes_are_shared_only_by_near_relatives() -> None:
    """A caller who acts on a code acts on one kind of fault."""
    alike = [(kind, other) for kind, other in combinations(RAISED, 2) if kind.code == other.code]

    assert [(kind, other) for kind, other in alike if kind.__base__ not in other.__mro__] == []


@pytest.mark.parametrize("kind", CALLER_VISIBLE)
def test_status_of_is_chosen_for_every_caller_visible_error(kind: type[TiankongError]) -> None:
    """No error reaches a caller over HTTP without a status that somebody decided on."""
    error = kind(**FACTS)

    assert any(base in STATUS for base in kind.__mro__)
    assert status_of(error) in STATUS.values()


@pytest.mark.parametrize("kind", NOT_OVER_HTTP)
def test_errors_that_no_http_request_raises_have_no_status(kind: type[TiankongError]) -> None:
    """The list of exceptions excuses nothing that the table names."""
    assert not any(base in STATUS for base in kind.__mro__)


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (errors.NotJsonError, 400),
        (errors.NotUtf8Error, 400),
        (errors.BadBase64Error, 400),
        (errors.BodyTooLargeError, 413),
        (errors.TooManyTextsError, 413),
        (errors.TextTooLongError, 413),
        (errors.AnswerTooLargeError, 413),
        (errors.RequestInvalidError, 422),
        (errors.MaskMissingError, 422),
        (errors.MaskMisspeltError, 422),
        (errors.TooManyMasksError, 422),
        (errors.MasksTooFarApartError, 422),
        (errors.TargetsInvalidError, 422),
        (errors.TopKInvalidError, 422),
        (errors.InferenceError, 500),
        (errors.ArtifactMissingError, 503),
        (errors.ArtifactCorruptError, 503),
        (errors.DeadlineNearError, 503),
    ],
)
def test_status_of_is_the_one_that_the_design_names(kind: type[TiankongError], status: int) -> None:
    """The statuses of docs and design, one by one."""
    assert status == status_of(kind(**FACTS))


def test_status_of_an_unforeseen_error_is_500() -> None:
    """What has no place in the table is our fault."""
    assert status_of(TiankongError()) == 500
