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


class Blocks(models.TextChoices):
    """What a diagnostic stands in the way of; saving is never blocked."""

    COMPILE = "compile", "Compile"
    DEPLOY = "deploy", "Deploy"
