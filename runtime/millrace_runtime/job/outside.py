"""Sources and targets of a topology that cannot be in a document: DataFrames and functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypedDict, cast

from millrace_model.graphs import GraphNode, TaskGraph
from millrace_model.state import Windows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from millrace_runtime.code.code import ProcessorCode

    #: A streaming DataFrame, or a function that creates one from the session.
    Frame: TypeAlias = DataFrame | Callable[[SparkSession], DataFrame]
    #: Called for each micro-batch with its records and its number.
    BatchFunction: TypeAlias = Callable[[DataFrame, int], None]

#: The value of `reader` for a stream that reads a DataFrame of the program.
GIVEN = "dataframe"


class CodeLines(TypedDict):
    """Code at its lines in a file; `name`: of its class or function."""

    code: str
    file: str
    name: str


class Lines(TypedDict):
    """The code of a program at its lines, as JSON: see `Outside`."""

    codes: dict[str, CodeLines]
    handlers: dict[str, CodeLines]
    windows: dict[str, CodeLines]
    called: dict[str, CodeLines]


@dataclass
class Outside:
    """Parts of a topology that cannot be in a document, by node: DataFrames and functions."""

    frames: dict[str, Frame] = field(default_factory=dict)
    functions: dict[str, BatchFunction] = field(default_factory=dict)
    #: nodes whose records are returned as a DataFrame
    dataframes: set[str] = field(default_factory=set)
    #: where the code of processors stands; the document has only its text
    codes: dict[str, ProcessorCode] = field(default_factory=dict)
    #: the same of handlers that are functions, by the kind of their errors
    handlers: dict[str, ProcessorCode] = field(default_factory=dict)
    #: the same of windows, by node
    windows: dict[str, ProcessorCode] = field(default_factory=dict)
    #: the same of functions that expressions call, by node
    called: dict[str, ProcessorCode] = field(default_factory=dict)

    @property
    def lines(self) -> Lines:
        """The code at its lines in the program's files."""

        def of(codes: Mapping[str, ProcessorCode]) -> dict[str, CodeLines]:
            return {
                name: {"code": code.in_place, "file": Path(code.file).name, "name": code.class_name}
                for name, code in codes.items()
            }

        return {
            "codes": of(self.codes), "handlers": of(self.handlers),
            "windows": of(self.windows), "called": of(self.called),
        }  # fmt: skip

    @property
    def sinks(self) -> set[str]:
        """The sinks that do not write to a topic."""
        return {*self.functions, *self.dataframes}


def placed(graph: TaskGraph, outside: Outside) -> TaskGraph:
    """Return a task graph whose code in Python runs with the lines of its files."""
    return with_lines(graph, outside.lines)


def with_lines(graph: TaskGraph, lines: Lines) -> TaskGraph:
    """Return a task graph whose code in Python runs with these lines, those of its files."""
    nodes: list[GraphNode] = []
    for node in graph["nodes"]:
        params = node["params"].copy()
        found = lines["codes"].get(node["node"])
        if found is not None and "class_name" in params:
            params["code"], params["file"] = found["code"], found["file"]
        own = lines["windows"].get(node["node"])
        if own is not None and "window" in params:
            window = cast(Windows, params["window"]).copy()
            window["code"], window["file"] = own["code"], own["file"]
            params["window"] = window
        called = lines["called"].get(node["node"])
        if called is not None and "functions" in params:
            given = params["functions"].copy()
            given["code"], given["file"] = called["code"], called["file"]
            params["functions"] = given
        nodes.append({**node, "params": params})
    settings = graph["settings"].copy()
    if lines["handlers"]:
        functions = dict(settings["functions"])
        for kind, code in lines["handlers"].items():
            functions[kind] = {"code": code["code"], "name": code["name"], "file": code["file"]}
        settings["functions"] = functions
    return {**graph, "settings": settings, "nodes": nodes}
