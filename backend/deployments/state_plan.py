"""Plans of what deploying a version does to the state, made before anything stops."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from accounts.models import Workspace
from millrace_backend.errors import ApiError, Conflict, Unavailable, cause
from millrace_model.changes import (
    PlannedPlace,
    PlannedStore,
    StartPlanJson,
    StatePlanJson,
    StoreTexts,
)
from millrace_model.diagnostics import DiagnosticJson
from millrace_model.documents import TopologyDocument
from millrace_model.drivers import DeploymentSettings
from millrace_model.events import RuntimeJson
from millrace_model.notes import Notes
from millrace_model.state import StateChangeJson, StateSchema, StoreSchema
from redis.exceptions import RedisError
from topologies import environments
from topologies.approving import approval_of
from topologies.choices import Dialect
from topologies.compiling import analyzer, state_of
from topologies.models import Version
from topologies.required import tests_of

from deployments import files, handover, plain_state
from deployments.beginnings import Beginning, places, warnings
from deployments.cluster import list_topics
from deployments.environments import changed_parameters, document_in, environment_of
from deployments.models import Deployment, Run
from deployments.plain_dialect import dialect_of
from deployments.runtime import places_of, read_runtime

if TYPE_CHECKING:
    from millrace_compiler.state.state_changes import StateChange, StoreChange

#: the driver's notes beside its checkpoint
NOTES = "stores.json"


#: by store: ``reset``, ``drop``, or ``{"convert": expression over old}``
Decisions = Mapping[str, str | dict[str, str]]


@dataclass(frozen=True)
class Figures:
    """The driver's last report; ``as_of`` in ISO 8601, None if nothing is known.

    ``stores``: rows and bytes by store id; ``places``: by topic and partition, the offset of the
    next record and the number of records from there to the end (None: unknown).
    """

    as_of: str | None = None
    stores: Mapping[str, tuple[int | None, int | None]] = field(default_factory=dict)
    places: Mapping[str, Mapping[int, tuple[int, int | None]]] = field(default_factory=dict)

    @staticmethod
    def of(report: RuntimeJson) -> Figures:
        """Return a report's figures; of tasks that read the same partition, the furthest counts."""
        places: dict[str, dict[int, tuple[int, int | None]]] = {}
        for place in places_of(report):
            mine = places.setdefault(place["topic"], {})
            found = (place["offset"] + 1, place["lag"])
            mine[place["partition"]] = max(
                found, mine.get(place["partition"], found), key=lambda each: each[0]
            )
        stores = {store["node"]: (store["rows"], store["bytes"]) for store in report["stores"]}
        return Figures(report["as_of"], stores, places)


@dataclass(frozen=True)
class StatePlan:
    """Verdicts on stores and sources; ``before``: number of the version that wrote the state."""

    before: int
    version: int
    change: StateChange
    figures: Figures = field(default_factory=Figures)

    def to_json(self) -> StatePlanJson:
        """Return the plan as the API shows it: like ``compare-state``, with names and types."""
        from millrace_compiler.state.state_changes import convertible

        stores: list[PlannedStore] = [
            {
                **store.to_json(),
                "convertible": convertible(store),
                "name": store.name,
                "rows": self.figures.stores.get(store.id, (None, None))[0],
                "bytes": self.figures.stores.get(store.id, (None, None))[1],
                "old": _texts(store.old),
                "new": _texts(store.new),
            }
            for store in self.change.stores
        ]
        return {
            "before": self.before,
            "version": self.version,
            "stores": stores,
            "sources": [
                {"topic": topic, "verdict": verdict, "partitions": self._places(topic, verdict)}
                for topic, verdict in self.change.sources
            ],
            "accepted": self.change.accepted,
            "as_of": self.figures.as_of,
        }

    def _places(self, topic: str, verdict: str) -> list[PlannedPlace]:
        """Return where the new version continues reading a topic, by partition."""
        if verdict != "continues":
            return []
        return [
            {"partition": partition, "offset": offset, "lag": lag, "stopped": offset}
            for partition, (offset, lag) in sorted(self.figures.places.get(topic, {}).items())
        ]

    def require(self, decisions: Decisions) -> None:
        """Raise Conflict with the whole plan if a decision is missing.

        Raises ApiError for an expression that does not convert a store's values to their new type,
        Unavailable if the analyzer does not respond.
        """
        missing = [store.id for store in self.change.undecided if store.id not in decisions]
        if missing:
            raise Conflict(
                "state_undecided",
                f"Version {self.version} cannot use the state of {', '.join(missing)}.",
                "For each of these stores, choose reset or drop.",
                missing=missing,
                **cast(Any, self.to_json()),
            )
        for store in self.change.undecided:
            decision = decisions[store.id]
            if not isinstance(decision, str):
                _require_conversion(store, decision["convert"])


def _require_conversion(store: StoreChange, text: str) -> None:
    from millrace_compiler.inference.analysis import (
        AnalyzerUnavailable,
        ExpressionRequest,
        SocketAnalyzer,
    )
    from millrace_compiler.state.state_changes import convertible, value_types

    name = store.name
    if not convertible(store):
        raise ApiError(
            "state_not_convertible",
            f"The store {name} cannot be converted: more than its value type has changed.",
            "Reset it.",
            store=store.id,
        )
    requests = [
        ExpressionRequest(text, (("old", before),), after)
        for before, after in value_types(store)
        if before != after
    ]
    try:
        results = SocketAnalyzer(analyzer()).analyze(requests)
    except AnalyzerUnavailable as error:
        raise Unavailable(
            "analyzer_unreachable", str(error), "Try again in a few seconds."
        ) from None
    for request, result in zip(requests, results, strict=True):
        if result.error is not None:
            raise ApiError(
                "conversion_invalid",
                f"The expression for {name} is refused: {result.error.message}",
                f"Write a SQL expression over old ({request.columns[0][1]}) that returns "
                f"{request.expects}.",
                store=store.id,
                start=result.error.start,
                stop=result.error.stop,
                reason=result.error.message,
            )


def state_plan(
    row: Deployment, version: Version, settings: DeploymentSettings | None = None
) -> StatePlan | None:
    """Return the plan of deploying a version; None if the deployment has no state yet.

    ``settings``: to use instead of the present ones. Raises Unavailable if the analyzer does not
    respond, ApiError for a version that does not compile, unless there is no state.
    """
    from millrace_compiler.state.state_schema import compare_schemas

    wanted = dialect_of(row.settings if settings is None else settings)
    program = plain_state.last_program(row.directory)
    notes = checkpoint_notes(row)
    if notes is None and program is None:
        return None
    if program is not None or wanted == Dialect.PLAIN:
        return _plain_plan(row, version, wanted, program, settings)
    notes = notes or {}
    run = row.runs.select_related("version").first()
    before = row.version if run is None else run.version
    old = notes.get("state") or _schema(before, row.workspace, settings=_of(row, run))
    new = _schema(version, row.workspace, settings=_wanted(row, settings))
    figures = Figures() if run is None else last_figures(row, run.report_id)
    return StatePlan(before.number, version.number, compare_schemas(old, new), figures)


def _wanted(row: Deployment, settings: DeploymentSettings | None) -> DeploymentSettings:
    return row.settings if settings is None else settings


def _of(row: Deployment, run: Run | None) -> DeploymentSettings:
    found: DeploymentSettings | None = None if run is None else run.settings
    return row.settings if found is None else found


def _plain_plan(
    row: Deployment,
    version: Version,
    wanted: Dialect,
    program: str | None,
    settings: DeploymentSettings | None,
) -> StatePlan:
    """Return the plan if one of the programs is plain: all state is kept, or none.

    ``program``: the identity of the plain program that ran last; Spark carries state over to
    programs of the same identity.
    """
    from millrace_compiler.state.state_schema import compare_schemas

    run = row.runs.select_related("version").first()
    before = row.version if run is None else run.version
    old = (checkpoint_notes(row) or {}).get("state") if program is None else None
    new = _schema(version, row.workspace, wanted, settings=_wanted(row, settings))
    old = old or _schema(before, row.workspace, settings=_of(row, run))
    change = compare_schemas(old, new)
    if program is not None and program == new.get("identity"):
        stores = [replace(store, verdict="kept", reasons=()) for store in change.stores]
    else:
        same = (wanted == Dialect.PLAIN) == (program is not None)
        reasons = ("program_changed" if same else "dialect_changed",)
        stores = [
            store
            if store.old is None
            else replace(store, verdict="lost", reasons=reasons, new=None)
            for store in change.stores
        ]
    figures = Figures() if run is None else last_figures(row, run.report_id)
    found = replace(change, stores=tuple(stores))
    return StatePlan(before.number, version.number, found, figures)


def read_topics(version: Version, workspace: Workspace, settings: DeploymentSettings) -> list[str]:
    """Return the topics that a version reads now, including those that match its patterns.

    `settings` name the environment. Raises as `state_plan` does.
    """
    from millrace_compiler.state.state_schema import compare_schemas

    schema = _schema(version, workspace, settings=settings)
    nothing: StateSchema = {"stores": [], "topics": [], "patterns": [], "known": []}
    there = [topic["name"] for topic in list_topics(workspace.topic_prefixes)]
    known: StateSchema = schema.copy()
    known["known"] = sorted({*schema["known"], *there})
    return [topic for topic, _ in compare_schemas(nothing, known).sources]


def start_plan(
    row: Deployment,
    version: Version,
    beginning: Beginning | None,
    settings: DeploymentSettings | None = None,
) -> StartPlanJson:
    """Return the plan as the API shows it, with another beginning or without.

    ``settings``: to use instead of the present ones. Raises as `state_plan` does, and ApiError also
    for a deployment without state whose version does not compile: if the analyzer does not respond
    then, only the driver checks the version.
    """
    wanted = _wanted(row, settings)
    plan = state_plan(row, version, settings)
    if plan is None:
        with suppress(Unavailable):
            _schema(version, row.workspace, dialect_of(wanted), settings=wanted)
    found_plan: StatePlanJson = (
        {
            "before": row.version.number,
            "version": version.number,
            "stores": [],
            "sources": [],
            "accepted": True,
            "as_of": None,
        }
        if plan is None
        else plan.to_json()
    )
    run = row.runs.select_related("version").first()
    before = (row.version if run is None else run.version, _of(row, run))
    after = (version, wanted)
    shown: StartPlanJson = {
        **found_plan,
        "reset": beginning is not None and beginning.resets_stores,
        "warnings": [],
        "handover": handover.shown(row, settings),
        "parameters": changed_parameters(before, after),
        "environments": {"old": environment_of(before[1]), "new": environment_of(after[1])},
        "approval": None if version.pk == row.version_id else approval_of(version),
        "tests": None if version.pk == row.version_id else tests_of(version),
    }
    if beginning is None or beginning.continues:
        return shown
    wanted = _wanted(row, settings)
    topics = read_topics(version, row.workspace, wanted)
    stopped = Figures().places if plan is None else plan.figures.places
    found = places(beginning, document_in(version, wanted), row.settings, topics, stopped)
    shown["warnings"] = warnings(beginning, found)
    shown["accepted"] |= beginning.resets_stores
    verdicts = {source["topic"]: source["verdict"] for source in shown["sources"]}
    shown["sources"] = [each for each in shown["sources"] if each["verdict"] == "gone"] + [
        {
            "topic": topic,
            "verdict": verdicts.get(topic, "new"),
            "partitions": [
                {
                    "partition": each.partition,
                    "offset": each.offset,
                    "lag": each.latest - each.offset,
                    "stopped": each.stopped,
                }
                for each in found
                if each.topic == topic
            ],
        }
        for topic in topics
    ]
    shown["sources"].sort(key=lambda source: source["topic"])
    return shown


def last_figures(row: Deployment, report_id: str) -> Figures:
    """Return the last reported figures of a run; empty if Redis does not respond."""
    try:
        found = read_runtime(row.pk, report_id, time.time() * 1000)
    except RedisError:
        return Figures()
    return Figures() if found is None else Figures.of(found)


def checkpoint_notes(row: Deployment) -> Notes | None:
    """What the driver noted when it last committed a batch; None before the first start."""
    found = files.read_object(row.directory, row.directory / "checkpoint" / NOTES)
    return cast(Notes, found) if found else None


def _schema(
    version: Version,
    workspace: Workspace,
    dialect: Dialect = Dialect.EXACT,
    *,
    settings: DeploymentSettings,
) -> StateSchema:
    document = _as_on_the_cluster(document_in(version, settings), workspace.topic_prefixes)
    found, diagnostics = state_of(document, workspace, "plain" if dialect == "plain" else "exact")
    if found is None:
        raise _not_compiled(version, diagnostics)
    return found


def _not_compiled(version: Version, diagnostics: Sequence[DiagnosticJson]) -> ApiError:
    first = next(each for each in diagnostics if each["severity"] == "error")
    text = " ".join(part for part in (first["node"], first["message"], first["hint"]) if part)
    if first["code"] == "analyzer":
        return Unavailable("analyzer_unreachable", text, "Try again in a few seconds.")
    return ApiError(
        "not_compiled",
        f"Version {version.number} does not compile: {text}",
        "Correct it and save a new version.",
        node=first["node"],
        cause=cause(**first),
    )


def _as_on_the_cluster(document: TopologyDocument, prefixes: Sequence[str]) -> TopologyDocument:
    """Return the document with the actual partitions of its topics, as a driver uses it."""
    topics = dict(document.get("topics") or {})
    try:
        for topic in list_topics(prefixes):
            topics[topic["name"]] = {"partitions": topic["partitions"]}
    except Unavailable:
        return document
    changed = document.copy()
    changed["topics"] = topics
    return changed


def _texts(schema: StoreSchema | None) -> StoreTexts | None:
    """Return a store's schema with readable types."""
    from millrace_compiler.state.state_changes import type_text

    if schema is None:
        return None
    return {
        "kind": schema["kind"],
        "key": type_text(schema["key"]),
        "values": [type_text(type_) for type_ in schema["values"].values()],
        "windows": schema["windows"],
        "tasks": schema["tasks"],
    }


def difference(
    old: TopologyDocument, new: TopologyDocument, workspace: Workspace
) -> StateChangeJson | None:
    """Return what replacing a document by another does to its state, with the defaults of their
    parameters. None if one of them has errors. Raises Unavailable if no analyzer is configured.
    """
    # The compiler is loaded at its first use, as in `topologies.compiling`.
    from millrace_compiler.state.state_schema import compare_schemas

    before, after = (
        state_of(environments.document_in(each, None), workspace)[0] for each in (old, new)
    )
    return None if before is None or after is None else compare_schemas(before, after).to_json()
