"""Tests that must pass before a version is deployed, if the workspace requires them.

A test passes when the server simulates a document with the test's inputs and finds the expected
results, with the document's numbers of partitions and with empty stores. A pass is stored with the
hashes of the document and of the test. It also counts for a version that differs only in labels,
positions and descriptions of nodes, or in groups and notes, but not for a test that was changed
since.

A pass with the document's doubles counts as well, because a node that calls a service cannot run in
a test. It proves less: it is stored as a pass of the document with these doubles, counts only for
versions with the same ones, and plans of deployments name it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, cast

from accounts.models import Workspace
from django.utils import timezone
from millrace_backend.errors import Conflict
from millrace_model.changes import TestsJson
from millrace_model.documents import Double, DoubleRow, TopologyDocument
from millrace_model.scenarios import Expected

from topologies.models import TestPass, Version, hash_of

#: how long a pass is kept after the last run of the test with the document
KEPT = timedelta(days=90)
#: maximum number of tests named in an error message
NAMED = 5


def note_pass(
    workspace: Workspace,
    document: TopologyDocument,
    inputs: Sequence[Any],
    expected: Expected,
    doubled: bool = False,
) -> None:
    """Store that a test passed with a document; ``doubled``: with the doubles of its nodes."""
    now = timezone.now()
    TestPass.objects.update_or_create(
        workspace=workspace,
        document_hash=_hash_of_document(document, doubled),
        test_hash=_hash_of_test(inputs, expected),
        defaults={"at": now},
    )
    TestPass.objects.filter(workspace=workspace, at__lt=now - KEPT).delete()


def tests_of(version: Version) -> TestsJson:
    """Return which tests have passed with a version, and which of them only with doubles."""
    topology = version.topology
    tests = list(topology.tests.all())
    plain, doubled = (_passed(version, with_doubles) for with_doubles in (False, True))
    hashes = {test.pk: _hash_of_test(test.inputs, test.expected) for test in tests}
    missing = [test.name for test in tests if hashes[test.pk] not in plain | doubled]
    return {
        "required": topology.workspace.tests_required,
        "passed": len(tests) - len(missing),
        "missing": missing,
        "doubled": [test.name for test in tests if hashes[test.pk] in doubled - plain],
        "doubles": [double["node"] for double in doubles_in(version.document)],
    }


def _passed(version: Version, doubled: bool) -> set[str]:
    """Return the hashes of tests that have passed with a version, with its doubles or without."""
    if doubled and not doubles_in(version.document):
        return set()
    passes = TestPass.objects.filter(
        workspace=version.topology.workspace,
        document_hash=_hash_of_document(version.document, doubled),
    )
    return set(passes.values_list("test_hash", flat=True))


def require_tests(version: Version) -> TestsJson | None:
    """Raise Conflict if the workspace requires tests that have not passed with a version.

    Return them otherwise, None if the workspace requires none.

    A topology without tests is rejected too, because nothing states what it should do.
    """
    topology = version.topology
    if not topology.workspace.tests_required:
        return None
    found = tests_of(version)
    left = found["missing"]
    number = found["passed"] + len(left)
    if number == 0:
        raise Conflict(
            "tests_missing",
            f"This workspace deploys only tested versions, but “{topology.name}” has no test.",
            "Simulate it in the tab Simulate, and keep the result as a test.",
        )
    if left:
        shown = ", ".join(f"“{name}”" for name in left[:NAMED])
        more = f" and {len(left) - NAMED} more" if len(left) > NAMED else ""
        raise Conflict(
            "tests_not_passed",
            f"{len(left)} of {number} tests of “{topology.name}” have not passed with version "
            f"{version.number}: {shown}{more}.",
            "Open that version and run all tests in the tab Simulate; then deploy it.",
            tests=left,
        )
    return found


#: parts of a node that never affect its execution
DRAWN = frozenset({"label", "position", "description"})


def doubles_in(document: TopologyDocument) -> list[Double]:
    """Return the doubles of a document, each without parts that say nothing."""
    drawing = document.get("drawing")
    rows = drawing.get("doubles") if isinstance(drawing, Mapping) else None
    return as_they_run(rows) if isinstance(rows, list) else []


def as_they_run(doubles: Sequence[Any]) -> list[Double]:
    """Return doubles in one order, without parts that say nothing."""
    found: list[Double] = [
        {
            "node": str(double.get("node")),
            "rows": [
                cast(DoubleRow, {part: text for part, text in row.items() if text})
                for row in double.get("rows") or []
                if isinstance(row, Mapping)
            ],
            "passes": bool(double.get("passes")),
        }
        for double in doubles
        if isinstance(double, Mapping)
    ]
    return sorted(found, key=lambda double: double["node"])


def _hash_of_document(document: TopologyDocument, doubled: bool) -> str:
    content: dict[str, object] = {**document}
    content.pop("drawing", None)
    if doubled:
        content["doubles"] = doubles_in(document)
    nodes = content.get("nodes")
    if isinstance(nodes, list):
        content["nodes"] = [_as_it_runs(node) for node in nodes]
    return _hash(content)


def _as_it_runs(node: Any) -> Any:
    if not isinstance(node, Mapping):
        return node
    return {part: value for part, value in node.items() if part not in DRAWN}


def _hash_of_test(inputs: Sequence[Any], expected: Expected) -> str:
    return _hash({"inputs": list(inputs), "expected": dict(expected)})


def _hash(content: Mapping[str, object]) -> str:
    """Return a hash of JSON that is the same in Python and in browsers, which write 10.0 as 10."""
    return hash_of(_as_browsers_write(content))


def _as_browsers_write(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _as_browsers_write(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_as_browsers_write(each) for each in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
