"""*Try it*: a template as a topology that only needs to be deployed to run on live data."""

from __future__ import annotations

from dataclasses import dataclass

from accounts.choices import Role
from accounts.models import User, Workspace
from accounts.permissions import require
from catalog.templates import Template
from deployments.actions import create_topics
from deployments.cluster import existing_topics
from millrace_compiler.types.generating import recipe_settings
from topologies.models import Topology
from topologies.templating import create_from_template

from records.generators import MOST_SECONDS, require_generators, start_generator
from records.models import Generator

#: short, so that a generator that runs for weeks does not fill the disk
RETENTION_MS = 86_400_000


@dataclass(frozen=True)
class Tried:
    """The topology and the generators that *Try it* created."""

    topology: Topology
    generators: list[Generator]


def try_template(
    actor: User,
    workspace: Workspace,
    chosen: Template,
    title: str,
    *,
    seconds: int | None = MOST_SECONDS,
    message: str = "",
    description: str = "",
) -> Tried:
    """Create the topology with its tests, samples and topics, and start its generators.

    Its topics are new ones, so that no record is written to a topic of somebody else. Raises,
    without creating anything, Conflict if its generators would be too many for the workspace, and
    Unavailable if the cluster does not respond.
    """
    require(actor, workspace.pk, Role.OPERATOR)
    require_generators(workspace, len(chosen.generators))
    made = with_new_topics(actor, workspace, chosen.named(title, workspace.topic_prefixes))
    topology = create_from_template(
        actor, workspace, made, free_name(workspace, title), message=message,
        description=description or chosen.description,
    )  # fmt: skip
    return Tried(topology, start_generators(actor, topology, made, seconds))


def with_new_topics(actor: User, workspace: Workspace, made: Template) -> Template:
    """Create the topics of a template under names that no topic has; return it with these names."""
    while True:
        free = made.beside(existing_topics())
        topics = [
            {"name": name, "partitions": each["partitions"], "retention_ms": RETENTION_MS}
            for name, each in free.document["topics"].items()
        ]
        created = create_topics(actor, workspace, topics)
        # If somebody else created one of them in between, try the next number.
        if len(created) == len(topics):
            return free


def start_generators(
    actor: User, topology: Topology, made: Template, seconds: int | None
) -> list[Generator]:
    """Start the generators of a template, which stop with the topology."""
    return [
        start_generator(
            actor, topology.workspace, settings["topic"], recipe_settings(made.document, settings),
            settings["rate"], seconds=seconds, topology=topology,
        )
        for settings in made.generators
    ]  # fmt: skip


def free_name(workspace: Workspace, title: str) -> str:
    """Return the title, if it is taken with the first free number from 2."""
    begin = workspace.topologies.filter(name__istartswith=title[:100])
    taken = {name.lower() for name in begin.values_list("name", flat=True)}
    name, number = title, 1
    while name.lower() in taken:
        number += 1
        name = f"{title} {number}"
    return name
