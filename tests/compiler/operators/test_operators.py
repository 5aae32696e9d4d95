"""What each operator must have: a contract test over all of them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from millrace_compiler import catalog
from millrace_compiler.catalog.catalog import CATALOG_FILE, catalog_text
from millrace_compiler.catalog.examples import example
from millrace_compiler.catalog.pages import pages
from millrace_compiler.catalog.pictures import HUES
from millrace_compiler.catalog.rules import RULES
from millrace_compiler.declarations.operator import FAMILIES, Operator, registry
from millrace_compiler.declarations.steps import GLOBAL_STEPS, PYTHON_STEPS
from millrace_compiler.graphs.kinds import global_kinds, python_kinds
from millrace_compiler.parameters.parameters import Parameter

from tests.compiler.refused import REFUSED

GOLDEN = Path(__file__).parents[2] / "golden"
PAGES = Path(__file__).parents[3] / "docs" / "operators"
KINDS = list(registry().values())
PAGE_TEXTS = pages()
WIDGETS = {
    "text", "number", "duration", "boolean", "choice", "topics", "topic", "expression", "format",
    "type", "branches", "code", "key_values", "window", "group_by", "cogroup_inputs", "outputs",
    "output_types", "arguments", "methods",
}  # fmt: skip


def each_kind(test: object) -> object:
    return pytest.mark.parametrize("cls", KINDS, ids=lambda cls: cls.kind)(test)


@each_kind
def test_it_describes_itself(cls: type[Operator]) -> None:
    sentence = (cls.__doc__ or "").strip()
    assert sentence.endswith(".")
    assert cls.title
    assert cls.help.endswith(".")
    assert cls.icon
    assert len(cls.synonyms) >= 3
    assert cls.family in FAMILIES


@each_kind
def test_its_parameters_are_described(cls: type[Operator]) -> None:
    for name, parameter in cls.parameters.items():
        assert isinstance(parameter, Parameter)
        assert parameter.name == name
        assert parameter.title
        assert parameter.help.rstrip().endswith(".")
        assert parameter.widget in WIDGETS
        assert not (parameter.required and parameter.default is not None)


@each_kind
def test_it_shows_records_before_and_after(cls: type[Operator]) -> None:
    shown = example(cls.kind)
    assert shown.before(times=True)
    assert shown.after(times=True)
    assert len(shown.title) < 80


@each_kind
def test_it_has_a_guarantee_and_its_rules_are_in_the_table(cls: type[Operator]) -> None:
    assert cls.guarantee.endswith(".")
    assert cls.why.endswith(".")
    cited = set(re.findall(r"\[([A-Z]+-?\d+)\]", f"{cls.guarantee} {cls.why} {cls.help}"))
    assert cited | set(cls.rules) <= set(RULES)


def test_every_rule_of_the_table_is_cited_by_an_operator() -> None:
    texts = [f"{cls.help} {cls.rules} {cls.guarantee}" for cls in KINDS]
    for rule in RULES:
        assert any(rule in text for text in texts), rule


def test_pictures_have_the_hues_of_the_designer() -> None:
    tokens = (PAGES.parents[1] / "frontend" / "src" / "theme" / "tokens.css").read_text("utf-8")
    for family, hues in HUES.items():
        name = {"stateless": "stateless"}.get(family, family.removesuffix("s"))
        assert tuple(re.findall(rf"--m-hue-{name}: (#\w+);", tokens)) == hues


@each_kind
def test_it_has_a_golden(cls: type[Operator]) -> None:
    path = GOLDEN / cls.kind.replace(".", "_") / "topology.json"
    kinds = [node["kind"] for node in json.loads(path.read_text("utf-8"))["nodes"]]
    assert cls.kind in kinds


@each_kind
def test_one_of_its_parameters_or_inputs_is_refused_in_a_test(cls: type[Operator]) -> None:
    refused = set()
    for raw, (_, at, _) in REFUSED.values():
        refused |= {node["kind"] for node in raw["nodes"] if node["id"] == at}
    assert cls.kind in refused


@each_kind
def test_its_page_is_written(cls: type[Operator]) -> None:
    for name in (f"{cls.kind}.md", f"pictures/{cls.kind}.svg"):
        assert (PAGES / name).read_text("utf-8") == PAGE_TEXTS[name]


def test_no_page_is_left_of_a_kind_that_is_gone() -> None:
    found = [*PAGES.glob("*.md"), *PAGES.glob("pictures/*.svg")]
    assert {str(path.relative_to(PAGES)) for path in found} == set(PAGE_TEXTS)


def test_the_committed_catalog_is_the_generated_one() -> None:
    assert CATALOG_FILE.read_text("utf-8") == catalog_text()


def test_the_catalog_lists_every_kind_once_in_the_order_of_families() -> None:
    found = catalog()
    kinds = found["kinds"]
    assert isinstance(kinds, list)
    assert [kind["kind"] for kind in kinds] == list(registry())
    families = [kind["family"] for kind in kinds]
    assert families == sorted(families, key=list(FAMILIES).index)
    assert len(families) == len(set(registry()))


def test_functions_that_a_replay_would_change_are_not_offered() -> None:
    functions = catalog()["functions"]
    assert isinstance(functions, list)
    names = {function["name"] for function in functions}
    assert {"upper", "concat", "named_struct", "transform"} <= names
    assert {"rand", "uuid", "current_timestamp", "now"} <= names, "these are recorded"
    assert not names & {"shuffle", "uniform", "monotonically_increasing_id", "current_time"}


def test_the_steps_that_run_python_are_those_of_the_kinds_that_run_python() -> None:
    assert set(PYTHON_STEPS) == {kind.removeprefix("source.") for kind in python_kinds()}
    assert set(GLOBAL_STEPS) == {kind.removeprefix("source.") for kind in global_kinds()}
