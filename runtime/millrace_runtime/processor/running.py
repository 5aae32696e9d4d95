"""Runs the code of a document in the Python process of a task."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import ModuleType


def run_code(code: str, file: str, name: str, names: Mapping[str, object]) -> ModuleType:
    """Run the code of a node or a setting as a module of its own, which has `names` already.

    Classes look their module up, such as dataclasses.
    """
    module = ModuleType(name)
    vars(module).update(names)
    sys.modules[module.__name__] = module
    exec(compile(code, file, "exec"), vars(module))  # noqa: S102 - the document's own code
    return module
