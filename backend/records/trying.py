"""*Try it*: a template as a topology that only needs to be deployed to run on live data."""

from __future__ import annotations

from dataclasses import dataclass

from accounts.choices import Role
from accounts.models import User, Workspace
from accounts.permissions import require
from catalog.templates import Template
from deployments.actions import create_topics
from millrace_backend.errors import Conflict
from millrace_compiler.generating import recipe_settings
from topologies.models import Topology
from topologies.templating import create_from_template

from records.generators import MOST_SECONDS, start_generator
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
    """Create the topology with its tests and samples and its topics, and start its generators.

    Raises Unavailable, without creating anything, if the cluster does not respond.
    """
    require(actor, workspace.pk, Role.OPERATOR)
    made = chosen.named(title, workspace.topic_prefixes)
    topics = [
        {"name": name, "partitions": each["partitions"], "retention_ms": RETENTION_MS}
        for name, each in made.document["topics"].items()
    ]
    create_topics(actor, workspace, topics)
    topology = create_from_template(
        actor, workspace, chosen, free_name(workspace, title), message=message,
        description=description or chosen.description,
    )  # fmt: skip
    return Tried(topology, start_generators(actor, workspace, made, seconds))


def start_generators(
    actor: User, workspace: Workspace, made: Template, seconds: int | None
) -> list[Generator]:
    """Start the generators of a template, except for topics that already have one."""
    started = []
    for settings in made.generators:
        recipe = recipe_settings(made.document, settings)
        topic, rate = settings["topic"], settings["rate"]
        try:
            started.append(start_generator(actor, workspace, topic, recipe, rate, seconds=seconds))
        except Conflict as conflict:
            if conflict.code != "already_generated":
                raise
    return started


def free_name(workspace: Workspace, title: str) -> str:
    """Return the title, if it is taken with the first free number from 2."""
    begin = workspace.topologies.filter(name__istartswith=title[:100])
    taken = {name.lower() for name in begin.values_list("name", flat=True)}
    name, number = title, 1
    while name.lower() in taken:
        number += 1
        name = f"{title} {number}"
    return name
