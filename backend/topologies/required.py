"""Tests that must pass before a version is deployed, if the workspace requires them.

A test passes when the server simulates a document with the test's inputs and finds the expected
results, with the document's numbers of partitions and with empty stores. A pass is stored with the
hashes of the document and of the test. It also counts for a version that differs only in labels,
positions and descriptions of nodes, or in groups and notes, but not for a test that was changed
since.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from accounts.models import Workspace
from django.utils import timezone
from millrace_backend.errors import Conflict
from millrace_model.documents import TopologyDocument
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
) -> None:
    """Store that a test passed with a document."""
    now = timezone.now()
    TestPass.objects.update_or_create(
        workspace=workspace,
        document_hash=_hash_of_document(document),
        test_hash=_hash_of_test(inputs, expected),
        defaults={"at": now},
    )
    TestPass.objects.filter(workspace=workspace, at__lt=now - KEPT).delete()


def require_tests(version: Version) -> None:
    """Raise Conflict if the workspace requires tests that have not passed with a version.

    A topology without tests is rejected too, because nothing states what it should do.
    """
    topology = version.topology
    if not topology.workspace.tests_required:
        return
    tests = list(topology.tests.all())
    if not tests:
        raise Conflict(
            "tests_missing",
            f"This workspace deploys only tested versions, but “{topology.name}” has no test.",
            "Simulate it in the tab Simulate, and keep the result as a test.",
        )
    passed = set(
        TestPass.objects.filter(
            workspace=topology.workspace, document_hash=_hash_of_document(version.document)
        ).values_list("test_hash", flat=True)
    )
    left = [test.name for test in tests if _hash_of_test(test.inputs, test.expected) not in passed]
    if left:
        shown = ", ".join(f"“{name}”" for name in left[:NAMED])
        more = f" and {len(left) - NAMED} more" if len(left) > NAMED else ""
        raise Conflict(
            "tests_not_passed",
            f"{len(left)} of {len(tests)} tests of “{topology.name}” have not passed with version "
            f"{version.number}: {shown}{more}.",
            "Open that version and run all tests in the tab Simulate; then deploy it.",
            tests=left,
        )


#: parts of a node that never affect its execution
DRAWN = frozenset({"label", "position", "description"})


def _hash_of_document(document: TopologyDocument) -> str:
    content: dict[str, object] = {**document}
    content.pop("drawing", None)
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
