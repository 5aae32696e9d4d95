"""Handlers of errors in Python: the code of a document's settings."""

from __future__ import annotations

from millrace_compiler.parameters.parameters import DependsOn, Faults
from millrace_compiler.parameters.parts import Code, functions_in, takes


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
        elif not takes(code, found[-1], 2):
            faults.add("handler_arguments", name=found[-1])
        return code
