"""The plan of a change: what deploying a version does to the state, made before anything stops."""

from __future__ import annotations

from typing import Annotated, TypedDict

from millrace_model.reading import Moment
from millrace_model.state import StoreVerdictJson, Windows


class StoreTexts(TypedDict):
    """Types of a store."""

    kind: str
    key: Annotated[str, "Spark SQL type of the keys."]
    values: Annotated[list[str], "Types of the values."]
    windows: Annotated[Windows | None, "Type, size, advance or gap in ms."]
    tasks: int | None


class PlannedStore(StoreVerdictJson):
    """What happens to one store."""

    name: str
    rows: Annotated[int | None, "Null if unknown."]
    bytes: int | None
    convertible: Annotated[bool, "Whether the old values can be converted by an expression."]
    old: StoreTexts | None
    new: StoreTexts | None


class PlannedPlace(TypedDict):
    """Where a partition is continued."""

    partition: int
    offset: Annotated[int | None, "Offset of the first record to read."]
    lag: Annotated[int | None, "Records from there to the end; null if the end is unknown."]
    stopped: Annotated[int | None, "Where the last run stopped; null if unknown."]


class PlannedSource(TypedDict):
    """What happens to one source topic."""

    topic: str
    verdict: str
    partitions: Annotated[
        list[PlannedPlace],
        "Where a continued topic resumes; empty before the first report.",
    ]


class StatePlanJson(TypedDict):
    """What deploying a version does to the state of the previous one."""

    before: Annotated[int, "Number of the version that wrote the state."]
    version: int
    stores: list[PlannedStore]
    sources: list[PlannedSource]
    accepted: Annotated[bool, "Whether no state is lost."]
    as_of: Annotated[
        Moment | None,
        "When the driver reported rows, bytes and offsets; null before the first report.",
    ]


class PlanWarning(TypedDict):
    """How a start affects results."""

    code: str
    message: str


class HandoverJson(TypedDict):
    """How a driver replaces another."""

    warm: Annotated[
        bool,
        "Whether the new driver is prepared while the old one runs; otherwise, the old one is "
        "stopped first.",
    ]
    reason: Annotated[str | None, "Why not; null if it is prepared."]
    message: str | None


class ParameterChange(TypedDict):
    """A parameter of the topology whose value changes.

    With the environment, also one of which only other environments have a value of their own.
    """

    name: str
    old: Annotated[object, "Null if it was not declared."]
    new: Annotated[object, "Null if it is no longer declared."]
    by_default: Annotated[
        bool,
        "Whether other environments have a value of their own, but not the new one: `new` is the "
        "default.",
    ]


class EnvironmentChange(TypedDict):
    """The environments before and after; null: parameters have their defaults."""

    old: str | None
    new: str | None


class ApprovalJson(TypedDict):
    """Whether a second person must approve the version before it is deployed, and who."""

    required: Annotated[bool, "Whether the workspace requires it."]
    approved_by: Annotated[list[str], "Names of people who have approved the version."]
    possible_by: Annotated[list[str], "Names of people who can."]


class TestsJson(TypedDict):
    """Which tests must pass with the version before it is deployed."""

    required: Annotated[bool, "Whether the workspace requires tests."]
    passed: Annotated[int, "Number of tests that have passed with the version."]
    missing: Annotated[list[str], "Names of tests that have not."]
    doubled: Annotated[list[str], "Names of tests that have passed only with doubles."]
    doubles: Annotated[list[str], "Nodes of the version that have doubles."]


class StartPlanJson(StatePlanJson):
    """The plan of a start that may begin elsewhere."""

    reset: Annotated[bool, "Whether all stores start empty."]
    warnings: Annotated[list[PlanWarning], "How a start from another position affects results."]
    handover: Annotated[HandoverJson | None, "Null if no driver is running."]
    parameters: list[ParameterChange]
    environments: EnvironmentChange
    approval: Annotated[ApprovalJson | None, "Null if this version is deployed already."]
    tests: Annotated[TestsJson | None, "Null if this version is deployed already."]
