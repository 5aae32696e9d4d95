"""Stores that the code of a processor asks for but that are not connected to it."""

from __future__ import annotations

from typing import Any

from millrace_compiler import compile_document
from millrace_compiler.documents.code_stores import stores_asked

from tests.compiler.kit import edge, line, store
from tests.compiler.refused.made import process, with_store

CODE = """class Run(Processor):
    def init(self, context):
        self.kept = context
        self.counts = context.store("{first}")
        self.other = self.kept.store(name)
        self.shop.store("tea")

    def process(self, record):
        # é is two bytes
        s = "é"; self.kept.get_state_store("{second}")
"""


def found(code: str, analyzer: Any) -> list[Any]:
    kept = {"key_type": "STRING", "value_type": "BIGINT"}
    raw = with_store(line(process(code=code)), "run", {**store(**kept)})
    compiled = compile_document(raw, analyzer)
    return [each.to_json() for each in compiled.diagnostics if each.code == "code_store"]


def test_a_misspelt_store_is_a_problem_at_its_line_with_the_nearest_name(analyzer: Any) -> None:
    code = CODE.format(first="countz", second="rowz")
    first, second = found(code, analyzer)
    assert (first["node"], first["parameter"], first["severity"]) == ("run", "code", "warning")
    position = first["position"]
    assert code[position["start"] : position["stop"]] == '"countz"'
    position = second["position"]
    assert code[position["start"] : position["stop"]] == '"rowz"'
    assert second["message"] == (
        "Line 10 asks for the store rowz, which is not connected to this processor."
    )
    assert second["hint"] == "Did you mean rows? Connected stores: rows."


def test_stores_that_are_connected_are_no_problem(analyzer: Any) -> None:
    assert found(CODE.format(first="rows", second="rows"), analyzer) == []


def test_only_the_context_of_the_class_is_asked_for_stores() -> None:
    code = CODE.format(first="a", second="b") + (
        "class Other(Processor):\n"
        "    def init(self, context):\n"
        '        context.store("elsewhere")\n'
        "class Sub(Run):\n"
        "    def process(self, record):\n"
        '        self.context.store("c")\n'
    )
    assert [each.name for each in stores_asked(code, "Run")] == ["a", "b"]
    assert [each.name for each in stores_asked(code, "Sub")] == ["c", "a", "b"]


def test_an_edge_from_a_store_that_does_not_exist_names_the_nearest(analyzer: Any) -> None:
    raw = with_store(line(process()), "run", store(key_type="STRING", value_type="BIGINT"))
    raw["edges"].append(edge("rowz > run.store"))
    (fault,) = [each.to_json() for each in compile_document(raw, analyzer).diagnostics]
    assert fault["severity"] == "error"
    assert "rowz" in str(fault["message"])
    assert "rows" in str(fault["hint"])
