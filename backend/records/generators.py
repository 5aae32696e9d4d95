"""The only code in which people start and stop generators."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from accounts.choices import Role
from accounts.events import audit
from accounts.models import User, Workspace
from accounts.permissions import require
from django.db import IntegrityError, transaction
from django.db.models import Case, QuerySet, Value, When
from django.utils import timezone
from millrace_backend.errors import Conflict
from millrace_backend.quotas import require_room

from records.choices import GeneratorState
from records.encoding import encoded_by_schema, records_of
from records.generating import check_rate, recipe_of
from records.models import Generator
from records.topics import check_allowed, described
from records.types import types_of

#: maximum records per second and maximum duration in seconds of a generator
MOST_RATE, MOST_SECONDS = 1_000, 86_400
#: maximum number of a workspace's ended generators that are kept
KEPT = 50


def start_generator(
    actor: User,
    workspace: Workspace,
    topic: str,
    recipe: Mapping[str, Any],
    rate: float,
    *,
    seconds: int | None,
    most: int | None = None,
) -> Generator:
    """Start a generator, which writes records to a topic until a limit is reached or a stop.

    ``seconds`` is None, for no time limit, only for the installation's samples. Raises ApiError for
    an invalid or too large recipe or a schema that cannot be obtained, NotFound for a topic that
    does not exist, Conflict if a generator already writes to it or too many are running,
    Unavailable while the simulator, which encodes Avro and Protobuf, is starting.
    """
    require(actor, workspace.pk, Role.OPERATOR)
    check_allowed(workspace, topic)
    settings = dict(recipe)
    types = types_of(actor, workspace, {part: recipe[part] for part in ("key", "value")})
    trial = recipe_of(topic, recipe, types)
    check_rate(trial, rate)
    described(topic)
    records_of(trial, [(0, round(time.time() * 1000))], f"person {actor.pk}")
    if encoded_by_schema(trial):
        settings["types"] = {part: each.to_json() for part, each in types.items()}
    try:
        with transaction.atomic():
            # Requests that start generators at the same time are serialized.
            Workspace.objects.select_for_update().get(pk=workspace.pk)
            running = workspace.generators.filter(state=GeneratorState.RUNNING)
            require_room("generators", running.count())
            made = Generator.objects.create(
                workspace=workspace,
                topic=topic,
                recipe=settings,
                rate=rate,
                most=most,
                ends_at=None if seconds is None else timezone.now() + timedelta(seconds=seconds),
                created_by=actor,
            )
            audit(
                actor, workspace.pk, "generator.start", "generator", made.pk,
                topic=topic, rate=rate, seconds=seconds, most=most,
            )  # fmt: skip
    except IntegrityError as error:
        raise Conflict(
            "already_generated",
            f"A generator is already writing to the topic {topic}.",
            "Stop it first, or choose another topic.",
        ) from error
    ended = workspace.generators.exclude(state=GeneratorState.RUNNING)
    old = list(ended.values_list("pk", flat=True)[KEPT:])
    Generator.objects.filter(pk__in=old).delete()
    return made


def running_first(rows: QuerySet[Generator]) -> QuerySet[Generator]:
    """Sort running generators first, newest first, then ended ones, last ended first."""
    ended = Case(When(state=GeneratorState.RUNNING, then=Value(0)), default=Value(1))
    return rows.order_by(ended, "-ended_at", "-id")


def stop_generator(actor: User, generator: Generator) -> Generator:
    """Stop a generator. One that has ended remains as it is."""
    require(actor, generator.workspace_id, Role.OPERATOR)
    with transaction.atomic():
        row = Generator.objects.select_for_update().get(pk=generator.pk)
        if row.state == GeneratorState.RUNNING:
            row.state, row.ended_at, row.problem = GeneratorState.STOPPED, timezone.now(), None
            row.save(update_fields=["state", "ended_at", "problem"])
            audit(
                actor, row.workspace_id, "generator.stop", "generator", row.pk,
                topic=row.topic, written=row.written,
            )  # fmt: skip
    return row
