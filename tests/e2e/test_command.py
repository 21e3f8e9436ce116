"""The command line: the same door from a terminal, in any encoding, and through make."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping

import psutil
import pytest

from handler.__main__ import DEFAULT_TEXT
from handler.examples import EXAMPLES
from tests.support.emulator import BINARY
from tests.support.events import TEXT
from tests.support.processes import ROOT, python

ODD = "价$100\"好#[MASK]\\`date` $(date) '%s' ;&|<>*?~!{}"


def command(
    *arguments: str, stdin: bytes = b"", environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run the command."""
    return python("-m", "handler", *arguments, stdin=stdin, environment=environment)


def test_table_shows_candidates_and_times() -> None:
    """Five lines of candidates with their certainty and the whole text, then where the time went."""
    done = command(TEXT)

    lines = done.stdout.decode().splitlines()
    candidates = [line for line in lines if "%" in line]
    assert (done.returncode, done.stderr.count(b"Traceback")) == (0, 0)
    assert lines[0] == TEXT
    assert len(candidates) == 5
    assert all("今天天气很" in line for line in candidates)
    assert "cold start" in lines[-1]
    assert "model" in lines[-1]


def test_json_is_the_functions_answer() -> None:
    """One line, as the function gives it, and nothing beside it on standard output."""
    done = command("--json", "--top-k", "3", TEXT)

    [line] = done.stdout.decode().splitlines()
    assert TEXT in line
    assert len(json.loads(line)["results"][0]["masks"][0]["candidates"]) == 3


def test_without_a_text_a_handful_is_shown_and_wrong_answers_as_wrong() -> None:
    """Each example with the model's own first answer, judged, and labelled where it is mere memory."""
    done = command()
    asked = command("-", "--json", stdin="\n".join(example.text for example in EXAMPLES).encode())

    answers = [json.loads(line)["results"][0] for line in asked.stdout.decode().splitlines()]
    best = [answer["masks"][0]["candidates"][0] for answer in answers]
    lines = [line for line in done.stdout.decode().splitlines() if "right  [" in line or "expected  [" in line]
    assert done.returncode == 0
    assert len(lines) == len(EXAMPLES)
    for line, example, candidate in zip(lines, EXAMPLES, best, strict=True):
        assert candidate["text"] in line
        assert ("WRONG" in line) == (candidate["token"] not in example.answers)
        assert ("记忆" in line) == example.memory


def test_json_without_a_text_is_one_answer() -> None:
    """Whatever reads JSON gets no examples."""
    done = command("--json")

    [line] = done.stdout.decode().splitlines()
    assert json.loads(line)["results"][0]["text"] == DEFAULT_TEXT


def test_lines_of_standard_input_are_answered_one_by_one() -> None:
    """Empty lines are left out, line ends of any system and a byte order mark are no part of a text."""
    done = command("-", "--json", stdin=b"\xef\xbb\xbf" + f"{TEXT}\r\n\n明天[MASK]\n最后[MASK]".encode())

    answers = [json.loads(line) for line in done.stdout.decode().splitlines()]
    assert done.returncode == 0
    assert [answer["results"][0]["text"] for answer in answers] == [TEXT, "明天[MASK]", "最后[MASK]"]


def test_line_separators_inside_a_text_do_not_end_it() -> None:
    """Only a line feed ends a line: U+2028 and a form feed are characters."""
    done = command("-", "--json", stdin="今天\u2028很\x0c\x85[MASK]\n".encode())

    [answer] = [json.loads(line) for line in done.stdout.decode().split("\n")[:-1]]
    assert answer["results"][0]["text"] == "今天\u2028很\x0c\x85[MASK]"


def test_gbk_on_standard_input_is_told() -> None:
    """A file of another encoding is named as such, and the lines that can be read are answered."""
    done = command("-", "--json", stdin=TEXT.encode("gbk") + b"\n" + TEXT.encode() + b"\n")

    bad, good = map(json.loads, done.stdout.decode().splitlines())
    assert (done.returncode, bad["error"]["type"]) == (1, "not_utf8")
    assert good["results"][0]["text"] == TEXT


@pytest.mark.parametrize("locale", ["C", "POSIX", "zh_CN.GBK"])
def test_any_locale_shows_chinese_or_at_least_does_not_fail(locale: str) -> None:
    """A terminal that says nothing of UTF-8 gets its answer all the same."""
    encoding = "gbk" if locale.endswith("GBK") else "ascii"

    done = command(TEXT + "🐶", environment={"LC_ALL": locale, "PYTHONIOENCODING": encoding})

    assert (done.returncode, done.stderr.count(b"Traceback")) == (0, 0)
    assert ("今天天气很" if encoding == "gbk" else "?????[MASK]") in done.stdout.decode(encoding)


def test_json_is_utf8_whatever_the_locale() -> None:
    """A program reads it, so a locale has no say."""
    done = command("--json", TEXT + "🐶", environment={"PYTHONIOENCODING": "gbk"})

    assert json.loads(done.stdout.decode())["results"][0]["text"] == TEXT + "🐶"


@pytest.mark.parametrize(
    ("arguments", "environment", "code", "told"),
    [
        (["没有"], {}, 1, "mask_missing"),
        (["--top-k", "0", TEXT], {}, 1, "top_k_invalid"),
        (["--top-k", "many", TEXT], {}, 2, "invalid int value"),
        (["--nonsense"], {}, 2, "unrecognized arguments"),
        ([TEXT], {"TIANKONG_MAX_TEXTS": "0"}, 2, "TIANKONG_MAX_TEXTS must be a whole number"),
        ([TEXT], {"TIANKONG_MODEL_DIR": "/nonexistent"}, 1, "model_unavailable"),
    ],
)
def test_exit_code_tells_what_was_wrong(
    arguments: list[str], environment: Mapping[str, str], code: int, told: str
) -> None:
    """0 for answers, 1 for a text that has none, 2 for misuse; always a message, never a stack trace."""
    done = command(*arguments, environment=environment)

    said = (done.stdout + done.stderr).decode()
    assert done.returncode == code
    assert told in said
    assert "Traceback" not in said


def test_reader_that_goes_away_is_no_fault() -> None:
    """``python -m handler - | head -1`` ends without a stack trace."""
    script = 'exec "$0" -m handler - --json | head -n 1'
    stdin = f"{TEXT}\n".encode() * 3_000

    done = subprocess.run(
        ["sh", "-c", script, sys.executable],
        cwd=ROOT,
        input=stdin,
        capture_output=True,
        timeout=60,
        check=False,
    )

    assert json.loads(done.stdout)["results"]
    assert b"Traceback" not in done.stderr
    assert b"BrokenPipe" not in done.stderr


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
@pytest.mark.parametrize("text", [ODD, TEXT, "a b  [MASK]  c", "$(HOME)[MASK]", "$$x[MASK]"])
def test_make_run_passes_a_text_intact(text: str) -> None:
    """Neither make nor a shell touches a character, whatever the text holds."""
    stamp = ROOT / ".venv" / ".runtime"
    if not stamp.exists():
        pytest.skip("the environment was not made by make: .venv/.runtime is missing")
    make = ["make", "--no-print-directory", "-o", ".venv/.runtime", "run", f"TEXT={text}"]

    environment = {name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "MFLAGS"}}

    done = subprocess.run(make, cwd=ROOT, env=environment, capture_output=True, timeout=60, check=False)

    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode().splitlines()[0] == text


def test_emulator_command_prints_its_address_and_stops_at_ctrl_c() -> None:
    """``make emulator`` is this module; it says where to post and leaves nothing behind."""
    if not BINARY.is_file():
        pytest.skip("the emulator is missing: run make build/emulator/rie")
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.emulator"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert process.stdout is not None
    first = [process.stdout.readline().decode() for _ in range(2)]
    family = psutil.Process(process.pid).children(recursive=True)

    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=20)

    assert first[1].strip().startswith("http://127.0.0.1:")
    assert rest.decode().endswith("stopped\n")
    assert process.returncode == 0
    assert family
    assert not any(child.is_running() and child.status() != psutil.STATUS_ZOMBIE for child in family)
