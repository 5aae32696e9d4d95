"""How the Python processes of tasks and sinks are started."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Literal

from millrace_model.graphs import Limits, PythonOptions

from millrace_runtime.errors import MillraceError

_LIMITS: tuple[
    tuple[Literal["python_timeout_ms", "python_memory_mb", "store_memory_mb"], str, int], ...
] = (
    ("python_timeout_ms", "MILLRACE_PROCESSOR_TIMEOUT_MS", 1),
    ("python_memory_mb", "MILLRACE_PROCESSOR_MEMORY_MB", 1),
    ("store_memory_mb", "MILLRACE_STORE_MEMORY_MB", 0),
)


def python_options() -> PythonOptions:
    """Return the interpreter, its path and its limits, as the operator takes them.

    Raises MillraceError `option_invalid`.
    """
    path = os.pathsep.join(path for path in sys.path if path)
    return {"python": sys.executable, "python_path": path, **_limits(os.environ)}


def _limits(environment: Mapping[str, str]) -> Limits:
    """Return the limits of processors and stores: MILLRACE_PROCESSOR_TIMEOUT_MS and others."""
    found: Limits = {}
    for option, name, least in _LIMITS:
        text = environment.get(name)
        if text is None:
            continue
        if not text.isdecimal() or int(text) < least:
            raise MillraceError(
                "option_invalid",
                f"{name} must be a whole number of {least} or more, found {text!r}.",
            )
        found[option] = int(text)
    return found
