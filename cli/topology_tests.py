"""`test-topology`: run the tests of a topology on Spark, and print the differences.

A test is a JSON file with the fields of a scenario file: `inputs` (input lines), `expected`
(`outputs`, and optionally `dropped`, `stores`, `error`), and optionally `title`, `compare` and
`cuts`. Parts that `expected` omits are not compared; `after` and `timestamp` only if every record
has them. `expected.conditions` are predicates over records of a topic or rows of a store.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any, cast

from millrace_compiler import Compilation, load_document
from millrace_compiler.compilation.conditions import read_conditions
from millrace_compiler.graphs.fragments import resolved
from millrace_model.documents import TopologyDocument
from millrace_model.scenarios import Scenario, TestResult
from millrace_runtime.errors import MillraceError
from millrace_runtime.results.cuts import Cut
from millrace_runtime.simulator.expectations import Expectations

from cli.documents import read_document, read_text, show_diagnostics
from cli.programs import is_program, programs
from cli.simulating import Warm, doubled, run_scenario

FIELDS = ("id", "title", "topology", "inputs", "expected", "compare", "cuts")
MODES = ("sequence", "set_per_input", "last_per_key", "refused")
CUTS = ("each", "all")


def test_topology_command(arguments: argparse.Namespace) -> int:
    """Run all tests. Exit code 0: all pass; 1: one fails; 2: a refused document or invalid test."""
    document = read_document(arguments.document, arguments.environment, fragments=True)
    tests = find_tests(arguments.document, arguments.tests)
    warm = Warm(unbatched=True, lines=programs.lines.get(arguments.document))
    results = []
    try:
        compilation = warm.compile(document)
        refusals = all(test.get("compare") == "refused" for test in tests)
        if not compilation.ok and not refusals:
            show_diagnostics(
                [each.to_json() for each in compilation.diagnostics], as_json=arguments.json
            )
            return 2
        whole = resolved(document)
        doubles: list[str] | None = None
        if arguments.doubles:
            whole, found = doubled(compilation, document)
            doubles = list(found)
            compilation = warm.compile(whole)
        expected = [_expects(warm, compilation, test) for test in tests]
        for test, expects in zip(tests, expected, strict=True):
            result = run_test(warm, whole, test, expects)
            results.append(result)
            if not arguments.json:
                print("\n".join(_lines(result)), flush=True)
    finally:
        warm.close()
    failed = sum(not result["passed"] for result in results)
    if arguments.json:
        counts = {"passed": len(results) - failed, "failed": failed}
        shown = counts if doubles is None else {**counts, "doubles": doubles}
        print(json.dumps({"tests": results, **shown}, ensure_ascii=False))
    else:
        if doubles is not None:
            print(f"Doubles stand for: {', '.join(doubles) or 'no node'}.")
        print(f"{len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


def _expects(warm: Warm, compilation: Compilation, test: Scenario) -> Expectations:
    """Return what a test expects. Raises MillraceError that names an invalid test."""
    try:
        return Expectations(warm.spark, warm.analyzer, compilation, test["expected"])
    except MillraceError as error:
        raise MillraceError(error.code, f"{test['id']}: {error.message}") from None


def run_test(
    warm: Warm, document: TopologyDocument, test: Scenario, expects: Expectations
) -> TestResult:
    """Run a test in each of its cuts; return `{"id", "title", "passed", "differences": [text]}`."""
    scenario = test.copy()
    scenario["topology"] = document
    found = []
    for cut in test["cuts"]:
        result = run_scenario(warm, scenario, Cut.parse(cut))
        about = "" if cut == "each" else f"cut {cut}: "
        found += [f"{about}{each}" for each in expects.differences(scenario, result, cut)]
    return {
        "id": test["id"],
        "title": test.get("title"),
        "passed": not found,
        "differences": found,
    }


def _lines(result: TestResult) -> list[str]:
    title = f": {result['title']}" if result["title"] else ""
    verdict = "passed" if result["passed"] else "failed"
    return [
        f"{verdict}  {result['id']}{title}",
        *(f"        {text}" for text in result["differences"]),
    ]


def find_tests(document: str, folder: str | None) -> list[Scenario]:
    """Return the tests of a folder, in the order of their file names.

    Without a folder: the document itself if it is a scenario file, else the folder `tests` beside
    it. Raises MillraceError if there is no test, or an invalid one.
    """
    if folder is None and not is_program(document):
        whole = load_document(read_text(document))
        if "topology" in whole and "expected" in whole:
            return [_checked(whole, Path(document))]
    program = Path(document).is_dir()
    beside = Path(document).resolve() if program else Path(document).resolve().parent
    place = Path(folder) if folder else beside / "tests"
    if not place.is_dir():
        raise MillraceError(
            "nothing_found",
            f"There is no folder {place}. Set the folder of the tests with --tests DIR.",
        )
    paths = sorted(place.glob("*.json"))
    if not paths:
        raise MillraceError("nothing_found", f"There is no test (*.json) in {place}.")
    tests = []
    for path in paths:
        try:
            test = json.loads(read_text(str(path)))
        except (ValueError, RecursionError) as error:
            raise _faulty(path, f"it is not JSON: {error}") from None
        tests.append(_checked(test, path))
    return tests


def _checked(test: Any, path: Path) -> Scenario:
    """Return a test with its defaults. Raises MillraceError that names the invalid field."""
    if not isinstance(test, dict):
        raise _faulty(path, "a test is an object with inputs and expected")
    unknown = [name for name in test if name not in FIELDS]
    if unknown:
        raise _faulty(path, f"there is no field {unknown[0]}; fields are {', '.join(FIELDS)}")
    expected = test.get("expected")
    if not isinstance(expected, dict):
        raise _faulty(
            path,
            "expected is missing: an object with outputs, stores, dropped, conditions or error",
        )
    for name, kind in (("outputs", list), ("stores", dict), ("error", dict)):
        if expected.get(name) is not None and not isinstance(expected[name], kind):
            raise _faulty(path, f"expected.{name} must be {_KINDS[kind]}")
    rows = expected.get("outputs") or []
    if not all(isinstance(row, dict) and isinstance(row.get("topic"), str) for row in rows):
        raise _faulty(path, "each of expected.outputs needs a topic")
    try:
        read_conditions(expected.get("conditions"))
    except ValueError as error:
        raise _faulty(path, f"expected.{error}") from None
    if not isinstance(test.get("inputs", []), list):
        raise _faulty(path, "inputs must be a list of input lines")
    mode = test.get("compare", "sequence")
    if mode not in MODES:
        raise _faulty(path, f"compare must be one of {', '.join(MODES)}, found {mode!r}")
    cuts = test.get("cuts", ["each"])
    if not isinstance(cuts, list) or not cuts or not all(cut in CUTS for cut in cuts):
        raise _faulty(path, f"cuts must be a list of {' and '.join(CUTS)}, found {cuts!r}")
    if mode == "set_per_input" and not all("after" in row for row in rows):
        raise _faulty(path, "compare set_per_input needs after in each of expected.outputs")
    return cast(Scenario, {**test, "id": str(test.get("id", path.stem)), "cuts": cuts})


_KINDS = {list: "a list", dict: "an object"}


def _faulty(path: Path, what: str) -> MillraceError:
    return MillraceError("test_invalid", f"{path}: {what}.")
