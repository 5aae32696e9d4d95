"""Templates: documents to begin with, one JSON file each in ``documents/``."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from millrace_backend.errors import ApiError

FOLDER = Path(__file__).with_name("documents")


@dataclass(frozen=True)
class Template:
    """A document that runs as it is."""

    id: str
    title: str
    description: str
    document: dict[str, Any]


@cache
def templates() -> tuple[Template, ...]:
    """All templates, by title."""
    found = []
    for path in FOLDER.glob("*.json"):
        content = json.loads(path.read_text(encoding="utf-8"))
        found.append(Template(id=path.stem, **content))
    return tuple(sorted(found, key=lambda each: each.title))


def template(name: str) -> Template:
    """The template with this id. Raises ApiError where there is none."""
    found = next((each for each in templates() if each.id == name), None)
    if found is None:
        names = ", ".join(each.id for each in templates())
        raise ApiError(
            "no_such_template",
            f"There is no template {name!r}.",
            f"There are: {names}.",
            fields={"template": [f"One of {names}."]},
        )
    return found
