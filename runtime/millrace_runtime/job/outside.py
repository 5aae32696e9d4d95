"""Sources and targets of a topology that cannot be in a document: DataFrames and functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

from millrace_model.graphs import TaskGraph
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
    def sinks(self) -> set[str]:
        """The sinks that do not write to a topic."""
        return {*self.functions, *self.dataframes}


def placed(graph: TaskGraph, outside: Outside) -> TaskGraph:
    """Return a task graph whose code in Python runs with the lines of its files."""
    codes = outside.codes
    nodes = []
    for node in graph["nodes"]:
        found = codes.get(node["node"]) if "class_name" in node["params"] else None
        if found is not None:
            params = node["params"].copy()
            params["code"], params["file"] = found.in_place, Path(found.file).name
            node = {**node, "params": params}  # noqa: PLW2901
        own = outside.windows.get(node["node"]) if "window" in node["params"] else None
        if own is not None:
            params = node["params"].copy()
            window = cast(Windows, params["window"]).copy()
            window["code"], window["file"] = own.in_place, Path(own.file).name
            params["window"] = window
            node = {**node, "params": params}  # noqa: PLW2901
        called = outside.called.get(node["node"])
        if called is not None and "functions" in node["params"]:
            given = node["params"]["functions"].copy()
            given["code"], given["file"] = called.in_place, Path(called.file).name
            node = {**node, "params": {**node["params"], "functions": given}}  # noqa: PLW2901
        nodes.append(node)
    settings = graph["settings"].copy()
    if outside.handlers:
        functions = dict(settings["functions"])
        for kind, code in outside.handlers.items():
            name = Path(code.file).name
            functions[kind] = {"code": code.in_place, "name": code.class_name, "file": name}
        settings["functions"] = functions
    return {**graph, "settings": settings, "nodes": nodes}
