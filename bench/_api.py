"""Answers of the API, made from its description: `backend/openapi.json`.

A benchmark of the page serves these in place of the backend's, so that what they contain follows
the API without being written twice.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

from launcher import places

#: of values whose text must have a form
_FORMATTED = {"date-time": "2026-01-01T09:00:00Z", "date": "2026-01-01"}
_PLAIN: dict[str, Any] = {"string": "", "integer": 0, "number": 0.0, "boolean": False}


@cache
def description() -> Any:
    """The API's description."""
    return json.loads((places.REPOSITORY / "backend/openapi.json").read_text())


def made(schema: str, **values: Any) -> dict[str, Any]:
    """Return a JSON object of a schema: these values, and the emptiest ones for all others.

    Raises KeyError for a value that the schema does not have.
    """
    found = description()["components"]["schemas"][schema]
    unknown = values.keys() - found["properties"].keys()
    if unknown:
        raise KeyError(f"{schema} has no {', '.join(sorted(unknown))}")
    return {**_empty(found), **values}


def answer(method: str, path: str) -> Any:
    """Return the emptiest response to a request; None if it has no content.

    Raises KeyError if the API has no such operation.
    """
    for template, operations in description()["paths"].items():
        form = re.sub(r"\{\w+\}", "[^/]+", template)
        if method in operations and re.fullmatch(form, path):
            for status, response in operations[method]["responses"].items():
                if status.startswith("2"):
                    content = response.get("content", {}).get("application/json")
                    return None if content is None else _empty(content["schema"])
    raise KeyError(f"{method} {path}")


def _empty(schema: Any) -> Any:
    """Return null where it is allowed, else the emptiest value."""
    if schema.get("nullable"):
        return None
    if "$ref" in schema:
        return _empty(description()["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    for one in ("allOf", "oneOf", "anyOf"):
        if one in schema:
            return _empty(schema[one][0])
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "object":
        required = schema.get("required", [])
        return {name: _empty(schema["properties"][name]) for name in required}
    if kind == "array":
        return []
    return _FORMATTED.get(schema.get("format", ""), _PLAIN.get(str(kind)))
