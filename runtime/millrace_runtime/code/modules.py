"""Modules beside a program that its processors import."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path

from millrace_compiler.parameters.modules import TAKEN, asked, parents


def modules_of(code: str, roots: Sequence[Path]) -> dict[str, str]:
    """Return the modules beside the program that code imports, and those that these import.

    `roots`: the folders from which Python imports them. By full name, with their source.
    """
    found: dict[str, str] = {}
    open_ = [(code, "")]
    while open_:
        text, package = open_.pop()
        for _, name in asked(text, package):
            for each in (*parents(name), name):
                file = None if each in found else _file(each, roots)
                if file is not None:
                    found[each] = file.read_text(encoding="utf-8")
                    own = each if file.name == "__init__.py" else each.rpartition(".")[0]
                    open_.append((found[each], own))
    # An empty package is not needed for the modules in it.
    needless = {name for each in found for name in parents(each) if not found.get(name, "").strip()}
    return {name: found[name] for name in sorted(found) if name not in needless}


def module(name: str, roots: Sequence[Path]) -> dict[str, str]:
    """Return a module beside the program and those that it imports. Raises ValueError."""
    found = modules_of(f"import {name}", roots)
    if name not in found:
        raise ValueError(f"there is no module {name} beside the program")
    return found


def relative(code: str) -> tuple[int, str] | None:
    """Return line and name of the first relative import in the code of a processor."""
    try:
        items = list(ast.walk(ast.parse(code)))
    except (SyntaxError, ValueError):
        return None
    found = [each for each in items if isinstance(each, ast.ImportFrom) and each.level]
    return next(((each.lineno, "." * each.level + (each.module or "")) for each in found), None)


def _file(name: str, roots: Sequence[Path]) -> Path | None:
    if not name or name.partition(".")[0] in TAKEN:
        return None
    path = name.replace(".", "/")
    places = [root / each for root in roots for each in (f"{path}/__init__.py", f"{path}.py")]
    return next((place for place in places if place.is_file()), None)
