"""Text of the committed JSON files: one record, node or kind per line, so that a diff is short."""

from __future__ import annotations

import json
from typing import Any

WIDTH = 160


def text_of(value: Any, *, sort_keys: bool = False) -> str:
    """Return a value as JSON text that ends with a line break.

    An object or list that fits in a line of 160 characters is on one line. Other objects have a
    line for each name, and other lists a line for each element, regardless of its length.
    """
    return _text(value, "", sort_keys) + "\n"


def _text(value: Any, indent: str, sort_keys: bool, before: int = 0) -> str:
    line = json.dumps(value, ensure_ascii=False, sort_keys=sort_keys)
    if not value or len(indent) + before + len(line) < WIDTH:
        return line
    inner = indent + " "
    if isinstance(value, dict):
        pairs = sorted(value.items()) if sort_keys else value.items()
        names = [(json.dumps(name, ensure_ascii=False) + ": ", each) for name, each in pairs]
        parts = [name + _text(each, inner, sort_keys, len(name)) for name, each in names]
        return _joined("{", parts, "}", indent)
    if isinstance(value, list | tuple):
        parts = [json.dumps(each, ensure_ascii=False, sort_keys=sort_keys) for each in value]
        return _joined("[", parts, "]", indent)
    return line


def _joined(opening: str, parts: list[str], closing: str, indent: str) -> str:
    lines = ",\n".join(f"{indent} {part}" for part in parts)
    return f"{opening}\n{lines}\n{indent}{closing}"
