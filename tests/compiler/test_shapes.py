from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict

import pytest
from millrace_compiler import RecordedAnalyzer, compile_document
from millrace_compiler.state.state_schema import state_schema
from millrace_model.graphs import TaskGraph
from millrace_model.plans import CompilationJson, ProgramPlan
from millrace_model.reading import ShapeError, read
from millrace_model.state import StateSchema

GOLDEN = sorted((Path(__file__).parents[1] / "golden").glob("*/topology.json"))
ANALYZER = RecordedAnalyzer(Path(__file__).parent / "recorded_analysis.json")


class Place(TypedDict, total=False):
    """A place."""

    x: float
    inner: Place | None


class Shape(TypedDict):
    """A shape with each kind of field."""

    name: str
    count: int
    kind: NotRequired[Literal["a", "b"]]
    places: list[Place]
    by_name: dict[str, int | None]


GIVEN: Any = {"name": "n", "count": 1, "places": [{"x": 1, "inner": {"x": 2.5}}], "by_name": {}}


def changed(**what: Any) -> Any:
    return {**GIVEN, **what}


def test_a_value_of_a_shape_is_read_unchanged_also_with_unknown_fields() -> None:
    value = changed(later=[1], kind="b", by_name={"a": 1, "b": None})
    assert read(Shape, value) is value


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "the value: expected an object, found []"),
        ({"name": "n"}, "the value: expected an object with count"),
        (changed(name=1), "name: expected text, found 1"),
        (changed(count=True), "count: expected a whole number, found True"),
        (changed(count=1.5), "count: expected a whole number, found 1.5"),
        (changed(kind="c"), "kind: expected 'a' or 'b', found 'c'"),
        (changed(places={}), "places: expected a list, found {}"),
        (changed(places=[{"inner": {"x": "far"}}]), "places[0].inner.x: expected a number"),
        (changed(by_name={"a": "one"}), "by_name.a: expected a whole number, found 'one'"),
    ],
)
def test_the_first_fault_is_named_with_its_place(value: Any, message: str) -> None:
    with pytest.raises(ShapeError) as refused:
        read(Shape, value)
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.parent.name)
def test_what_the_compiler_writes_has_the_shapes_that_others_read(path: Path) -> None:
    compilation = compile_document(json.loads(path.read_text(encoding="utf-8")), ANALYZER)

    def written(value: object) -> Any:
        return json.loads(json.dumps(value))

    read(CompilationJson, written(compilation.to_json()))
    read(TaskGraph, written(compilation.require_task_graph()))
    read(StateSchema, written(state_schema(compilation)))
    read(ProgramPlan, written(compilation.plan_json()))
