"""Runs the code of a document in the Python process of a task."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


def run_code(code: str, file: str, space: dict[str, Any]) -> dict[str, Any]:
    """Run the code of a node or a setting as the module that `space` names, and return its names.

    Classes look their module up, such as dataclasses.
    """
    module = ModuleType(space["__name__"])
    vars(module).update(space)
    sys.modules[module.__name__] = module
    exec(compile(code, file, "exec"), vars(module))  # noqa: S102 - the document's own code
    return vars(module)
