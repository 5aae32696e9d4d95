"""Errors of a program name its file, line and node; all at once, in the words of the page."""

from __future__ import annotations

import json
import socket
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from millrace_runtime import testing
from millrace_runtime.analyzer.compiling import compiled
from millrace_runtime.errors import MillraceError, ProgramError
from millrace_runtime.kafka import topics
from millrace_runtime.kafka.reaching import ANSWER_SECONDS
from millrace_runtime.program import document_of, load_program

from cli.main import main
from tests.compiler.kit import OneTypeAnalyzer

HEAD = "from millrace_runtime import Processor, Topology, json, string\n"
FAULTY = (
    HEAD
    + """
topology = Topology("faulty", processing_guarantee="twice")

lines = topology.stream("lines", key=string(), value=string())
(
    lines.filter("")
    .map_values(
        "value",
    )
    .repartition(partitions=-1, name="wide")
    .to("out", partition="")
)
"""
)
#: a processor that fails at line 11
PROCESSOR = (
    HEAD
    + """
LIMIT = 0


class Divide(Processor):
    def init(self, context):
        self.context = context

    def process(self, record):
        self.context.forward(record.replace(value=str(1 / LIMIT)))


topology = Topology("divided")
lines = topology.stream("lines", key=string(), value=string())
lines.process(Divide, name="divide").to("out")
"""
)


def program(folder: Path, text: str, name: str = "shop.py") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def forget_limits() -> None:
    """Elsewhere, each text is read in a process of its own."""
    for name in ("limits", "limits.of"):
        sys.modules.pop(name, None)


@pytest.fixture(autouse=True)
def anew() -> None:
    forget_limits()


def test_all_diagnostics_come_at_once_with_file_line_and_node(tmp_path: Path) -> None:
    made = load_program(program(tmp_path, FAULTY)).runnable()
    with pytest.raises(ProgramError) as refused:
        compiled(made.document, OneTypeAnalyzer(), made.places)
    found = str(refused.value).splitlines()
    assert [line.partition(": ")[0] for line in found] == [
        "shop.py, line 3, processing_guarantee",
        "shop.py, line 7, filter.predicate",
        "shop.py, line 11, wide.partitions",
        "shop.py, line 12, out.partition",
    ]
    assert found[1].endswith("The expression is empty. Write a Spark SQL expression.")
    assert (refused.value.code, refused.value.node) == ("choice", None)


def test_a_relative_import_in_the_code_of_a_processor_is_refused(
    tmp_path: Path, capsys: Any
) -> None:
    text = PROCESSOR.replace(
        "        self.context = context\n", "        from .limits import LIMIT\n"
    )
    assert main(["document", str(program(tmp_path, text))]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("shop.py, line 8, divide: The code of Divide imports .limits, but it has")
    assert "Import the module by its full name." in err


@pytest.mark.parametrize(
    ("within", "names"),
    [
        ("        import limits\n", ["limits"]),
        ("        from limits import LIMIT\n", ["limits"]),
        ("        import rules.limits\n", ["rules.limits", "rules.sizes"]),
        ("        from rules import limits\n", ["rules.limits", "rules.sizes"]),
    ],
)
def test_an_import_is_found_wherever_it_is(within: str, names: list[str], tmp_path: Path) -> None:
    program(tmp_path, "LIMIT = 3\n", "limits.py")
    (tmp_path / "rules").mkdir()
    program(tmp_path / "rules", "from .sizes import LIMIT\n", "limits.py")
    program(tmp_path / "rules", "LIMIT = 3\n", "sizes.py")
    program(tmp_path / "rules", "NOBODY = 'imports it'\n", "other.py")
    text = PROCESSOR.replace("        self.context = context\n", within)
    document = load_program(program(tmp_path, text)).document()
    assert list(document["settings"]["modules"]) == names


def test_installed_modules_and_those_of_python_are_accepted(tmp_path: Path) -> None:
    text = PROCESSOR.replace("LIMIT = 0", "import math\nimport pyspark\nLIMIT = math, pyspark")
    node = load_program(program(tmp_path, text)).document()["nodes"][1]
    assert node["params"]["code"].startswith("import math\nimport pyspark\n")


def test_what_no_document_can_have_is_listed_at_once(tmp_path: Path) -> None:
    text = (
        HEAD
        + """topology = Topology("t")
topology.stream("a", df=lambda spark: None, key=string(), value=string()).foreach_batch(print)
"""
    )
    with pytest.raises(MillraceError) as refused:
        load_program(program(tmp_path, text)).document()
    found = [line.partition(": ")[0] for line in str(refused.value).splitlines()]
    assert found == ["shop.py, line 3, a", "shop.py, line 3, foreach-batch"]


def test_a_text_is_read_in_a_folder_of_its_own() -> None:
    assert document_of("shop.py", PROCESSOR)["name"] == "divided"
    with pytest.raises(MillraceError, match=r"shop\.py, line 4: ZeroDivisionError"):
        document_of("shop.py", HEAD + "\n\n1 / 0")
    with pytest.raises(MillraceError, match=r"shop\.py, line 1: ModuleNotFoundError"):
        document_of("../../shop.py", "import limits")


@pytest.mark.parametrize(
    ("module", "fault"),
    [("x = 1\n1 / 0", "limits/of.py, line 2: ZeroDivisionError"),
     ("x = (", "limits/of.py, line 1: SyntaxError")],
)  # fmt: skip
def test_modules_beside_a_text_are_files_and_name_their_faults(module: str, fault: str) -> None:
    text = PROCESSOR.replace("LIMIT = 0", "from limits.of import LIMIT")
    files = {"limits/__init__.py": "", "limits/of.py": "LIMIT = 3\n"}
    made = document_of("shop.py", text, files)
    assert made["settings"]["modules"] == {"limits.of": "LIMIT = 3\n"}
    forget_limits()
    with pytest.raises(MillraceError, match=fault):
        document_of("shop.py", text, {**files, "limits/of.py": module})
    with pytest.raises(MillraceError, match=r"\.\./of\.py is not beside shop\.py"):
        document_of("shop.py", text, {"../of.py": "LIMIT = 3\n"})


@pytest.mark.spark
def test_lines_of_a_failing_processor_are_those_of_the_program(tmp_path: Path, warm: Any) -> None:
    test: Any = {
        "inputs": [{"topic": "lines", "key": "k", "value": "v", "timestamp": 1}],
        "expected": {"outputs": []},
    }
    made = load_program(program(tmp_path, PROCESSOR))
    found = json.dumps(testing.differences(warm.spark, made, test))
    assert "ZeroDivisionError: division by zero (shop.py, line 11)" in found


@pytest.mark.spark
def test_a_silent_broker_is_reported_in_time_with_its_address(warm: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        client = {"bootstrap.servers": address}
        started = time.monotonic()
        with pytest.raises(
            MillraceError, match=f"The broker at {address} does not respond"
        ) as away:
            topics.prepare(warm.spark, client, ("lines",), ())
    assert away.value.code == "broker_unreachable"
    assert time.monotonic() - started < ANSWER_SECONDS + 2


def test_a_program_has_dataclasses_whose_annotations_are_text() -> None:
    text = (
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "from typing import TYPE_CHECKING\n"
        "from millrace_runtime import Topology, json, string\n"
        "if TYPE_CHECKING:\n    from collections.abc import Mapping\n"
        "@dataclass\nclass Order:\n    item: str | None\n    n: int\n"
        "def made(value: Mapping[str, int]) -> Order:\n    return Order('x', round(value['n']))\n"
        "topology = Topology('shop')\n"
        "orders = topology.stream('a', key=string(), value=json(Order), name='a')\n"
        "orders.map_values(made, name='made').to('out')\n"
    )
    nodes = {node["id"]: node["params"] for node in document_of("shop.py", text)["nodes"]}
    assert nodes["a"]["value"]["schema"] == "item STRING, n BIGINT"
    assert nodes["made"]["output"] == {"value": "STRUCT<item: STRING, n: BIGINT>"}
