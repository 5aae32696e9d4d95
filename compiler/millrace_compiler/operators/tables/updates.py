"""Tables as inputs of operators on streams, and inputs that must have equal types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from millrace_compiler.declarations.operator import Scope
from millrace_compiler.declarations.ports import Port


def updates(port: Port) -> Port:
    """The port as a stream; a table is the stream of its updates."""
    if port.role != "table":
        return port
    return replace(port, role="stream", history=None, key_changed=False)


def same_types(scope: Scope, ports: Sequence[Port], parameter: str = "in") -> None:
    """Reports inputs of one operator whose keys or values have different types."""
    first = ports[0]
    for port in ports[1:]:
        for code, a, b in (
            ("key_types_differ", first.key, port.key),
            ("types_differ", first.value, port.value),
        ):
            if a is not None and b is not None and a != b:
                scope.fault(code, parameter, first=a.text, second=b.text)
                return


def same_keys(scope: Scope, first: Port, second: Port, parameter: str) -> None:
    """Reports inputs of one operator whose keys have different types."""
    if first.key is not None and second.key is not None and first.key != second.key:
        scope.fault("key_types_differ", parameter, first=first.key.text, second=second.key.text)
