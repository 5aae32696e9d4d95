"""The plan of a change: what deploying a version does to the state, made before anything stops."""

from __future__ import annotations

from typing import TypedDict

from millrace_model.state import StoreVerdictJson, Windows


class StoreTexts(TypedDict):
    """A store's schema with readable types."""

    kind: str
    key: str
    values: list[str]
    windows: Windows | None
    tasks: int | None


class PlannedStore(StoreVerdictJson):
    """The verdict on a store, with its size and both schemas."""

    #: whether an expression can convert its values
    convertible: bool
    name: str
    rows: int | None
    bytes: int | None
    old: StoreTexts | None
    new: StoreTexts | None


class PlannedPlace(TypedDict):
    """Where the new version continues or begins, and where the old one stopped."""

    partition: int
    offset: int | None
    lag: int | None
    stopped: int | None


class PlannedSource(TypedDict):
    """The verdict on a topic, and the positions in its partitions."""

    topic: str
    verdict: str
    partitions: list[PlannedPlace]


class StatePlanJson(TypedDict):
    """The plan; ``as_of``: time of the driver's last report, in ISO 8601."""

    before: int
    version: int
    stores: list[PlannedStore]
    sources: list[PlannedSource]
    accepted: bool
    as_of: str | None


class PlanWarning(TypedDict):
    """What a person should know about where a start begins."""

    code: str
    message: str


class HandoverJson(TypedDict):
    """Whether the new driver is prepared beside the old one (``warm``), or why not."""

    warm: bool
    reason: str | None
    message: str | None


class ParameterChange(TypedDict):
    """A parameter of the topology whose value changes; None: not declared."""

    name: str
    old: object
    new: object


class StartPlanJson(StatePlanJson):
    """The plan of a start that may begin elsewhere."""

    #: whether stores begin empty
    reset: bool
    warnings: list[PlanWarning]
    handover: HandoverJson | None
    parameters: list[ParameterChange]
    #: before (`old`) and after (`new`); None: defaults
    environments: dict[str, str | None]
