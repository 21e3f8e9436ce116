"""The language part from a terminal: joint fillings in the table, and cloze exercises."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from handler import __main__ as command
from handler import entry
from tests.functional.conftest import FunctionFactory
from tests.support.language import artifact_with_language

POEM = "床前明月光，疑是地上霜。举头望明月，低头思故乡。"


@pytest.fixture
def run(
    start: FunctionFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Any:
    """Run the command on an artifact with a lexicon; return the exit code and what it printed."""
    monkeypatch.setattr(entry, "lambda_handler", start(model_dir=artifact_with_language(tmp_path)))

    capsys.readouterr()  # what the start logged

    def call(*arguments: str) -> tuple[int, str]:
        code = command.main(list(arguments))
        return code, capsys.readouterr().out

    return call


def test_table_shows_the_joint_filling_first(run: Any) -> None:
    """守株 and two blanks: the whole idiom stands above the lists for each blank."""
    code, printed = run("守株[MASK][MASK]")

    assert code == 0
    assert printed.splitlines()[1].split()[0] == "待兔"
    assert "守株待兔" in printed.splitlines()[1]


def test_cloze_prints_questions_choices_and_a_key(run: Any) -> None:
    """Each exercise that is printed has four choices, one of them the hidden character, named by the key."""
    code, printed = run(POEM, "--cloze", "--blanks", "2", "--json")
    sheet = json.loads(printed)
    question = sheet["question"]

    assert code == 0
    for exercise in sheet["exercises"]:
        assert exercise["choices"][exercise["key"]] == exercise["answer"] == POEM[exercise["start"]]
        assert len(set(exercise["choices"].values())) == 4
        question = question.replace(f"（{exercise['number']}）", exercise["answer"])
    assert question == POEM
    assert len(sheet["exercises"]) <= 2


def test_cloze_table_says_what_the_json_says(run: Any) -> None:
    """The same exercises, for people."""
    _, as_json = run(POEM, "--cloze", "--json")
    code, printed = run(POEM, "--cloze")
    sheet = json.loads(as_json)

    assert code == 0
    assert printed.splitlines()[0] == sheet["question"]
    for exercise in sheet["exercises"]:
        assert f"{exercise['number']}. {exercise['key']} {exercise['answer']}" in printed


def test_cloze_of_a_text_without_chinese_asks_nothing(run: Any) -> None:
    """Where there is nothing to ask, the command says so and prints the text."""
    code, printed = run("Hello, world!", "--cloze")

    assert code == 0
    assert printed.splitlines()[0] == "Hello, world!"
    assert "No place" in printed


@pytest.mark.parametrize(("text", "error"), [("很[MASK]", "request_invalid"), ("好" * 10_001, "text_too_long")])
def test_cloze_refuses_what_it_cannot_ask_about(run: Any, text: str, error: str) -> None:
    """A text with blanks of its own, or one that is too long, is an error like any other."""
    code, printed = run(text, "--cloze")

    assert code == 1
    assert printed.startswith(error)


@pytest.mark.parametrize("blanks", ["0", "-1", "two", "1.5"])
def test_cloze_refuses_a_number_that_is_none(run: Any, blanks: str) -> None:
    """Misuse of the command line ends with 2."""
    with pytest.raises(SystemExit) as raised:
        run(POEM, "--cloze", "--blanks", blanks)

    assert raised.value.code == 2
