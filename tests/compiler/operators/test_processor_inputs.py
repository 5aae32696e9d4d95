"""Inputs of a processor with types of their own, each with a method of the class."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from millrace_runtime.program import load_program

from tests.compiler.kit import LONG, compiled, document, sink, stream
from tests.compiler.refused.made import process

CODE = """class Run(Processor):
    def process(self, record):
        pass

    def on_payment(self, record):
        pass
"""


def paying(**params: Any) -> Any:
    given = {"code": CODE, "inputs": ["on_payment"], **params}
    nodes = [stream(), stream("payments", value=LONG), process(**given), sink()]
    return document(nodes, ["in > run", "payments > run.on_payment", "run > out"])


def codes(raw: Any) -> list[tuple[str, str | None, str | None]]:
    return [(each.code, each.node, each.parameter) for each in compiled(raw).diagnostics]


def test_each_input_has_types_and_a_method_of_its_own() -> None:
    raw = paying()
    assert codes(raw) == []
    graph = compiled(raw).require().task_graph
    assert graph is not None
    [run] = [each for each in graph["nodes"] if each["id"] == "run"]
    assert run["parents"] == [["in", "out"], ["payments", "out"]]
    assert run["params"]["methods"] == ["process", "on_payment"]


def test_a_program_names_the_method_of_each_further_input(tmp_path: Path) -> None:
    raw = paying()
    raw["nodes"].insert(1, stream("more"))
    raw["edges"].append({"source": "more", "target": "run"})
    for path, text in (compiled(raw).require().code or {}).items():
        (tmp_path / path).write_text(text, encoding="utf-8")
    assert 'also={"process": [more], "on_payment": [payments]}' in (tmp_path / "job.py").read_text()
    made = load_program(tmp_path).document()
    assert compiled(made).require().task_graph == compiled(raw).require().task_graph


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (paying(inputs=["on_refund"]), ("method_missing", "run", "inputs")),
        (paying(inputs=["process"]), ("name_twice", "run", "inputs")),
        (paying(inputs=["on-payment"]), ("parameter_type", "run", "inputs")),
        (
            document(
                [stream(), process(code=CODE, inputs=["on_payment"]), sink()],
                ["in > run", "run > out"],
            ),
            ("input_missing", "run", "on_payment"),
        ),
        (
            document(
                [
                    stream(), stream("payments", key=LONG),
                    process(kind="process_values", code=CODE, inputs=["on_payment"]), sink(),
                ],
                ["in > run", "payments > run.on_payment", "run > out"],
            ),
            ("key_types_differ", "run", "on_payment"),
        ),
    ],
)  # fmt: skip
def test_inputs_that_do_not_fit_are_refused(raw: Any, expected: Any) -> None:
    assert expected in codes(raw)
