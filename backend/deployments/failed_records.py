"""Decisions about the record at which a deployment failed."""

from __future__ import annotations

from accounts.models import User
from django.utils import timezone
from millrace_backend.errors import Conflict, NotFound
from millrace_model.drivers import DecidedRecord, RecordPlace
from millrace_model.events import FailedRecord, FailureJson

from deployments.changing import ChangeByPerson
from deployments.choices import Observed, RecordDecision
from deployments.environments import document_in
from deployments.models import Deployment, waiting_steps
from deployments.plain_dialect import refuse_plain
from deployments.state_plan import last_figures

#: number of decisions to keep for a deployment
MOST_DECISIONS = 200
#: codes of failures caused by one record; a record that fails at a sink cannot be a dead letter
_KINDS = frozenset({"processing", "deserialization", "timestamp", "production"})
_KINDS_OF_LETTERS = _KINDS - {"production"}


def decide_record(
    actor: User,
    deployment: Deployment,
    decision: RecordDecision,
    topic: str,
    partition: int,
    offset: int,
) -> None:
    """Restart the deployment and skip the record at which it failed, once.

    The record is dropped, or becomes a dead letter, at the node where it failed. Raises Conflict if
    the deployment did not fail at this record, or if it cannot become a dead letter.
    """
    refuse_plain(deployment, "skip single records")
    place: RecordPlace = {"topic": topic, "partition": partition, "offset": offset}
    action = f"deployment.{decision.value}_record"
    with ChangeByPerson(actor, deployment, action, **place) as change:
        failure = _require(change.row, place)
        if decision == RecordDecision.DEAD_LETTER:
            _require_dead_letters(change.row, failure)
        change.note(node=failure.get("node"), message=failure.get("message"))
        decided = {
            **place,
            "decision": decision.value,
            "active": True,
            "node": failure.get("node"),
            "by": actor.shown_name,
            "at": timezone.now().isoformat(),
        }
        kept = change.row.record_decisions[1 - MOST_DECISIONS :]
        change.row.record_decisions = [*kept, decided]
        change.row.paused = False
        change.begin_again(waiting_steps())


def remove_decision(
    actor: User, deployment: Deployment, topic: str, partition: int, offset: int
) -> None:
    """Withdraw a decision about a record: drivers that start from now on fail at it again.

    Raises NotFound if no decision applies to the record, Conflict if it was already read past.
    """
    place: RecordPlace = {"topic": topic, "partition": partition, "offset": offset}
    with ChangeByPerson(actor, deployment, "deployment.remove_record_decision", **place) as change:
        decisions = change.row.record_decisions
        chosen = [each for each in decisions if each["active"] and _place(each) == place]
        if not chosen:
            raise NotFound(
                "no_such_decision",
                f"No decision is in effect for offset {offset} of {topic}-{partition}.",
                "GET the deployment to list its `record_decisions`.",
            )
        if _is_past(change.row, topic, partition, offset):
            raise Conflict(
                "decision_used",
                f"The deployment has already read past offset {offset} of {topic}-{partition}.",
                "To process the record, start the deployment from its offset.",
                deployment=change.row.pk,
            )
        change.note(decision=chosen[-1]["decision"])
        removed = {
            "active": False,
            "removed_by": actor.shown_name,
            "removed_at": timezone.now().isoformat(),
        }
        change.row.record_decisions = [
            {**each, **removed} if each in chosen else each for each in decisions
        ]


def _place(decided: DecidedRecord) -> RecordPlace:
    return {
        "topic": decided["topic"],
        "partition": decided["partition"],
        "offset": decided["offset"],
    }


def _is_past(row: Deployment, topic: str, partition: int, offset: int) -> bool:
    """Whether the last driver reported a position after the record; False if nothing is known."""
    run = row.runs.first()
    places = {} if run is None else last_figures(row, run.report_id).places
    position = places.get(topic, {}).get(partition)
    return position is not None and position[0] > offset


def _require(row: Deployment, place: RecordPlace) -> FailureJson:
    failure: FailureJson | None = row.observation.failure
    if failure is not None and row.observation.state == Observed.FAILED:
        record: FailedRecord = failure.get("record") or {}
        at = {name: record.get(name) for name in place}
        if at == place and failure["code"] in _KINDS:
            return failure
    raise Conflict(
        "not_the_failed_record",
        f"The deployment of “{row.topology.name}” has not failed at this record.",
        "Send the record that caused its failure.",
        deployment=row.pk,
    )


def _require_dead_letters(row: Deployment, failure: FailureJson) -> None:
    settings = document_in(row.version, row.settings).get("settings") or {}
    if failure["code"] not in _KINDS_OF_LETTERS:
        raise Conflict(
            "no_dead_letter",
            "The record failed at a sink, which cannot write dead letters.",
            "Skip the record, or change the sink.",
            deployment=row.pk,
        )
    if not settings.get("dead_letter_topic"):
        raise Conflict(
            "no_dead_letter_topic",
            f"Version {row.version.number} of “{row.topology.name}” has no dead letter topic.",
            "Set one in the settings of the topology and deploy it, or skip the record.",
            deployment=row.pk,
        )


def active_decisions(row: Deployment) -> list[DecidedRecord]:
    """The decisions that the next driver follows."""
    return [each for each in row.record_decisions if each["active"]]


def end_decisions(row: Deployment) -> None:
    """Deactivate all decisions, because records are read again from another position."""
    row.record_decisions = [{**each, "active": False} for each in row.record_decisions]
