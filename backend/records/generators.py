"""The only code in which people start, change, stop and delete generators."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from typing import cast

from accounts.choices import Role
from accounts.events import audit
from accounts.models import User, Workspace
from accounts.permissions import require
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Case, QuerySet, Value, When
from django.utils import timezone
from millrace_backend.errors import Conflict, cause
from millrace_backend.quotas import require_room
from millrace_model.events import CauseFields
from millrace_model.recipes import KeptRecipe, RecipeSettings
from millrace_services import local_services
from topologies.models import Topology

from records.choices import GeneratorState
from records.encoding import encoded_by_schema, records_of
from records.generating import check_rate, recipe_of
from records.models import Generator
from records.topics import check_allowed, described
from records.types import types_of

#: maximum records per second and maximum duration in seconds of a generator
MOST_RATE, MOST_SECONDS = 1_000, 86_400
#: maximum number of a workspace's generators, running or not
MOST_KEPT = 200
#: code of the problem of a generator that stopped with its deployment, and starts with it again
WITH_DEPLOYMENT = "generator_with_deployment"


def start_generator(
    actor: User,
    workspace: Workspace,
    topic: str,
    recipe: RecipeSettings,
    rate: float,
    *,
    seconds: int | None,
    most: int | None = None,
    topology: Topology | None = None,
) -> Generator:
    """Make a generator, which writes records to a topic until a limit is reached or a stop.

    ``seconds`` is None, for no time limit, only for the installation's samples; with ``topology``
    it stops with that topology's deployment. Raises ApiError for an invalid or too large recipe or
    a schema that cannot be obtained, NotFound for a topic that does not exist, Conflict if a
    generator already writes to it or there are too many, Unavailable while the simulator, which
    encodes Avro and Protobuf, is starting.
    """
    settings = _checked(actor, workspace, topic, recipe, rate)
    with _starting(workspace, topic):
        if workspace.generators.count() >= MOST_KEPT:
            raise Conflict(
                "too_many_generators_kept",
                f"This workspace already has {MOST_KEPT} generators.",
                "Delete some that have ended, or start one of them again.",
                most=MOST_KEPT,
            )
        made = Generator.objects.create(
            workspace=workspace,
            topic=topic,
            topology=topology,
            recipe=settings,
            rate=rate,
            most=most,
            seconds=seconds,
            ends_at=_end(seconds),
            created_by=actor,
        )
        audit(
            actor, workspace.pk, "generator.start", "generator", made.pk,
            topic=topic, rate=rate, seconds=seconds, most=most,
        )  # fmt: skip
    return made


def start_again(actor: User, generator: Generator) -> Generator:
    """Start a generator that has ended, with its settings; one that runs remains as it is.

    It continues after the last record that it wrote, or begins again if it has reached its number
    of records. Raises the errors of `start_generator`.
    """
    require(actor, generator.workspace_id, Role.OPERATOR)
    check_allowed(generator.workspace, generator.topic)
    described(generator.topic)
    with _starting(generator.workspace, generator.topic, but=generator.pk):
        row = Generator.objects.select_for_update().get(pk=generator.pk)
        if row.state != GeneratorState.RUNNING:
            _run(actor, row)
    return row


def change_generator(
    actor: User,
    generator: Generator,
    recipe: RecipeSettings,
    rate: float,
    *,
    seconds: int | None,
    most: int | None,
) -> Generator:
    """Change the settings of a generator that does not run.

    Raises the errors of `start_generator`, and Conflict while it runs.
    """
    settings = _checked(actor, generator.workspace, generator.topic, recipe, rate)
    with transaction.atomic():
        row = _ended(generator)
        row.recipe, row.rate, row.seconds, row.most = settings, rate, seconds, most
        row.save(update_fields=["recipe", "rate", "seconds", "most"])
        audit(
            actor, row.workspace_id, "generator.change", "generator", row.pk,
            topic=row.topic, rate=rate, seconds=seconds, most=most,
        )  # fmt: skip
    return row


def delete_generator(actor: User, generator: Generator) -> None:
    """Delete a generator; its records stay in the topic. Raises Conflict while it runs."""
    require(actor, generator.workspace_id, Role.OPERATOR)
    with transaction.atomic():
        row = _ended(generator)
        audit(
            actor, row.workspace_id, "generator.delete", "generator", row.pk,
            topic=row.topic, written=row.written,
        )  # fmt: skip
        row.delete()


def _checked(
    actor: User, workspace: Workspace, topic: str, recipe: RecipeSettings, rate: float
) -> KeptRecipe:
    """Return the recipe as it is stored, after a first record was made from it."""
    require(actor, workspace.pk, Role.OPERATOR)
    check_allowed(workspace, topic)
    settings = cast(KeptRecipe, dict(recipe))
    types = types_of(actor, workspace, {part: recipe[part] for part in ("key", "value")})
    trial = recipe_of(topic, recipe, types)
    check_rate(trial, rate)
    described(topic)
    records_of(trial, [(0, round(time.time() * 1000))], f"person {actor.pk}")
    if encoded_by_schema(trial):
        settings["types"] = {part: each.to_json() for part, each in types.items()}
    return settings


@contextmanager
def _starting(workspace: Workspace, topic: str, but: int | None = None) -> Iterator[None]:
    """Context of one start, in which starts of the workspace are serialized.

    Raises Conflict if there are too many running generators, except for ``but``, or the topic has
    another one.
    """
    try:
        with transaction.atomic():
            Workspace.objects.select_for_update().get(pk=workspace.pk)
            require_generators(workspace, 1, but)
            yield
            transaction.on_commit(wake_writer)
    except IntegrityError as error:
        raise Conflict(
            "already_generated",
            f"A generator is already writing to the topic {topic}.",
            "Stop it first, or choose another topic.",
        ) from error


def wake_writer() -> None:
    """Start the process that writes generated records, or let it look for new generators."""
    if settings.MILLRACE_GENERATORS:
        local_services.wake(settings.MILLRACE_GENERATORS)


def wake_writer_if_needed() -> None:
    """Start the process that writes generated records if a generator runs since before."""
    if Generator.objects.filter(state=GeneratorState.RUNNING).exists():
        wake_writer()


def require_generators(workspace: Workspace, number: int, but: int | None = None) -> None:
    """Raise Conflict if the workspace cannot run this number of generators more than now."""
    running = workspace.generators.filter(state=GeneratorState.RUNNING)
    others = running if but is None else running.exclude(pk=but)
    require_room("generators", others.count(), number)


def _end(seconds: int | None) -> datetime | None:
    return None if seconds is None else timezone.now() + timedelta(seconds=seconds)


def _run(actor: User, row: Generator) -> None:
    """Set a generator to running, in the transaction of the caller."""
    if row.most is not None and row.written >= row.most:
        row.written = 0
    row.state, row.problem, row.ended_at = GeneratorState.RUNNING, None, None
    row.ends_at = _end(row.seconds)
    row.save(update_fields=["written", "state", "problem", "ended_at", "ends_at"])
    audit(
        actor, row.workspace_id, "generator.start", "generator", row.pk,
        topic=row.topic, rate=row.rate, seconds=row.seconds, most=row.most,
    )  # fmt: skip


def _ended(generator: Generator) -> Generator:
    """Return the locked row of a generator. Raises Conflict while it runs."""
    row = Generator.objects.select_for_update().get(pk=generator.pk)
    if row.state == GeneratorState.RUNNING:
        raise Conflict("generator_running", "The generator is running.", "Stop it first.")
    return row


def running_first(rows: QuerySet[Generator]) -> QuerySet[Generator]:
    """Sort running generators first, newest first, then ended ones, last ended first."""
    ended = Case(When(state=GeneratorState.RUNNING, then=Value(0)), default=Value(1))
    return rows.order_by(ended, "-ended_at", "-id")


def stop_generator(
    actor: User, generator: Generator, problem: CauseFields | None = None
) -> Generator:
    """Stop a generator. One that has ended remains as it is."""
    require(actor, generator.workspace_id, Role.OPERATOR)
    with transaction.atomic():
        row = Generator.objects.select_for_update().get(pk=generator.pk)
        if row.state == GeneratorState.RUNNING:
            row.state, row.ended_at, row.problem = GeneratorState.STOPPED, timezone.now(), problem
            row.save(update_fields=["state", "ended_at", "problem"])
            audit(
                actor, row.workspace_id, "generator.stop", "generator", row.pk,
                topic=row.topic, written=row.written,
            )  # fmt: skip
        elif row.state == GeneratorState.STOPPED and row.problem is not None:
            # A person's stop also holds when the deployment starts again.
            row.problem = problem
            row.save(update_fields=["problem"])
    return row


def stop_with(actor: User, topology: Topology) -> None:
    """Stop the generators of a topology whose deployment a person stops."""
    problem = cause(
        WITH_DEPLOYMENT,
        f"It stopped with the deployment of “{topology.name}”, and starts with it again.",
        {"topology": topology.name},
    )
    for row in topology.generators.filter(state=GeneratorState.RUNNING):
        stop_generator(actor, row, problem)


def start_with(actor: User, topology: Topology) -> None:
    """Start the generators again that stopped with the topology's deployment.

    One whose topic has another generator by now, or for which there are too many, stays stopped.
    """
    stopped = topology.generators.filter(state=GeneratorState.STOPPED, problem__isnull=False)
    for row in stopped.select_related("workspace"):
        if row.problem is not None and row.problem["code"] == WITH_DEPLOYMENT:
            with suppress(Conflict), _starting(row.workspace, row.topic, but=row.pk):
                _run(actor, row)
