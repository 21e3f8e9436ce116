"""The page of handler/web: its built files, each read when first asked for. The API never touches them."""

from __future__ import annotations

import hashlib
from functools import cache
from html import escape
from pathlib import Path
from typing import Final

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from handler.api.paths import given_path

router = APIRouter()

# Pages run our own scripts and styles only; none stands inside a page. Swagger UI has its icons as data URLs.
CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_PAGE_HEADERS: Final = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Referrer-Policy": "no-referrer",
}
_BUILT: Final = Path(__file__).resolve().parents[1] / "web" / "dist"
_TYPES: Final = {".js": "text/javascript", ".css": "text/css", ".txt": "text/plain"}
_FOR_GOOD: Final = "public, max-age=31536000, immutable"  # a name holds the hash of what the file holds


async def home(request: Request) -> Response:
    """The page. Its addresses are relative, so that it works wherever a gateway, a domain or a proxy puts it."""
    given = given_path(request.scope)
    # At /prod, without a slash at the end, ./assets/ would mean /assets/.
    folder = "./" if given.endswith("/") else f"./{given.rpartition('/')[2]}/"
    return page(request, _text("index.html").replace('"./', f'"{escape(folder, quote=True)}'))


async def asset(request: Request) -> Response:
    """A script, style or table of the page."""
    name = request.path_params["name"]
    if name not in _names():  # nothing of a caller's ever becomes a path
        raise HTTPException(404)
    return file_response(request, _bytes(f"assets/{name}"), _TYPES[Path(name).suffix], cache_control=_FOR_GOOD)


router.add_route("/", home, methods=["GET"], include_in_schema=False)  # a plain route answers HEAD too
router.add_route("/assets/{name}", asset, methods=["GET"], include_in_schema=False)


def page(request: Request, html: str) -> Response:
    """Return a page under the policy; a browser asks each time whether it is still the same."""
    response = file_response(request, html.encode("utf-8"), "text/html", cache_control="no-cache")
    response.headers.update(_PAGE_HEADERS)
    return response


def file_response(request: Request, content: bytes, media_type: str, *, cache_control: str) -> Response:
    """Return a file with a tag, or 304 to who has it."""
    etag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
    headers = {"ETag": etag, "Cache-Control": cache_control, "X-Content-Type-Options": "nosniff"}
    if _matches(request.headers.get("if-none-match", ""), etag):
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type=media_type)


def _matches(condition: str, etag: str) -> bool:
    """Compare as RFC 9110 asks for If-None-Match: any of a list, and weakly, since a proxy that compresses weakens."""
    return any(tag.strip().removeprefix("W/") in (etag, "*") for tag in condition.split(","))


@cache
def _names() -> frozenset[str]:
    return frozenset(path.name for path in (_BUILT / "assets").iterdir() if path.suffix in _TYPES)


@cache
def _bytes(name: str) -> bytes:
    return (_BUILT / name).read_bytes()


def _text(name: str) -> str:
    return _bytes(name).decode("utf-8")
