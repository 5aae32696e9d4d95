"""The only code that changes the tests of a topology."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from accounts.choices import Role
from accounts.events import audit
from accounts.models import User
from accounts.permissions import require
from django.db import transaction
from django.db.models import Sum
from django.utils import timezone
from millrace_backend.errors import Conflict
from millrace_backend.quotas import require_room
from millrace_model.scenarios import Expected

from topologies.models import Topology, TopologyTest, size_of


def keep_test(
    actor: User,
    topology: Topology,
    name: str,
    inputs: Sequence[Any],
    expected: Expected,
    test: TopologyTest | None = None,
) -> TopologyTest:
    """Create a test, or replace the content of `test`.

    Raises Conflict for a name that another test of the topology has, and if a quota is reached.
    """
    require(actor, topology.workspace_id, Role.EDITOR)
    with transaction.atomic():
        # Requests that keep tests at the same time are serialized.
        Topology.objects.select_for_update().get(pk=topology.pk)
        others = topology.tests.exclude(pk__in=[test.pk] if test else [])
        if others.filter(name__iexact=name).exists():
            raise Conflict(
                "name_taken",
                f"This topology already has a test named {name!r}.",
                "Choose another name, or replace that test.",
                fields={"name": ["Another test has this name."]},
            )
        require_room("tests", others.count())
        size = size_of(list(inputs), dict(expected))
        require_room("tests_mb", others.aggregate(Sum("size"))["size__sum"] or 0, size)
        kept = test or TopologyTest(topology=topology)
        kept.name, kept.inputs, kept.expected = name, list(inputs), dict(expected)
        kept.size = size
        kept.updated_by, kept.updated_at = actor, timezone.now()
        kept.save()
        _audit(actor, topology, "keep", name)
    return kept


def delete_test(actor: User, test: TopologyTest) -> None:
    """Delete a test."""
    topology = test.topology
    require(actor, topology.workspace_id, Role.EDITOR)
    with transaction.atomic():
        name = test.name
        test.delete()
        _audit(actor, topology, "delete", name)


def _audit(actor: User, topology: Topology, what: str, name: str) -> None:
    audit(
        actor, topology.workspace_id, f"test.{what}", "topology", topology.pk,
        topology=topology.name, name=name,
    )  # fmt: skip
