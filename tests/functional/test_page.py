"""The page's files as the function serves them; what the page does is tested in a browser (tests/web)."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from urllib.parse import urljoin

import pytest

from handler.entry import Function
from tests.functional.conftest import FunctionFactory
from tests.support.events import Context, Event, Reply, function_url, http_v2, reply, rest_v1
from tests.support.processes import ROOT, python

ASSETS = sorted(path.name for path in (ROOT / "handler" / "web" / "dist" / "assets").iterdir())
ESCAPES = [
    *("/assets/../index.html", "/assets/..%2findex.html", "/assets/%2e%2e/index.html", "/assets/..%5cindex.html"),
    *("/assets//etc/passwd", "/assets/....//....//etc/passwd", "/assets/%2fetc%2fpasswd", "/assets/index.html"),
    *("/assets/", "/assets", "/assets/.", "/assets/..", "/assets/%00", "/assets/a\x00.js", "/assets/" + "a" * 5000),
    *("/index.html", "/dist/index.html", "/web/dist/index.html", "/handler/entry.py", "/src/main.tsx", "/package.json"),
]


def get(function: Function, path: str, **headers: str) -> Reply:
    """Open one address of an HTTP API."""
    return reply(function(http_v2(path, method="GET", headers=headers), Context()))


def addresses(page: Reply) -> list[str]:
    """Return what a page asks for, but for its icon."""
    return [each for each in re.findall(r'(?:src|href)="([^"]*)"', page.text) if each != "data:,"]


def test_page_is_under_the_policy_and_asked_for_anew(function: Function) -> None:
    """Nothing inline, nothing from elsewhere, in no frame; a new release shows at once."""
    page = get(function, "/")

    policy = page.headers["content-security-policy"]

    assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert page.headers["cache-control"] == "no-cache"
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["referrer-policy"] == "no-referrer"
    assert not re.search(r"<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=", page.text)


def test_documentation_is_under_the_same_policy(function: Function) -> None:
    """One policy for every page."""
    assert (
        get(function, "/docs").headers["content-security-policy"]
        == (get(function, "/").headers["content-security-policy"])
    )


def test_page_is_revalidated(function: Function) -> None:
    """Who has the page learns that it is the same without getting it again."""
    page = get(function, "/")

    again = get(function, "/", **{"if-none-match": page.headers["etag"]})

    assert (again.status, again.text, again.headers["etag"]) == (304, "", page.headers["etag"])
    assert "content-security-policy" in again.headers


@pytest.mark.parametrize("name", ASSETS)
def test_asset_is_kept_for_good(name: str, function: Function) -> None:
    """A name holds the hash of its content, so a browser never asks twice."""
    asset = get(function, f"/assets/{name}")

    kinds = {".js": "text/javascript", ".css": "text/css", ".txt": "text/plain"}
    assert re.fullmatch(r"[a-z]+-[\w-]{8}\.(js|css|txt)", name)
    assert (asset.status, asset.headers["content-type"]) == (200, f"{kinds[Path(name).suffix]}; charset=utf-8")
    assert asset.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert asset.headers["x-content-type-options"] == "nosniff"
    assert get(function, f"/assets/{name}", **{"if-none-match": asset.headers["etag"]}).status == 304


@pytest.mark.parametrize("path", ["/", *(f"/assets/{name}" for name in ASSETS)])
def test_head_has_the_headers_and_no_body(path: str, function: Function) -> None:
    """HEAD tells what GET would send."""
    whole = get(function, path)

    head = reply(function(http_v2(path, method="HEAD"), Context()))

    assert (head.status, head.text) == (200, "")
    assert head.headers["etag"] == whole.headers["etag"]
    assert head.headers["content-length"] == str(len(whole.text.encode()))


@pytest.mark.parametrize("path", ESCAPES)
def test_nothing_but_the_assets_is_served(path: str, function: Function) -> None:
    """No path leads out of the folder or to a file that is no asset of the page."""
    answer = get(function, path)

    assert answer.status == 404
    assert answer.json["error"]["type"] == "not_found"


def at_stage(path: str) -> Event:
    """Open an address of a REST API whose stage stands before the path that it passes on."""
    event = rest_v1(path.removeprefix("/prod") or "/", method="GET")
    event["requestContext"]["path"] = path
    return event


@pytest.mark.parametrize("asked", ["/prod", "/prod/"])
@pytest.mark.parametrize("kind", ["rest", "http"])
def test_page_finds_its_assets_under_a_stage(asked: str, kind: str, function: Function) -> None:
    """What the page asks for lies under the stage, with and without a slash at the end."""
    build = at_stage if kind == "rest" else lambda path: http_v2(path, method="GET", stage="prod")
    page = reply(function(build(asked), Context()))

    wanted = [urljoin(asked, address) for address in addresses(page)]

    assert wanted
    for address in wanted:
        assert address.startswith("/prod/assets/")
        assert reply(function(build(address), Context())).status == 200


@pytest.mark.parametrize("asked", ["/nlp", "/nlp/"])
def test_page_finds_its_assets_under_a_base_path(asked: str, start: FunctionFactory) -> None:
    """Likewise behind a custom domain's mapping."""
    function = start(base_path="/nlp")
    page = get(function, asked)

    wanted = [urljoin(asked, address) for address in addresses(page)]

    assert wanted
    for address in wanted:
        assert address.startswith("/nlp/assets/")
        assert get(function, address).status == 200


def test_page_of_a_function_url(function: Function) -> None:
    """At the root of a host the addresses are simply the page's own."""
    page = reply(function(function_url("/", method="GET"), Context()))

    assert page.status == 200
    assert all(address.startswith("./assets/") for address in addresses(page))


def test_page_is_small_enough() -> None:
    """What a first visit loads, each file compressed for itself, as a gateway would."""
    built = ROOT / "handler" / "web" / "dist"

    total = sum(len(gzip.compress(path.read_bytes(), 9)) for path in built.rglob("*") if path.is_file())

    assert total <= 120_000


def test_api_never_touches_the_page() -> None:
    """Neither the import of the HTTP door nor an answer of the API reads a file of the page."""
    code = (
        "import sys\n"
        "seen = []\n"
        "sys.addaudithook(lambda name, facts: name in ('open', 'os.listdir', 'os.scandir')"
        " and '/web/' in str(facts[0]) and seen.append(facts[0]))\n"
        "from handler.entry import lambda_handler\n"
        "from tests.support.events import http_v2\n"
        "answer = lambda_handler(http_v2(body={'text': '很[MASK]'}), None)\n"
        "direct = lambda_handler({'text': '很[MASK]'}, None)\n"
        "before = len(seen)\n"
        "lambda_handler(http_v2('/', method='GET'), None)\n"
        "print(answer['statusCode'], len(direct['results']), before, len(seen) > 0)\n"
    )

    done = python("-c", code)

    assert done.stdout.decode().splitlines()[-1:] == ["200 1 0 True"], done.stderr.decode()
