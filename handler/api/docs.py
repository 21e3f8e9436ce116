"""The documentation, with every asset from this function: nothing is loaded from elsewhere."""

from __future__ import annotations

import hashlib
from functools import cache
from html import escape
from importlib.resources import files
from typing import Final

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from handler.api.errors import json_response

router = APIRouter()

# Pages run our own scripts and styles only. Swagger UI sets style attributes and has its icons as data URLs.
CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_PAGE_HEADERS: Final = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}

# Swagger UI itself comes from the fastapi-swagger package, which carries its release and nothing else.
_ASSETS: Final = {
    "swagger-ui-bundle.js": ("fastapi_swagger", "resources/swagger-ui-bundle.js", "text/javascript"),
    "swagger-ui.css": ("fastapi_swagger", "resources/swagger-ui.css", "text/css"),
    "start.js": ("handler.api", "assets/docs.js", "text/javascript"),
}

_DOCS: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tiankong 填空: API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="{root}/docs/swagger-ui.css">
</head>
<body>
<div id="documentation" data-schema="{root}/openapi.json"></div>
<script src="{root}/docs/swagger-ui-bundle.js"></script>
<script src="{root}/docs/start.js"></script>
</body>
</html>
"""

_HOME: Final = """<!doctype html>
<html lang="zh-CN">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>填空 Tiankong</title>
<link rel="icon" href="data:,">
</head>
<body>
<h1>填空 Tiankong</h1>
<p>中文完形填空服务。向 <code>{root}/v1/fill-mask</code> POST <code>{{"text": "今天天气很[MASK]。"}}</code>。</p>
<p>Chinese fill-in-the-blank: POST the same to the same address.</p>
<p><a href="{root}/docs">接口文档 API documentation</a></p>
</body>
</html>
"""


async def home(request: Request) -> Response:
    """The start page."""
    return _page(_HOME, request)


async def documentation(request: Request) -> Response:
    """Swagger UI, reading our schema."""
    return _page(_DOCS, request)


async def schema(request: Request) -> Response:
    """The OpenAPI document, with the address that it was asked under."""
    root = request.scope.get("root_path", "")
    return json_response({**request.app.openapi(), "servers": [{"url": root or "/"}]})


async def asset(request: Request) -> Response:
    """A script or style of the documentation."""
    name = request.path_params["name"]
    if name not in _ASSETS:
        raise HTTPException(404)
    content, etag = _asset(name)
    headers = {"ETag": etag, "Cache-Control": "public, max-age=86400", "X-Content-Type-Options": "nosniff"}
    if _matches(request.headers.get("if-none-match", ""), etag):
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type=_ASSETS[name][2])


for path, endpoint in (("/", home), ("/docs", documentation), ("/openapi.json", schema), ("/docs/{name}", asset)):
    router.add_route(path, endpoint, methods=["GET"], include_in_schema=False)  # a plain route answers HEAD too


@cache
def _asset(name: str) -> tuple[bytes, str]:
    package, path, _ = _ASSETS[name]
    content = files(package).joinpath(path).read_bytes()
    return content, f'"{hashlib.sha256(content).hexdigest()[:16]}"'


def _matches(condition: str, etag: str) -> bool:
    """Compare as RFC 9110 asks for If-None-Match: any of a list, and weakly, since a proxy that compresses weakens."""
    return any(tag.strip().removeprefix("W/") in (etag, "*") for tag in condition.split(","))


def _page(template: str, request: Request) -> Response:
    root = request.scope.get("root_path", "")
    return Response(template.format(root=escape(root, quote=True)), headers=_PAGE_HEADERS, media_type="text/html")
