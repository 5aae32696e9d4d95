"""Creation of topologies from templates, with their tests and sample records."""

from __future__ import annotations

from accounts.models import User, Workspace
from catalog.templates import Template
from django.db import transaction

from topologies.actions import create_topology
from topologies.models import SampleInputs, Topology
from topologies.testing import keep_test


def create_from_template(
    actor: User,
    workspace: Workspace,
    chosen: Template,
    name: str,
    *,
    description: str = "",
    message: str = "",
) -> Topology:
    """Create a topology with the template's document, tests and sample records.

    Its topics get the workspace's first prefix if the workspace may not use those of the template.
    Raises Conflict for a name that the workspace already has.
    """
    made = chosen.named(name, workspace.topic_prefixes)
    document = made.document.copy()
    if description:
        document["description"] = description
    with transaction.atomic():
        topology = create_topology(
            actor,
            workspace,
            name,
            document,
            description=description,
            message=message or f"From the template “{made.title}”",
        )
        SampleInputs.objects.create(topology=topology, inputs=made.inputs)
        for test in made.tests:
            keep_test(actor, topology, test["name"], test["inputs"], test["expected"])
    return topology
