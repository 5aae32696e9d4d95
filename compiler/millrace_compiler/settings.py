"""The settings of a document: their declarations, and how they are read."""

from __future__ import annotations

from typing import Any

from millrace_compiler.diagnostics import Diagnostics
from millrace_compiler.document import Document
from millrace_compiler.guesses import guess
from millrace_compiler.parameters import MISSING, Choice, Faults, Parameter, Topic

_LETTER_THEN_FAIL = "dead_letter_then_fail"
_LETTERS = frozenset({"dead_letter", _LETTER_THEN_FAIL})
_HANDLERS = ("fail", "continue", "dead_letter", _LETTER_THEN_FAIL)
_CHOICES = (
    "Fail, drop and count, or write to the dead letter topic, and then continue or fail. Under "
    "exactly once, a dead letter before a failure is aborted with its transaction, as in Kafka "
    "Streams"
)


class _Settings:
    """The declarations, which need a class because parameters are descriptors."""

    processing_guarantee = Choice(
        "Guarantee",
        "At least once: after a failure, results may be written again. Exactly once: results and "
        "progress are written in one transaction [EO1].",
        ("at_least_once", "exactly_once"),
        default="at_least_once",
    )
    deserialization_handler = Choice(
        "Deserialization errors",
        f"{_CHOICES} [EH1].",
        _HANDLERS,
        default="fail",
    )
    processing_handler = Choice(
        "Processing errors",
        f"{_CHOICES} [EH2].",
        _HANDLERS,
        default="fail",
    )
    uncaught_exception_handler = Choice(
        "Uncaught errors",
        "When a record fails and its handler says fail: stop, or replace the threads, which "
        "process the record again. The eighth failure within ten minutes stops the job.",
        ("stop", "replace_thread"),
        default="stop",
    )
    dead_letter_topic = Topic(
        "Dead letter topic",
        "Receives the source record's original bytes, with headers that describe the error [EH4].",
        required=False,
    )
    names = Choice(
        "Internal names",
        "Names of repartition topics and of stores without a name: the ids of nodes, or those that "
        "Kafka Streams gives them.",
        ("nodes", "kafka_streams"),
        default="nodes",
    )


SETTINGS: dict[str, Parameter[Any]] = {
    name: value for name, value in vars(_Settings).items() if isinstance(value, Parameter)
}


def read_settings(document: Document, report: Diagnostics) -> dict[str, object]:
    """Reads and checks the settings in the document; does not add defaults."""
    found: dict[str, object] = {}
    for name, parameter in SETTINGS.items():
        raw = document.settings.get(name, MISSING)
        value = parameter.read(raw, Faults(report, None, name))
        if raw is not MISSING and raw is not None:
            found[name] = value
    for name in document.settings:
        if name not in SETTINGS:
            report.add(
                "setting_unknown",
                None,
                name,
                known=", ".join(SETTINGS),
                guess=guess(name, SETTINGS),
            )
    handlers = {found.get("deserialization_handler"), found.get("processing_handler")}
    if handlers & _LETTERS and found.get("dead_letter_topic") is None:
        report.add("dead_letter_topic", None, "dead_letter_topic")
    return found
