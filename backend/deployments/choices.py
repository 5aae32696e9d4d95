"""Choices of the fields of deployments."""

from django.db import models

#: the steps of a deployment in their order
STEPS = ("compile", "check", "stage", "start")


class Desired(models.TextChoices):
    """The state that the user requested."""

    RUNNING = "running", "Running"
    STOPPED = "stopped", "Stopped"


class ScheduleAction(models.TextChoices):
    """What a schedule does at a time."""

    START = "start", "Start"
    STOP = "stop", "Stop"


class Observed(models.TextChoices):
    """The state that the workers found."""

    NEW = "new", "New"
    COMPILING = "compiling", "Compiling"
    CHECKING = "checking", "Checking"
    STAGING = "staging", "Staging"
    STARTING = "starting", "Starting"
    RUNNING = "running", "Running"
    ASLEEP = "asleep", "Asleep"
    RESTARTING = "restarting", "Restarting"
    PAUSED = "paused", "Paused"
    DEGRADED = "degraded", "Degraded"
    STOPPING = "stopping", "Stopping"
    STOPPED = "stopped", "Stopped"
    FAILED = "failed", "Failed"
    UNKNOWN = "unknown", "Unknown"


class Shown(models.TextChoices):
    """Groups of states by which lists of topologies are filtered."""

    ACTIVE = "active", "Active"
    PROBLEM = "problem", "Problem"
    STOPPED = "stopped", "Stopped"
    NONE = "none", "Not deployed"


#: states that need a person, or of which nothing is known
PROBLEMS = {Observed.FAILED, Observed.DEGRADED, Observed.UNKNOWN}

#: states through which a deployment comes back after an outage
RETURNING = {Observed.RUNNING, Observed.STARTING, Observed.RESTARTING}


class StepState(models.TextChoices):
    """Progress of a step."""

    WAITING = "waiting", "Waiting"
    RUNNING = "running", "Running"
    DONE = "done", "Done"
    FAILED = "failed", "Failed"
    SKIPPED = "skipped", "Skipped"


class Outcome(models.TextChoices):
    """How a run ended."""

    STOPPED = "stopped", "Stopped"
    CRASHED = "crashed", "Crashed"
    FAILED = "failed", "Failed"
    KILLED = "killed", "Killed"
    OUTAGE = "outage", "Outage"


class Target(models.TextChoices):
    """Where a deployment runs."""

    LOCAL = "local", "This machine"


class Environment(models.TextChoices):
    """The environment whose values the parameters of a topology have."""

    DEV = "dev", "Development"
    TEST = "test", "Test"
    PROD = "prod", "Production"


class Jvm(models.TextChoices):
    """The JVM of a deployment's driver."""

    OWN = "own", "Its own"
    SHARED = "shared", "Shared with others"


class AloneReason(models.TextChoices):
    """Why a deployment that may share a JVM has its own."""

    CODE = "code", "It runs code or reads files"
    SYSTEM = "system", "Hosts need Linux and Spark inside the driver"
    HEAP = "heap", "The heap of the shared JVM was full"
    HANG = "hang", "A task of it did not end in the shared JVM"


class StandbyState(models.TextChoices):
    """What is known of the standby of a deployment."""

    ABSENT = "absent", "There is none"
    PREPARING = "preparing", "It is being prepared"
    READY = "ready", "It is ready to take over"
    FAILED = "failed", "It ended while it was prepared"


class StartFrom(models.TextChoices):
    """Where a first run begins to read."""

    EARLIEST = "earliest", "Earliest"
    LATEST = "latest", "Latest"


class LostOffsets(models.TextChoices):
    """What happens if the broker does not have the next records any more."""

    FAIL = "fail", "Fail"
    EARLIEST = "earliest", "Earliest"
    LATEST = "latest", "Latest"


class Position(models.TextChoices):
    """Where a deployment that has run before starts reading."""

    STOPPED = "stopped", "Where it stopped"
    SOURCES = "sources", "At the position set in each source"
    EARLIEST = "earliest", "Earliest"
    LATEST = "latest", "Latest"
    TIME = "time", "A time"
    OFFSETS = "offsets", "Specific offsets"


class Reset(models.TextChoices):
    """What a start resets."""

    STORES = "stores", "Stores"
    POSITIONS = "positions", "Positions"


class StartWarning(models.TextChoices):
    """How a start from another position affects results."""

    COUNTED_AGAIN = "counted_again", "Counted again"
    WRITTEN_AGAIN = "written_again", "Written again"
    SKIPPED = "skipped", "Skipped"
    BEGINS_EMPTY = "begins_empty", "Begins empty"


class ColdReason(models.TextChoices):
    """Why the old driver is stopped before the new one is prepared."""

    MEMORY = "memory", "Memory"
    PAUSED = "paused", "Paused"
    CLUSTER = "cluster", "Cluster"
    PLAIN = "plain", "Plain PySpark"


class LogLevel(models.TextChoices):
    """Levels of a driver's log."""

    DEBUG = "debug", "Debug"
    INFO = "info", "Info"
    WARN = "warn", "Warning"
    ERROR = "error", "Error"


class StoreDecision(models.TextChoices):
    """What becomes of a store whose rows cannot be carried over."""

    RESET = "reset", "Reset"
    DROP = "drop", "Drop"


class StoreVerdict(models.TextChoices):
    """How another version affects the rows of a store."""

    KEPT = "kept", "Kept"
    MIGRATED = "migrated", "Migrated"
    INCOMPATIBLE = "incompatible", "Incompatible"
    NEW = "new", "New"
    LOST = "lost", "Lost"


class SourceVerdict(models.TextChoices):
    """How another version affects a source topic."""

    CONTINUES = "continues", "Continues"
    NEW = "new", "New"
    GONE = "gone", "Gone"


class RecordDecision(models.TextChoices):
    """What becomes of a record at which a deployment failed."""

    SKIP = "skip", "Skipped once"
    DEAD_LETTER = "dead_letter", "Sent to the dead letter topic once"


class ShadowStart(models.TextChoices):
    """The state and position from which a shadow starts."""

    RUNNING = "running", "A copy of the running state"
    EARLIEST = "earliest", "Empty stores, from the first records"


class ComparisonState(models.TextChoices):
    """Progress of a comparison of outputs."""

    READING = "reading", "Reading the topics"
    MATCHING = "matching", "Matching the records"
    DONE = "done", "Done"
    CANCELED = "canceled", "Canceled"
    FAILED = "failed", "Failed"


class OutputDifference(models.TextChoices):
    """How a record differs between two outputs."""

    DIFFERING = "differing", "Differs"
    ONLY_RUNNING = "only_running", "Only from the running version"
    ONLY_SHADOW = "only_shadow", "Only from the shadow"
