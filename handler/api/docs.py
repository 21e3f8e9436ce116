"""The documentation, with every asset from this function: nothing is loaded from elsewhere."""

from __future__ import annotations

from functools import cache
from html import escape
from importlib.resources import files
from typing import Final

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from handler.api.errors import json_response
from handler.api.pages import file_response, page

router = APIRouter()

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


async def documentation(request: Request) -> Response:
    """Swagger UI, reading our schema."""
    root = request.scope.get("root_path", "")
    return page(request, _DOCS.format(root=escape(root, quote=True)))


async def schema(request: Request) -> Response:
    """The OpenAPI document, with the address that it was asked under."""
    root = request.scope.get("root_path", "")
    return json_response({**request.app.openapi(), "servers": [{"url": root or "/"}]})


async def asset(request: Request) -> Response:
    """A script or style of the documentation."""
    name = request.path_params["name"]
    if name not in _ASSETS:
        raise HTTPException(404)
    return file_response(request, _asset(name), _ASSETS[name][2], cache_control="public, max-age=86400")


for path, endpoint in (("/docs", documentation), ("/openapi.json", schema), ("/docs/{name}", asset)):
    router.add_route(path, endpoint, methods=["GET"], include_in_schema=False)  # a plain route answers HEAD too


@cache
def _asset(name: str) -> bytes:
    package, path, _ = _ASSETS[name]
    return files(package).joinpath(path).read_bytes()
