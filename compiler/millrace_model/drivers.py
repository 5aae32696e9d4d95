"""Notes and requests about driver processes, which workers and launchers exchange."""

from __future__ import annotations

from typing import Annotated, NotRequired, TypedDict

from millrace_model.events import CauseJson
from millrace_model.reading import Moment


class ListedProcess(TypedDict):
    """A process that ends with the whole system; ``born`` identifies it with its pid."""

    pid: int
    born: str | None
    group: int


class DriverNote(ListedProcess):
    """A shim's note about its driver (``process.json``)."""

    #: pid of the shim, or of the host that has forked the driver
    shim: int
    command: NotRequired[list[str]]
    #: folder of its host, if it shares a JVM
    host: NotRequired[str]


class HostRequest(TypedDict):
    """A request to a host to start a driver: its folder, log, lock and command."""

    directory: str
    log: str
    lock: str
    log_bytes: int
    when: str
    command: list[str]
    cwd: str
    environment: dict[str, str]
    run: str


class HostAnswer(TypedDict, total=False):
    """A host's response: the note of the driver, or who holds the checkpoint."""

    note: DriverNote
    refused: str | None


class RecordPlace(TypedDict):
    """Where a record is."""

    topic: str
    partition: int
    offset: int


class DecidedRecord(RecordPlace):
    """What becomes of a single record: skip or dead_letter."""

    decision: str


#: A request to begin elsewhere (`millrace_runtime.checkpoint.starting_point`).
BeginRequest = TypedDict(
    "BeginRequest",
    {
        "id": str,
        "reset": bool,
        "from": str,
        "time": int | None,
        "offsets": dict[str, dict[str, int]],
    },
    total=False,
)


class StoredBegin(BeginRequest):
    """A request as the database stores it: for which version, and the request before."""

    version: int
    before: StoredBegin | None


class StartStep(TypedDict):
    """A step of a deployment."""

    name: Annotated[str, "compile, check, stage or start"]
    state: str
    started_at: Moment | None
    finished_at: Moment | None
    detail: Annotated[CauseJson | None, "Its progress or result, or why it failed."]


class DeploymentSettings(TypedDict, total=False):
    """The settings of a deployment."""

    dialect: str
    environment: str
    real_time_ms: int | None
    memory_mb: int
    jvm: str
    max_records: int | None
    start: str
    trigger_ms: int | None
    checkpoint: str
    cores: int
    create_topics: bool
    dead_letter_topic: str
    lost_offsets: str
    batch_deadline_s: int | None
    standby: bool
