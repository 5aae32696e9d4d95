"""Validators of answers, from the committed description of the API."""

from __future__ import annotations

import json
from typing import Any

from jsonschema import Draft202012Validator

from launcher import places

OPENAPI = places.REPOSITORY / "backend" / "openapi.json"


def validator(name: str) -> Draft202012Validator:
    """A validator for one schema of the committed API description, as plain JSON Schema."""
    description = json.loads(OPENAPI.read_text(encoding="utf-8"))

    def plain(schema: Any) -> Any:
        if isinstance(schema, list):
            return [plain(each) for each in schema]
        if not isinstance(schema, dict):
            return schema
        found = {key: plain(each) for key, each in schema.items() if key != "nullable"}
        if "properties" in found:
            found.setdefault("additionalProperties", False)
        return {"anyOf": [found, {"type": "null"}]} if schema.get("nullable") is True else found

    schemas = {key: plain(each) for key, each in description["components"]["schemas"].items()}
    return Draft202012Validator(
        {"$ref": f"#/components/schemas/{name}", "components": {"schemas": schemas}}
    )
