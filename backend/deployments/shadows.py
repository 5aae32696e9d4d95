"""Shadows: another version of a topology beside the running one, on the same records.

A shadow is a deployment of its own, with its own checkpoint and its own output topics; its driver
follows the checkpoint of the other deployment (`millrace_runtime.driver.shadow`). Nothing here
changes the deployment that it follows.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from accounts.choices import Role
from accounts.events import audit
from accounts.models import User
from accounts.permissions import require
from accounts.topics import allows
from django.db import transaction
from millrace_backend import kafka
from millrace_backend.errors import ApiError, Conflict, NotFound
from millrace_compiler.documents.topic_patterns import topic_pattern
from millrace_compiler.graphs.kinds import sink_kinds
from millrace_compiler.graphs.needs import topics_of
from millrace_model.documents import DocumentNode, DocumentSettings, TopologyDocument

from deployments import handover
from deployments.changing import ChangeByPerson
from deployments.choices import ColdReason, Desired, ShadowStart
from deployments.cluster import list_topics
from deployments.created_topics import create_within_quota
from deployments.environments import document_in
from deployments.events import wake_reconciler
from deployments.models import Deployment, Observation, Shadow
from deployments.plain_dialect import refuse_plain
from deployments.rows import forget, locked, version_numbered

#: the longest topic name that Kafka allows
LONGEST_NAME = 249
#: settings that a shadow copies from the deployment that it follows
_SETTINGS = ("cores", "memory_mb", "batch_deadline_s", "environment")


def shadow_of(row: Deployment) -> Shadow:
    """Return the shadow that follows a deployment. Raises NotFound if there is none."""
    found = Shadow.objects.select_related("deployment__version", "deployment__topology", "of")
    shadow = found.filter(of=row).first()
    if shadow is None:
        raise NotFound("no_shadow", f"“{row.topology.name}” has no shadow.", "Start one.")
    return shadow


def has_shadow(row: Deployment) -> bool:
    """Whether a shadow follows a deployment."""
    return Shadow.objects.filter(of=row).exists()


def shadow_document(document: TopologyDocument, suffix: str) -> TopologyDocument:
    """Return the document with a suffix on its output topics; what it reads stays the same."""
    written = set()
    nodes: list[DocumentNode] = []
    for node in document.get("nodes", []):
        params = dict(node.get("params") or {})
        if node["kind"] in sink_kinds():
            if params.get("topic"):
                written.add(params["topic"])
                params["topic"] += suffix
            if params.get("topic_expression"):
                params["topic_expression"] = f"concat({params['topic_expression']}, '{suffix}')"
        nodes.append({**node, "params": params})
    settings: DocumentSettings = {**(document.get("settings") or {})}
    if letters := settings.get("dead_letter_topic"):
        written.add(letters)
        settings["dead_letter_topic"] = letters + suffix
    topics = dict(document.get("topics") or {})
    topics |= {name + suffix: topics[name] for name in written if name in topics}
    made = document.copy()
    made["nodes"], made["settings"], made["topics"] = nodes, settings, topics
    return made


def own_topics(document: TopologyDocument, suffix: str) -> list[str]:
    """Return the output topics that the document names, with the suffix."""
    needs = topics_of(shadow_document(document, suffix))
    return [need.topic for need in needs if need.topic.endswith(suffix)]


def create_shadow(actor: User, row: Deployment, number: int, start: str) -> Shadow:
    """Have another version process the records that a deployment processes from now on.

    Raises Conflict if the deployment has a shadow or has done nothing yet, or if there is not
    enough memory for another driver; ApiError for topic names that would be too long, Unavailable
    if the cluster does not respond.
    """
    require(actor, row.workspace_id, Role.OPERATOR)
    version = version_numbered(row.topology_id, number)
    _require_possible(row)
    suffix = f"-shadow-{secrets.token_hex(4)}"
    document = document_in(version, row.settings)
    names = own_topics(document, suffix)
    _require_usable(row, names)
    long = [name for name in names if len(name) > LONGEST_NAME]
    if long:
        raise ApiError(
            "topic_name_too_long",
            f"The shadow's topic {long[0]} has a name of {len(long[0])} characters.",
            f"Kafka allows {LONGEST_NAME}. Shorten the name of the output topic.",
        )
    there = {topic["name"]: topic["partitions"] for topic in list_topics([])}
    declared = document.get("topics") or {}
    partitions = {
        name: there.get(name.removesuffix(suffix))
        or (declared.get(name.removesuffix(suffix)) or {}).get("partitions", 1)
        for name in names
    }
    create_within_quota(row.workspace_id, partitions, dict.fromkeys(names, -1))
    with transaction.atomic():
        locked(row.pk)
        if has_shadow(row):
            raise _exists(row)
        settings = {name: row.settings[name] for name in _SETTINGS if name in row.settings}
        made = Deployment.objects.create(
            workspace_id=row.workspace_id,
            topology=row.topology,
            version=version,
            target=row.target,
            settings=settings,
            is_shadow=True,
            created_by=actor,
        )
        Observation.objects.create(deployment=made)
        shadow = Shadow.objects.create(deployment=made, of=row, start=start, suffix=suffix)
        what = {"topology": row.topology.name, "version": number, "start": start}
        audit(
            actor, row.workspace_id, "deployment.shadow", "deployment", row.pk,
            **what, shadow=made.pk,
        )  # fmt: skip
        wake_reconciler(made.pk)
    return shadow


def _exists(row: Deployment) -> Conflict:
    return Conflict(
        "has_shadow",
        f"“{row.topology.name}” already has a shadow.",
        "End it first.",
        deployment=row.pk,
    )


def _require_usable(row: Deployment, names: Sequence[str]) -> None:
    """Raise ApiError for forbidden topics, Conflict if another job would read them by a pattern."""
    for name in names:
        if not allows(row.workspace.topic_prefixes, name):
            raise ApiError(
                "topic_not_allowed",
                f"This workspace may not use the topic “{name}”.",
                "Ask the installation's admin for its prefix.",
                topic=name,
            )
    running = Deployment.objects.filter(desired=Desired.RUNNING).select_related("version")
    for other in running.iterator(chunk_size=20):
        for node in document_in(other.version, other.settings).get("nodes", []):
            pattern = (node.get("params") or {}).get("topic_pattern")
            if node["kind"].startswith("source.") and isinstance(pattern, str):
                read = [name for name in names if topic_pattern(pattern).matches(name)]
                if read:
                    raise Conflict(
                        "pattern_reads_shadow",
                        f"A running deployment reads topics like “{pattern}”, which would include "
                        f"the shadow's topic {read[0]}.",
                        "Make the pattern narrower.",
                        deployment=other.pk,
                    )


def _require_possible(row: Deployment) -> None:
    if row.is_shadow:
        raise Conflict("is_shadow", "A shadow cannot have a shadow.", deployment=row.pk)
    refuse_plain(row, "have a shadow")
    if has_shadow(row):
        raise _exists(row)
    if row.state_location is not None:
        raise Conflict(
            "checkpoint_not_local",
            f"The checkpoint of “{row.topology.name}” is in {row.state_location}.",
            "A shadow requires a checkpoint in a local folder.",
            deployment=row.pk,
        )
    if not (row.directory / "checkpoint" / "outputs.json").exists():
        raise Conflict(
            "not_yet_comparable",
            f"The driver of “{row.topology.name}” has not recorded where its outputs end.",
            "Start it, or restart it if an older release of Millrace started it, and wait for its "
            "next micro-batch.",
            deployment=row.pk,
        )
    cold = handover.cold_reason(row.settings, row.directory, paused=False)
    if cold is not None and cold.code == ColdReason.MEMORY:
        raise Conflict(
            "not_enough_memory",
            cold.message.split(";")[0] + ".",
            "Give both drivers less memory in the settings, or stop another deployment.",
            deployment=row.pk,
        )


def end_shadow(actor: User, row: Deployment, name: str) -> None:
    """Stop the shadow, then delete it with its checkpoint and its topics.

    Raises ApiError without the deployment's name, NotFound if there is no shadow.
    """
    require(actor, row.workspace_id, Role.OPERATOR)
    shadow = shadow_of(row)
    if name != row.topology.name:
        raise ApiError(
            "name_does_not_match",
            "Ending a shadow must be confirmed with the name of the deployment.",
            f"Send “name”: “{row.topology.name}”.",
            fields={"name": [f"Type {row.topology.name}."]},
        )
    Shadow.objects.filter(pk=shadow.pk).update(ending=True)
    with ChangeByPerson(actor, shadow.deployment, "deployment.end_shadow", of=row.pk) as change:
        change.row.desired = Desired.STOPPED
        change.row.restart_requested_at = None
        change.row.paused = change.row.draining = False


def delete_ended(deployment: int) -> bool:
    """Delete a shadow that was to end and has stopped; return whether there was one.

    Safe to repeat. Raises Unavailable if the cluster does not respond.
    """
    shadow = Shadow.objects.filter(deployment=deployment, ending=True).first()
    if shadow is None:
        return False
    names = [topic["name"] for topic in list_topics([]) if topic["name"].endswith(shadow.suffix)]
    if names:
        kafka.answers(
            kafka.admin().delete_topics(
                names,
                operation_timeout=kafka.ANSWER_SECONDS,
                request_timeout=kafka.ANSWER_SECONDS,
            )
        )
    with transaction.atomic():
        forget(locked(deployment))
    return True


def refuse_shadow(row: Deployment) -> None:
    """Raises Conflict for a shadow: its version and settings do not change."""
    if row.is_shadow:
        raise Conflict(
            "is_shadow",
            f"This is the shadow of another deployment of “{row.topology.name}”.",
            "End it, and start another one.",
            deployment=row.pk,
        )


def copies_state(shadow: Shadow) -> bool:
    """Whether it begins with the state of the deployment that it follows."""
    return shadow.start == ShadowStart.RUNNING
