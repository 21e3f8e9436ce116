"""The documentation: ours to the last byte, under a strict policy, true to what the routes do."""

from __future__ import annotations

import re
from typing import Any

import pytest

from handler.entry import Function
from tests.support.events import Context, Reply, http_v2, reply

ASSETS = ["/docs/swagger-ui-bundle.js", "/docs/swagger-ui.css", "/docs/start.js"]


def get(function: Function, path: str, **headers: str) -> Reply:
    """Open one address."""
    return reply(function(http_v2(path, method="GET", headers=headers), Context()))


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_page_loads_nothing_from_elsewhere(path: str, function: Function) -> None:
    """No address in the page has a host, so nothing comes from a CDN."""
    page = get(function, path)

    addresses = re.findall(r'(?:src|href|data-schema)="([^"]*)"', page.text)

    assert addresses
    assert all(address.startswith(("/", "./")) or address == "data:," for address in addresses)
    assert not any(address.startswith("//") for address in addresses)
    assert "http" not in page.text


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_page_has_a_policy_without_inline_scripts(path: str, function: Function) -> None:
    """Scripts run from our own files only, and the page has none inside."""
    page = get(function, path)

    policy = page.headers["content-security-policy"]

    assert "default-src 'none'" in policy
    assert "'unsafe-inline'" not in policy.replace("style-src 'self' 'unsafe-inline'", "")
    assert not re.search(r"<script(?![^>]*\ssrc=)|\son\w+=", page.text)


@pytest.mark.parametrize("path", ASSETS)
def test_asset_is_served_and_revalidated(path: str, function: Function) -> None:
    """Scripts and styles come with their type and a tag; the same tag gets 304 without a body."""
    whole = get(function, path)

    assert whole.status == 200
    assert len(whole.text) > 100
    assert whole.headers["content-type"].startswith("text/css" if path.endswith(".css") else "text/javascript")
    for condition in (whole.headers["etag"], f"W/{whole.headers['etag']}", f'"x", {whole.headers["etag"]}', "*"):
        again = get(function, path, **{"if-none-match": condition})
        assert (again.status, again.text) == (304, "")
        assert again.headers["etag"] == whole.headers["etag"]
    assert get(function, path, **{"if-none-match": '"x"'}).status == 200


def test_every_asset_of_the_page_exists(function: Function) -> None:
    """What the page asks for is there."""
    for address in re.findall(r'(?:src|href|data-schema)="(/[^"]*)"', get(function, "/docs").text):
        assert get(function, address).status == 200


def test_schema_describes_every_route_and_its_errors(function: Function) -> None:
    """The document names the routes that people call, with the one error body."""
    schema = get(function, "/openapi.json").json

    assert {"/v1/fill-mask", "/predict", "/hf/fill-mask", "/v1/model", "/healthz"} <= set(schema["paths"])
    for path in ("/v1/fill-mask", "/predict", "/hf/fill-mask"):
        responses = schema["paths"][path]["post"]["responses"]
        assert {"200", "400", "413", "422", "500", "503"} <= set(responses)
        assert responses["422"]["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/Error"}


def test_schema_has_no_dangling_reference(function: Function) -> None:
    """Every reference leads to a part of the document itself."""
    schema = get(function, "/openapi.json").json

    def references(value: Any) -> list[str]:
        if isinstance(value, dict):
            own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
            return own + [found for part in value.values() for found in references(part)]
        return [found for part in value for found in references(part)] if isinstance(value, list) else []

    found = references(schema)

    assert found
    for reference in found:
        part = schema
        for name in reference.removeprefix("#/").split("/"):
            part = part[name]
