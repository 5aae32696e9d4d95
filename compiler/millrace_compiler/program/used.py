"""Nodes of a graph with fragments that are not operators: uses of fragments, and their ports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, cast

from millrace_model.documents import FRAGMENT, INPUT, OUTPUT, FragmentDefinition

from millrace_compiler.declarations.calls import Call, Input
from millrace_compiler.declarations.operator import Operator
from millrace_compiler.declarations.ports import InPort, Role
from millrace_compiler.diagnostics.diagnostics import Diagnostics
from millrace_compiler.documents.document import Node
from millrace_compiler.graphs.fragment_ports import ROLES

Kinds = Mapping[str, Callable[[Node, Diagnostics], Operator]]


@dataclass(frozen=True)
class Ports:
    """The names of the ports of a definition, in their order."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def ports_of(definition: FragmentDefinition) -> Ports:
    """Return the ports of a definition."""
    by_kind: dict[str, list[str]] = {INPUT: [], OUTPUT: []}
    for node in definition["nodes"]:
        if node["kind"] in by_kind:
            by_kind[node["kind"]].append(node["id"])
    return Ports(tuple(by_kind[INPUT]), tuple(by_kind[OUTPUT]))


class _Part(Operator):
    """A node without parameters of its own."""

    def __init__(self, node: Node, report: Diagnostics) -> None:
        self.id, self.node = node.id, node
        self.connected, self.incoming, self.values = (), Counter(), {}


class Use(_Part):
    """A node that stands for a fragment."""

    kind = FRAGMENT
    title = "Fragment"
    dynamic_outputs = "fragment"
    # The store of a table in it can be read by a processor.
    takes_store = ("key_value",)

    def __init__(self, node: Node, report: Diagnostics, known: Mapping[str, Ports]) -> None:
        super().__init__(node, report)
        self.reference = str(node.params.get("fragment"))
        self.ports = known.get(self.reference, Ports((), ()))

    def inputs(self) -> tuple[InPort, ...]:
        """The inputs of the fragment; each takes the records of several nodes."""
        return tuple(
            InPort(name, cast(tuple[Role, ...], ROLES), True) for name in self.ports.inputs
        )

    def outputs(self) -> tuple[str, ...]:
        """The outputs of the fragment."""
        return self.ports.outputs

    def words(self) -> list[Call]:
        """The call of the fragment's function, whose name the program gives."""
        args: list[object] = []
        for name in self.ports.inputs:
            streams = [Input(name, index) for index in range(self.incoming[name])]
            args.append(streams[0] if len(streams) == 1 else streams)
        given = ((name, self.node.params.get(name)) for name in ("arguments", "identities"))
        keywords = tuple(
            (name, value) for name, value in given if value and isinstance(value, dict)
        )
        return [Call("", tuple(args), keywords)]


class InputPort(_Part):
    """An input of a fragment: a parameter of its function."""

    kind = INPUT
    title = "Input"
    takes_store = ("key_value",)

    def outputs(self) -> tuple[str, ...]:
        """Its records."""
        return ("out",)

    @property
    def role(self) -> str:
        """What comes in: a stream, a table or a global table."""
        return str(self.node.params.get("role") or "stream")


class OutputPort(_Part):
    """An output of a fragment: what its function returns."""

    kind = OUTPUT
    title = "Output"
    in_ports: ClassVar[tuple[InPort, ...]] = (
        InPort("in", cast(tuple[Role, ...], ROLES), many=True),
    )


def kinds_of(fragments: Mapping[str, Ports]) -> Kinds:
    """Return the kinds of nodes that a graph has beside operators."""
    return {FRAGMENT: partial(Use, known=fragments), INPUT: InputPort, OUTPUT: OutputPort}
