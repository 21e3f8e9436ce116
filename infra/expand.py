"""Writes a SAM template as the CloudFormation template that SAM makes of it.

`sam local start-api` looks for plain API Gateway resources in plain templates only, and the tests look at what is
really deployed. Needs aws-sam-translator (build/sam-venv or build/cloud-venv).

usage: python infra/expand.py TEMPLATE [OUTPUT]    with OUTPUT, for the local API: without authorization
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

_PLACEHOLDER = "123456789012.dkr.ecr.eu-central-1.amazonaws.com/tiankong:placeholder"


def expand(path: Path) -> dict[str, Any]:
    """Return the expanded template. An image that was not built yet gets a placeholder."""
    os.environ.setdefault("AWS_DEFAULT_REGION", "eu-central-1")
    from samtranslator.translator.transform import transform
    from samtranslator.yaml_helper import yaml_parse

    template = yaml_parse(path.read_text(encoding="utf-8"))
    for resource in template["Resources"].values():
        if resource.get("Properties", {}).get("PackageType") == "Image":
            resource["Properties"].setdefault("ImageUri", _PLACEHOLDER)
    expanded: dict[str, Any] = transform(template, {}, _NoManagedPolicies())
    return expanded


def without_authorization(template: dict[str, Any]) -> dict[str, Any]:
    """Return the template without what the local API cannot evaluate: an authorizer that is there by condition."""
    resources = {
        name: resource
        for name, resource in template["Resources"].items()
        if resource["Type"] != "AWS::ApiGatewayV2::Authorizer" and name != "PreflightRoute"
    }
    for resource in resources.values():
        if resource["Type"] == "AWS::ApiGatewayV2::Route":
            resource["Properties"] |= {"AuthorizationType": "NONE"}
            resource["Properties"].pop("AuthorizerId", None)
    return {**template, "Resources": resources}


class _NoManagedPolicies:
    """Stands for the list of AWS's managed policies, which SAM would ask AWS for; no template here names one."""

    def load(self) -> dict[str, str]:
        """Return none."""
        return {}


if __name__ == "__main__":
    result = expand(Path(sys.argv[1]))
    if len(sys.argv) > 2:
        Path(sys.argv[2]).write_text(json.dumps(without_authorization(result), indent=1), encoding="utf-8")
    else:
        print(json.dumps(result, indent=1))
