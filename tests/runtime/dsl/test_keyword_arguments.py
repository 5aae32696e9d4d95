"""Every function and method of the DSL refuses unknown keyword arguments, with the nearest name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import millrace_runtime
import pytest
from millrace_runtime import Processor, Topology, key_value_store, string
from millrace_runtime.dsl import streams, topology
from millrace_runtime.keywords import Checked
from millrace_runtime.testing import driver, topics


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield every public function of a program, and every public method of its objects."""
    for name in millrace_runtime.__all__:
        found = getattr(millrace_runtime, name)
        if inspect.isfunction(found):
            yield name, found
    for module in (streams, topology, driver, topics):
        for name, cls in vars(module).items():
            if inspect.isclass(cls) and cls.__module__ == module.__name__:
                for method, found in inspect.getmembers(cls, inspect.isfunction):
                    # `pipe_input` has other names than a node.
                    if issubclass(cls, Checked) and method[0] != "_" and method != "pipe_input":
                        yield f"{name}.{method}", found
    yield "Topology", Topology.__init__
    yield "TopologyTestDriver", driver.TopologyTestDriver.__init__


@pytest.mark.parametrize(("what", "function"), sorted(functions()))
def test_a_misspelt_argument_is_refused_with_its_name(
    what: str, function: Callable[..., Any]
) -> None:
    method = what.rpartition(".")[2]
    parameters = list(inspect.signature(function).parameters.values())
    named = [
        "description" if each.kind is each.VAR_KEYWORD else each.name
        for each in parameters
        if each.name != "self" and each.kind is not each.VAR_POSITIONAL
    ]
    known = named[-1] if named else None
    misspelt = f"{known}x" if known else "name"
    instance = [None] if [each for each in parameters if each.name == "self"] else []
    with pytest.raises(TypeError) as refused:
        function(*instance, **{misspelt: 1})
    assert f"{method}() has no argument '{misspelt}'." in str(refused.value)
    expected = f"Did you mean {known}? Its arguments are: " if known else "It takes none."
    assert expected in str(refused.value)


def test_what_was_swallowed_is_refused() -> None:
    made = Topology("t")
    lines = made.stream("lines", key=string(), value=string())
    with pytest.raises(TypeError, match=r"filter\(\) has no argument 'nmae'. Did you mean name\?"):
        lines.filter("true", nmae="x")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"Did you mean partition\?"):
        lines.to("out", partitions=7)  # type: ignore[call-arg]
    assert len(made.document()["nodes"]) == 1


class Keep(Processor):
    def process(self, record: Any) -> None:
        """Forward nothing."""


@pytest.mark.parametrize("outputs", ["kept", {"kept": "STRING"}])
def test_outputs_are_a_list_of_names(outputs: Any) -> None:
    lines = Topology("t").stream("lines", key=string(), value=string())
    with pytest.raises(TypeError, match=r"process\(outputs=...\) takes a list of names"):
        lines.process(Keep, outputs=outputs)


def test_text_in_place_of_a_store_is_refused() -> None:
    lines = Topology("t").stream("lines", key=string(), value=string())
    with pytest.raises(TypeError, match="count takes a store such as key_value_store"):
        lines.group_by_key().count(store="counts")  # type: ignore[arg-type]
    assert lines.group_by_key().count(store=key_value_store("counts"))
