"""Choices of the fields of topologies, diagnostics and comparisons."""

from django.db import models

DOCUMENT_FORMAT = "millrace.topology/1"


#: types of a topology's parameters
PARAMETER_TYPES = ("topic", "text", "number", "duration", "boolean")


class Severity(models.TextChoices):
    """Severity of a diagnostic."""

    ERROR = "error", "Error"
    WARNING = "warning", "Warning"
    DIFFERENCE = "difference", "Difference"


class Dialect(models.TextChoices):
    """The kind of program that is generated from a document."""

    EXACT = "exact", "Kafka Streams' results"
    PLAIN = "plain", "Ordinary Structured Streaming"


class Ran(models.TextChoices):
    """Whether a simulator ran what it was asked for."""

    DONE = "done", "Done"
    STARTING = "starting", "A simulator is starting"


class Cut(models.TextChoices):
    """How input lines become micro-batches of plain Spark."""

    EACH = "each", "One for each line"
    ALL = "all", "As few as possible"


class RecordDifference(models.TextChoices):
    """How a record of plain Spark differs from that of Kafka Streams."""

    VALUE = "value", "Value"
    HEADERS = "headers", "Headers"
    TIMESTAMP = "timestamp", "Timestamp"
    ORDER = "order", "Another place in its micro-batch"
    INPUT = "input", "Another input line causes it"
    MISSING = "missing", "Plain Spark does not write it"
    EXTRA = "extra", "Kafka Streams does not write it"


class PlainVerdict(models.TextChoices):
    """How the results of plain Spark compare with those of Kafka Streams."""

    EQUAL = "equal", "Equal"
    PREDICTED = "predicted", "Diagnostics explain each difference"
    WRONG = "wrong", "A difference has no diagnostic"


class Blocks(models.TextChoices):
    """What a diagnostic prevents; saving is never prevented."""

    COMPILE = "compile", "Compile"
    DEPLOY = "deploy", "Deploy"


class VerificationState(models.TextChoices):
    """State of a comparison with Kafka Streams."""

    WAITING = "waiting", "Waiting for a worker"
    RUNNING = "running", "Running"
    DONE = "done", "Done"
    FAILED = "failed", "Could not be compared"
    CANCELLED = "cancelled", "Canceled"


class VerificationStep(models.TextChoices):
    """Current step of a running comparison."""

    JARS = "jars", "Kafka Streams is being downloaded"
    START = "start", "Kafka Streams is starting"
    RUN = "run", "Kafka Streams runs the document"


class OutsideChange(models.TextChoices):
    """What somebody else did with a topology's folder in the repository of a workspace."""

    NEW = "new", "New"
    CHANGED = "changed", "Changed"
    REMOVED = "removed", "Removed"
    DELETED = "deleted", "Its topology was deleted here"
    UNREADABLE = "unreadable", "The document cannot be read"
