"""`test-topology`: the tests kept with a topology, run on Spark, and what differs.

A test is a JSON file: `inputs` (input lines), `expected` (`outputs`, and optionally `dropped`,
`stores`, `error`), and optionally `title`, `compare` and `cuts`, as scenario files have them. What
`expected` leaves out is not compared; `after` and `timestamp` only if every record states them.
`expected.conditions` are predicates over records of a topic or rows of a store.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from millrace_compiler import Compilation, load_document
from millrace_compiler.conditions import read_conditions
from millrace_runtime.errors import MillraceError
from millrace_runtime.expectations import Expectations
from millrace_runtime.simulation import Cut

from cli.documents import read_document, read_text, show_diagnostics
from cli.simulating import Warm, run_scenario

FIELDS = ("id", "title", "topology", "inputs", "expected", "compare", "cuts")
MODES = ("sequence", "set_per_input", "last_per_key", "refused")
CUTS = ("each", "all")


def test_topology_command(arguments: argparse.Namespace) -> int:
    """Run every test; 0 if all pass, 1 if one fails, 2 for a refused graph or a faulty test."""
    document = read_document(arguments.document)
    tests = find_tests(arguments.document, arguments.tests)
    warm = Warm()
    results = []
    try:
        compilation = warm.compile(document)
        refusals = all(test.get("compare") == "refused" for test in tests)
        if not compilation.ok and not refusals:
            show_diagnostics(
                [each.to_json() for each in compilation.diagnostics], as_json=arguments.json
            )
            return 2
        expected = [_expects(warm, compilation, test) for test in tests]
        for test, expects in zip(tests, expected, strict=True):
            result = run_test(warm, document, test, expects)
            results.append(result)
            if not arguments.json:
                print("\n".join(_lines(result)), flush=True)
    finally:
        warm.close()
    failed = sum(not result["passed"] for result in results)
    if arguments.json:
        counts = {"passed": len(results) - failed, "failed": failed}
        print(json.dumps({"tests": results, **counts}, ensure_ascii=False))
    else:
        print(f"{len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


def _expects(warm: Warm, compilation: Compilation, test: dict[str, Any]) -> Expectations:
    """What a test expects. Raises MillraceError that names the test of a faulty condition."""
    try:
        return Expectations(warm.spark, warm.analyzer, compilation, test["expected"])
    except MillraceError as error:
        raise MillraceError(error.code, f"{test['id']}: {error.message}") from None


def run_test(
    warm: Warm, document: dict[str, Any], test: dict[str, Any], expects: Expectations
) -> dict[str, Any]:
    """Run one test in each of its cuts: `{"id", "title", "passed", "differences": [texts]}`."""
    scenario = {**test, "topology": document}
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


def _lines(result: dict[str, Any]) -> list[str]:
    title = f": {result['title']}" if result["title"] else ""
    verdict = "passed" if result["passed"] else "failed"
    return [
        f"{verdict}  {result['id']}{title}",
        *(f"        {text}" for text in result["differences"]),
    ]


def find_tests(document: str, folder: str | None) -> list[dict[str, Any]]:
    """The tests of a folder in the order of their names.

    Without a folder: the document itself where it is a scenario file, else the folder `tests`
    beside it. Raises MillraceError where there is no test, or one that cannot be run.
    """
    if folder is None:
        whole = load_document(read_text(document))
        if "topology" in whole and "expected" in whole:
            return [_checked(whole, Path(document))]
    place = Path(folder) if folder else Path(document).resolve().parent / "tests"
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


def _checked(test: Any, path: Path) -> dict[str, Any]:
    """A test with its defaults, or a MillraceError that names what cannot be run."""
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
    return {**test, "id": str(test.get("id", path.stem)), "cuts": cuts}


_KINDS = {list: "a list", dict: "an object"}


def _faulty(path: Path, what: str) -> MillraceError:
    return MillraceError("test_invalid", f"{path}: {what}.")
