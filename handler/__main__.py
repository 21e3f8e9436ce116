"""The function from a terminal: the same door, with a table instead of JSON.

usage: python -m handler [TEXT | -] [--top-k N] [--json]    without TEXT: one sentence in full, and a handful of others
       python -m handler TEXT --cloze [--blanks N] [--json]
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import sys
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from handler import settings
from handler.core import answers, cloze
from handler.core.errors import NotUtf8Error, RequestInvalidError, TiankongError
from handler.core.text import find_masks, is_unicode
from handler.examples import EXAMPLES

Handler = Callable[[dict[str, Any], Any], dict[str, Any]]

DEFAULT_TEXT: Final = "今天天气真[MASK]啊。"
_ASKED_AT_ONCE: Final = 16  # texts of an exercise in one event
_BAR: Final = 24  # columns of a bar that stands for certainty


def main(arguments: list[str] | None = None) -> int:
    """Answer the texts of the command line; return 0 when every one was answered, 1 when one was not, 2 for misuse."""
    options = _parser().parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # JSON is UTF-8. A table speaks the terminal's encoding, and what that lacks must not end the program.
        encoding = "utf-8" if options.json else sys.stdout.encoding
        sys.stdout.reconfigure(encoding=encoding, errors="replace")
    try:
        return _answer_all(options)
    except BrokenPipeError:  # the reader has seen enough: | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the last flush, at exit, must not fail
        return 1


def _answer_all(options: argparse.Namespace) -> int:
    started = time.perf_counter()
    log = io.StringIO()
    try:
        with contextlib.redirect_stdout(log):  # the function's own lines, which Lambda would collect
            from handler.entry import lambda_handler
    except settings.SettingsError as error:
        print(error, file=sys.stderr)
        return 2
    cold_ms = (time.perf_counter() - started) * 1000
    failed = False
    demonstrating = not (options.text or settings.demo_text() or options.json or options.cloze)
    for text in _texts(options.text):
        with contextlib.redirect_stdout(log):
            try:
                if not is_unicode(text):  # bytes of another encoding, which Python keeps as lone surrogates
                    raise NotUtf8Error
                answer = (
                    _cloze(lambda_handler, text, options) if options.cloze else _fill(lambda_handler, text, options)
                )
            except TiankongError as error:
                answer = answers.render_error(error, "")
        failed |= "error" in answer
        lines = _sheet_lines(answer) if options.cloze else _lines(answer, cold_ms)
        print(json.dumps(answer, ensure_ascii=False) if options.json else "\n".join(lines), flush=True)
        _pass_on_warnings(log.getvalue())
        log.seek(0)
        log.truncate()
    if demonstrating and not failed:
        with contextlib.redirect_stdout(log):
            answer = lambda_handler({"texts": [example.text for example in EXAMPLES], "joint": "off"}, None)
        print("\n" + "\n".join(_example_lines(answer)))
    return 1 if failed else 0


def _example_lines(answer: dict[str, Any]) -> Iterator[str]:
    """Show the best candidate of each example and say whether it is right."""
    if "error" in answer:
        yield from _lines(answer, 0)
        return
    right = 0
    filled = [result["masks"][0]["candidates"][0] for result in answer["results"]]
    width = max(_width(candidate["text"]) for candidate in filled)
    for example, candidate in zip(EXAMPLES, filled, strict=True):
        hit = candidate["token"] in example.answers
        right += hit
        verdict = "对 right" if hit else f"错 WRONG, {'/'.join(example.answers)} expected"
        padding = " " * (width - _width(candidate["text"]))
        yield (
            f"  {candidate['text']}{padding}  {candidate['token']} {candidate['score']:6.1%}  {verdict}  "
            f"[{example.kind}{', 记忆 memory' if example.memory else ''}]"
        )
    yield ""
    yield f"  {right} of {len(EXAMPLES)} right. 记忆 memory: the embedded model's training text has it word for word."


def _fill(handler: Handler, text: str, options: argparse.Namespace) -> dict[str, Any]:
    return handler({"text": text} if options.top_k is None else {"text": text, "top_k": options.top_k}, None)


def _cloze(handler: Handler, text: str, options: argparse.Namespace) -> dict[str, Any]:
    """Return a sheet of exercises as JSON, or the function's error."""
    if find_masks(text):
        raise RequestInvalidError(
            problem="A text for exercises has no blanks of its own.", problem_zh="用来出题的文本不应含有 [MASK]。"
        )
    top_k = min(cloze.ASKED_TOP_K, settings.load().max_top_k)
    places, candidates = cloze.askable(text), {}
    for start in range(0, len(places), _ASKED_AT_ONCE):
        asked = places[start : start + _ASKED_AT_ONCE]
        texts = [cloze.with_blank(text, at) for at in asked]
        answer = handler({"texts": texts, "top_k": top_k, "joint": "off"}, None)
        for at, result in zip(asked, answer.get("results", [answer]), strict=False):
            if "error" in result:
                return {"error": result["error"]}
            [mask] = result["masks"]
            candidates[at] = [(candidate["token"], candidate["score"]) for candidate in mask["candidates"]]
    return cloze.make_sheet(text, candidates, options.blanks).facts()


def _sheet_lines(sheet: dict[str, Any]) -> Iterator[str]:
    if "error" in sheet:
        yield f"{sheet['error']['type']}: {sheet['error']['message']}"
        return
    yield sheet["question"]
    for each in sheet["exercises"]:
        yield ""
        yield f"  {each['number']}.  " + "   ".join(f"{key}. {choice}" for key, choice in each["choices"].items())
    yield ""
    key = "  ".join(f"{each['number']}. {each['key']} {each['answer']}" for each in sheet["exercises"])
    yield f"答案 / key: {key}" if key else "No place in this text makes a fair question for this model."


def _blanks(value: str) -> int:
    if not value.isdecimal() or int(value) < 1:
        raise argparse.ArgumentTypeError("a whole number from 1")
    return int(value)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m handler", description="Fill the blanks of Chinese texts with the real Lambda handler."
    )
    parser.add_argument("text", nargs="?", metavar="TEXT", help="a text with [MASK] in it; - reads one a line")
    parser.add_argument("--top-k", type=int, metavar="N", help="candidates for each blank")
    parser.add_argument("--cloze", action="store_true", help="make exercises of a text without blanks")
    parser.add_argument("--blanks", type=_blanks, default=3, metavar="N", help="exercises for each text; 3")
    parser.add_argument("--json", action="store_true", help="print the answer as the function gives it, one a line")
    return parser


def _texts(argument: str | None) -> Iterator[str]:
    if argument == "-":
        lines = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8-sig", errors="surrogateescape", newline="\n")
        yield from (line for line in (raw.rstrip("\r\n") for raw in lines) if line)
    else:
        yield argument or settings.demo_text() or DEFAULT_TEXT


def _lines(answer: dict[str, Any], cold_ms: float) -> Iterator[str]:
    if "error" in answer:
        yield f"{answer['error']['type']}: {answer['error']['message']}"
        return
    result, timing = answer["results"][0], answer["timing_ms"]
    yield result["text"] + ("  (cut to a window around the blanks)" if result["truncated"] else "")
    for filling in result["joint"]:
        share = filling.get("lexicon_score", filling["score"])
        yield f"  {''.join(filling['tokens'])}  {share:6.1%}  {filling['text']}  ({filling['source']})"
    for mask in result["masks"]:
        yield ""
        if len(result["masks"]) > 1:
            yield f"  [MASK] {mask['index'] + 1}"
        width = max((_width(candidate["token"]) for candidate in mask["candidates"]), default=0)
        for candidate in mask["candidates"]:
            bar = "█" * round(candidate["score"] * _BAR)
            padding = " " * (width - _width(candidate["token"]))
            yield f"  {candidate['token']}{padding}  {candidate['score']:6.1%}  {bar:<{_BAR}}  {candidate['text']}"
    yield ""
    yield (
        f"{answer['model']['name']}: cold start {cold_ms:.0f} ms (imports, model, first run), "
        f"answer {timing['total']:.1f} ms (model {timing['run']:.1f} ms)"
    )


def _width(text: str) -> int:
    """Return the terminal columns that a text takes: two for East Asian wide characters."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def _pass_on_warnings(log: str) -> None:
    for line in _json_lines(log.splitlines()):
        if line["level"] != "INFO":
            facts = {name: value for name, value in line.items() if name not in {"level", "time", "message"}}
            print(
                f"{line['level'].lower()}: {line['message']} {json.dumps(facts, ensure_ascii=False)}", file=sys.stderr
            )


def _json_lines(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    for line in lines:
        with contextlib.suppress(ValueError):
            yield json.loads(line)


if __name__ == "__main__":
    raise SystemExit(main())
