"""Fragments: parts of a topology that a program defines once, as a function, and uses at a version.

    @fragment("Clean", version=2, inputs={"in": stream_input(value="STRUCT<n: INT>")},
              parameters={"low": parameter(10)})
    def clean(records: Stream, low: str) -> Stream:
        return records.filter(f"value.n > {low}", name="large")

    large = clean(orders, arguments={"low": 5}, name="clean")

The document has a `fragment` node for each call, and the contents of each version once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Literal, ParamSpec, TypeAlias, TypeVar, Unpack, cast

from millrace_compiler.graphs.topology_parameters import NAME
from millrace_compiler.program.identities import slug
from millrace_model.documents import (
    FRAGMENT,
    INPUT,
    OUTPUT,
    DocumentParameter,
    FragmentDefinition,
)

from millrace_runtime.dsl.handles import Handle
from millrace_runtime.dsl.nodes import About, End, Nodes
from millrace_runtime.dsl.parameters import Default, ParameterType, declared
from millrace_runtime.dsl.records import GlobalTable
from millrace_runtime.dsl.streams import Stream, Table
from millrace_runtime.keywords import checked, refuse_unknown

R = TypeVar("R")
P = ParamSpec("P")
#: What a call gets for an input: a stream or a table, or several streams, which are merged.
Given: TypeAlias = Handle | Sequence[Handle]
_HANDLES: Mapping[str, type[Handle]] = {
    "stream": Stream, "table": Table, "global_table": GlobalTable,
}  # fmt: skip


@dataclass(frozen=True)
class FragmentInput:
    """What a fragment takes: a stream or a table, and the types that it needs."""

    role: Literal["stream", "table", "global_table"]
    key: str | None = None
    value: str | None = None
    texts: About = field(default_factory=About)

    def params(self) -> dict[str, str]:
        """Return the parameters of the node of this port."""
        found = {"role": self.role, "key": self.key, "value": self.value}
        return {name: each for name, each in found.items() if each is not None}


@checked
def stream_input(
    *,
    key: str | None = None,
    value: str | None = None,
    label: str | None = None,
    description: str | None = None,
) -> FragmentInput:
    """Return an input for a stream. `key`, `value`: Spark SQL types (default: any type).

    A struct may have further fields than those that are named. `label` and `description`: text for
    people.
    """
    return FragmentInput("stream", key, value, _texts(label, description))


@checked
def table_input(
    *,
    key: str | None = None,
    value: str | None = None,
    label: str | None = None,
    description: str | None = None,
) -> FragmentInput:
    """Return an input for a table. For the arguments, see `stream_input`."""
    return FragmentInput("table", key, value, _texts(label, description))


@checked
def global_table_input(
    *,
    key: str | None = None,
    value: str | None = None,
    label: str | None = None,
    description: str | None = None,
) -> FragmentInput:
    """Return an input for a global table. For the arguments, see `stream_input`."""
    return FragmentInput("global_table", key, value, _texts(label, description))


@dataclass(frozen=True)
class FragmentOutput:
    """What a fragment gives, with its texts for people."""

    texts: About = field(default_factory=About)


@checked
def fragment_output(*, label: str | None = None, description: str | None = None) -> FragmentOutput:
    """Return an output with text for people."""
    return FragmentOutput(_texts(label, description))


def _texts(label: str | None, description: str | None) -> About:
    about = About()
    if label:
        about["label"] = label
    if description:
        about["description"] = description
    return about


@checked
def parameter(
    default: Default, *, type: ParameterType | None = None, description: str | None = None
) -> DocumentParameter:
    """Return a parameter of a fragment. For the arguments, see `Topology.param`."""
    return declared(default, type=type, description=description)


@dataclass
class Definition:
    """The nodes of a fragment, as its function added them."""

    fragment: Fragment[Any]
    nodes: Nodes
    #: what the function returned, by output port
    outputs: dict[str, Handle] = field(default_factory=dict)

    def documented(self, *, labels: bool) -> FragmentDefinition:
        """Return the definition in a document."""
        found: dict[str, object] = {}
        if self.fragment.description:
            found["description"] = self.fragment.description
        if self.fragment.parameters:
            found["parameters"] = dict(self.fragment.parameters)
        found["nodes"] = self.nodes.documented(labels=labels)
        found["edges"] = [edge.copy() for edge in self.nodes.edges]
        return cast(FragmentDefinition, found)


class Fragment(Generic[R]):
    """A version of a fragment. A call with its inputs adds a node that stands for it."""

    def __init__(
        self,
        function: Callable[..., R],
        name: str,
        version: int,
        inputs: Mapping[str, FragmentInput],
        outputs: Mapping[str, FragmentOutput],
        parameters: Mapping[str, DocumentParameter],
        description: str | None,
    ) -> None:
        functools.update_wrapper(self, function)
        self.function, self.name, self.reference = function, name, f"{name}@{version}"
        self.inputs, self.outputs = dict(inputs), dict(outputs)
        self.parameters, self.description = dict(parameters), description

    def __call__(
        self,
        *inputs: Given,
        arguments: Mapping[str, Default] | None = None,
        identities: Mapping[str, str] | None = None,
        **about: Unpack[About],
    ) -> R:
        """Add a node that stands for the fragment, and return its outputs.

        `inputs`: a stream or table for each input, in their order; several streams as a list.
        `arguments`: values of parameters by name (default: their defaults). `identities`: ids of
        inner nodes that differ from `<name>--<inner name>`, to continue the state of nodes that
        were not part of a fragment.
        """
        ends, nodes = self._ends(inputs)
        refuse_unknown(Fragment.__call__, about, self.function.__name__)
        unknown = next((each for each in arguments or {} if each not in self.parameters), None)
        if unknown is not None:
            known = ", ".join(self.parameters) or "none"
            raise TypeError(f"{self.name} has no parameter {unknown!r}. Its parameters: {known}.")
        made = self._definition(nodes)
        params = {
            "fragment": self.reference,
            "arguments": dict(arguments) if arguments else None,
            "identities": dict(identities) if identities else None,
        }
        named = about.get("name") or nodes.free_id(slug(self.name) or FRAGMENT)
        node = nodes.add(FRAGMENT, params, ends, About(**{**about, "name": named}))
        nodes.take_inner(node, made.nodes, identities or {})
        handles = {
            port: type(given)(nodes, node, port) for port, given in made.outputs.items()
        }  # fmt: skip
        if tuple(self.outputs) == ("out",):
            return cast(R, handles["out"])
        return cast(R, handles or None)

    def _ends(self, given: Sequence[Given]) -> tuple[list[tuple[End, str]], Nodes]:
        if len(given) != len(self.inputs):
            listed = ", ".join(self.inputs)
            raise TypeError(f"{self.name} takes {len(self.inputs)} inputs ({listed}), "
                            f"found {len(given)}")  # fmt: skip
        ends: list[tuple[End, str]] = []
        found: Nodes | None = None
        for port, each in zip(self.inputs, given, strict=True):
            for handle in [each] if isinstance(each, Handle) else each:
                if not isinstance(handle, Handle):
                    raise TypeError(f"{self.name} takes streams and tables, found {handle!r}")
                if found is not None and handle._nodes is not found:
                    node = handle._end.node
                    raise ValueError(f"{self.name}: {node} belongs to another topology")
                found = handle._nodes
                ends.append((handle._end, port))
        if found is None:
            raise TypeError(f"{self.name} takes streams and tables, found none")
        return ends, found

    @property
    def _place(self) -> str:
        """The function in a message: its name and line."""
        code = self.function.__code__
        return f"{code.co_name} ({Path(code.co_filename).name}, line {code.co_firstlineno})"

    # ---- the definition --------------------------------------------------------------------------

    def _definition(self, around: Nodes) -> Definition:
        """The definition in a topology, which is made when it is first used there."""
        known = around.fragments.get(self.reference)
        if known is None:
            if self.reference in around.within:
                through = " → ".join([*around.within, self.reference])
                raise ValueError(f"the fragment contains itself: {through}")
            known = around.fragments[self.reference] = self._made(around)
        if known.fragment is not self:
            raise ValueError(f"the fragment {self.reference} is defined twice")
        return cast(Definition, known)

    def _made(self, around: Nodes) -> Definition:
        nodes = Nodes(
            self._refused, fragments=around.fragments, within=(*around.within, self.reference)
        )
        nodes.parameters |= self.parameters
        handles = []
        for port, each in self.inputs.items():
            nodes.add_port(INPUT, port, each.params(), each.texts)
            handles.append(_HANDLES[each.role](nodes, port))
        texts = [f"${{{name}}}" for name in self.parameters]
        made = Definition(self, nodes, dict(self._returned(self.function(*handles, *texts), nodes)))
        if nodes.outside.sinks:
            raise ValueError(f"{self._place}: a fragment cannot call a function with its records")
        for port, handle in made.outputs.items():
            nodes.add_port(OUTPUT, port, {}, self.outputs[port].texts, handle._end)
        return made

    def _refused(self, *_: Any, **__: Any) -> Any:
        raise ValueError(f"{self._place}: a fragment cannot return a DataFrame")

    def _returned(self, given: object, nodes: Nodes) -> Iterator[tuple[str, Handle]]:
        """Yield what the function returned for each output port."""
        listed = ", ".join(self.outputs)
        if tuple(self.outputs) == ("out",):
            given = {"out": given}
        if given is None:
            given = {}
        if not isinstance(given, Mapping) or set(given) != set(self.outputs):
            found = f"{', '.join(given)}" if isinstance(given, Mapping) else repr(given)
            raise TypeError(f"{self._place} returns a dict of its outputs ({listed}), "
                            f"found {found}")  # fmt: skip
        for port in self.outputs:
            handle = given[port]
            if not isinstance(handle, Stream | Table):
                raise TypeError(f"{self._place} returns a stream or a table, found {handle!r}")
            if handle._nodes is not nodes:
                node = handle._end.node
                raise ValueError(f"{self._place} returns {node}, which is not in the fragment")
            yield port, handle


@checked
def fragment(
    name: str,
    *,
    version: int = 1,
    inputs: Mapping[str, FragmentInput] | None = None,
    outputs: Sequence[str] | Mapping[str, FragmentOutput] = ("out",),
    parameters: Mapping[str, DocumentParameter] | None = None,
    description: str | None = None,
) -> Callable[[Callable[P, R]], Fragment[R]]:
    """Make a function a fragment: a part of a topology that can be used several times.

    The function gets a stream or table for each of `inputs` (by default a stream, `in`), and a text
    for each of `parameters`, which stands for its value, in this order. It returns a stream or
    table, or for other `outputs` than `out` a dict of them; `outputs` may map each name to
    `fragment_output(...)`. It runs once for each topology that
    uses it, and sees nothing of the topology but what it gets.
    """
    taken = {"in": stream_input()} if inputs is None else dict(inputs)
    given = dict(parameters or {})
    if isinstance(version, bool) or not isinstance(version, int) or version < 0:
        raise TypeError(f"the version of a fragment is a whole number, found {version!r}")
    if not name.strip():
        raise ValueError("a fragment needs a name")
    if not taken:
        raise ValueError(f"{name}: a fragment in a program needs an input")
    twice = [each for each in outputs if each in taken or list(outputs).count(each) > 1]
    if twice:
        raise ValueError(f"{name}: the port {twice[0]!r} is used twice")
    for each in given:
        if not NAME.fullmatch(each):
            raise ValueError(f"{name}: {each!r} is not a name of a parameter, such as low_2")

    ends = outputs if isinstance(outputs, Mapping) else dict.fromkeys(outputs, FragmentOutput())

    def made(function: Callable[P, R]) -> Fragment[R]:
        return Fragment(function, name, version, taken, ends, given, description)

    return made
