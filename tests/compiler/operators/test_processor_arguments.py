"""Arguments of a processor's class: in the document, in programs, and in the compiler's checks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from millrace_runtime import Processor, Topology, string
from millrace_runtime.program import load_program

from tests.compiler.kit import compiled, line
from tests.compiler.refused.made import process

CODE = """class Enrich(Processor):
    def __init__(self, threshold, words=()):
        self.threshold = threshold
"""


class Enrich(Processor):
    def __init__(self, threshold: object, words: object = ()) -> None:
        self.threshold = threshold


def enriching(arguments: object, code: str = CODE) -> Any:
    return line(process(code=code, class_name="Enrich", arguments=arguments))


def codes(raw: Any) -> list[tuple[str, str | None]]:
    return [(each.code, each.path) for each in compiled(raw).diagnostics]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"threshold": 3}, []),
        ({"threshold": {"a": [1, None, 2.5, True]}, "words": ["x"]}, []),
        ({"threshold": 3, "word": 1}, [("argument_unknown", "arguments.word")]),
        ({}, [("argument_missing", None)]),
        ([3], [("parameter_type", None), ("argument_missing", None)]),
        (
            {"threshold": 1, "a b": 3},
            [("parameter_type", None), ("argument_unknown", "arguments.a b")],
        ),
    ],
)  # fmt: skip
def test_arguments_have_to_fit_the_class(arguments: object, expected: list[Any]) -> None:
    assert codes(enriching(arguments)) == expected


def test_a_class_without_init_takes_no_arguments() -> None:
    code = "class Enrich(Processor):\n    pass\n"
    assert codes(enriching({"n": 1}, code)) == [("argument_unknown", "arguments.n")]


@pytest.mark.parametrize(
    "code",
    [
        "from other import Base\nclass Enrich(Base):\n    pass\n",
        "class Enrich(Processor):\n    def __init__(self, **more):\n        pass\n",
    ],
)
def test_arguments_that_the_source_does_not_show_are_accepted(code: str) -> None:
    assert codes(enriching({"n": 1}, code)) == []


@pytest.mark.parametrize("code", [CODE, f"import os\n{CODE}print(os.getpid())\n"])
def test_arguments_survive_the_way_through_a_program(code: str, tmp_path: Path) -> None:
    raw = enriching({"threshold": 3, "words": ["a", {"b": None}]}, code)
    for path, text in (compiled(raw).require().code or {}).items():
        (tmp_path / path).write_text(text, encoding="utf-8")
    [made] = [n for n in load_program(tmp_path).document()["nodes"] if n["kind"] == "process"]
    assert made["params"]["arguments"] == {"threshold": 3, "words": ["a", {"b": None}]}
    assert "Enrich(threshold=3" in (tmp_path / "job.py").read_text() or code != CODE


def made_of(processor: Any) -> object:
    topology = Topology("t")
    topology.stream("in", key=string(), value=string()).process(processor, name="run")
    return topology.document()["nodes"][1]["params"].get("arguments")


def test_a_program_passes_an_instance_whose_arguments_are_kept() -> None:
    assert made_of(Enrich) is None
    assert made_of(Enrich(3)) == {"threshold": 3}
    assert made_of(Enrich(words=("a",), threshold=None)) == {"words": ["a"], "threshold": None}


@pytest.mark.parametrize("value", [{1, 2}, float("nan"), {1: 2}, [object()]])
def test_arguments_that_json_does_not_have_are_a_type_error(value: object) -> None:
    with pytest.raises(TypeError, match="argument threshold of Enrich"):
        made_of(Enrich(value))
