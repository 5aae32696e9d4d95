"""Fixed sets of words about documents."""

from django.db import models

DOCUMENT_FORMAT = "millrace.topology/1"


class Severity(models.TextChoices):
    """How bad a diagnostic is."""

    ERROR = "error", "Error"
    WARNING = "warning", "Warning"
    DIFFERENCE = "difference", "Difference"


class Dialect(models.TextChoices):
    """Which code comes out of a document."""

    EXACT = "exact", "Kafka Streams' results"
    PLAIN = "plain", "Ordinary Structured Streaming"


class Cut(models.TextChoices):
    """How input lines become micro-batches of plain Spark."""

    EACH = "each", "One for each line"
    ALL = "all", "As few as possible"


class RecordDifference(models.TextChoices):
    """In what a record of plain Spark differs from that of Kafka Streams."""

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
    """What a diagnostic stands in the way of; saving is never blocked."""

    COMPILE = "compile", "Compile"
    DEPLOY = "deploy", "Deploy"


class VerificationState(models.TextChoices):
    """How far a comparison with Kafka Streams is."""

    WAITING = "waiting", "Waiting for a worker"
    RUNNING = "running", "Running"
    DONE = "done", "Done"
    FAILED = "failed", "Could not be compared"
    CANCELLED = "cancelled", "Cancelled"


class VerificationStep(models.TextChoices):
    """What a running comparison does."""

    JARS = "jars", "Kafka Streams is being downloaded"
    START = "start", "Kafka Streams starts"
    RUN = "run", "Kafka Streams runs the document"
