"""Handlers of errors in Python: the code of a document's settings."""

from __future__ import annotations

import ast

from millrace_compiler.parameters.parameters import DependsOn, Faults
from millrace_compiler.parameters.parts import Code


class HandlerCode(Code):
    """Python source whose last function handles errors."""

    def __init__(self, title: str, help: str, *, depends_on: DependsOn) -> None:
        super().__init__(title, help, required=False, depends_on=depends_on)

    def parse(self, raw: object, faults: Faults) -> str:
        code = super().parse(raw, faults)
        if not code:
            return code
        found = functions_in(code)
        if not found:
            faults.add("handler_function")
        elif not _takes_two(code, found[-1]):
            faults.add("handler_arguments", name=found[-1])
        return code


def functions_in(code: str) -> list[str]:
    """Names of the top-level functions in valid Python source."""
    return [item.name for item in ast.parse(code).body if isinstance(item, ast.FunctionDef)]


def _takes_two(code: str, name: str) -> bool:
    """Whether a function can be called with two arguments."""
    defined = [item for item in ast.parse(code).body if isinstance(item, ast.FunctionDef)]
    args = next(item for item in reversed(defined) if item.name == name).args
    most = len(args.posonlyargs) + len(args.args)
    needed = any(default is None for default in args.kw_defaults)
    return not needed and most - len(args.defaults) <= 2 and (most >= 2 or args.vararg is not None)
