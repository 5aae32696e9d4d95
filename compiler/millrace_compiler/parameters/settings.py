"""The settings of a document: their declarations, and how they are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from millrace_compiler.diagnostics.diagnostics import Diagnostics
from millrace_compiler.diagnostics.guesses import guess
from millrace_compiler.documents.document import Document
from millrace_compiler.parameters.handlers import HandlerCode
from millrace_compiler.parameters.modules import Modules
from millrace_compiler.parameters.parameters import (
    MISSING,
    Choice,
    DependsOn,
    Faults,
    Parameter,
    Topic,
)
from millrace_compiler.parameters.parts import functions_in

MERGE_REPARTITIONS = "merge_repartition_topics"
REUSE_SOURCE_TOPICS = "reuse_ktable_source_topics"
SELF_JOIN = "single_store_self_join"

#: the choice of a handler that is a Python function
FUNCTION = "function"
_LETTER_THEN_FAIL = "dead_letter_then_fail"
_LETTERS = frozenset({"dead_letter", _LETTER_THEN_FAIL})
_HANDLERS = ("fail", "continue", "dead_letter", _LETTER_THEN_FAIL, FUNCTION)
_CHOICES = (
    "Fail, drop and count, write to the dead letter topic and then continue or fail, or ask a "
    "Python function. Under exactly once, a dead letter before a failure is aborted with its "
    "transaction, as in Kafka Streams"
)
#: The kinds of errors that have a handler.
HANDLED = ("deserialization", "processing", "production")
_CODE = (
    "Python source. Its last function gets the failed record and the error, and returns "
    "Response.resume() or Response.fail(), with the dead letters to write."
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
    production_handler = Choice(
        "Production errors",
        "For results that cannot be sent: too large, no such partition, no valid topic or not "
        "writable in the format. Fail, drop and count, or ask a Python function [EH3].",
        ("fail", "continue", FUNCTION),
        default="fail",
    )
    deserialization_function = HandlerCode(
        "Function for deserialization errors",
        _CODE,
        depends_on=DependsOn("deserialization_handler", (FUNCTION,)),
    )
    processing_function = HandlerCode(
        "Function for processing errors",
        _CODE,
        depends_on=DependsOn("processing_handler", (FUNCTION,)),
    )
    production_function = HandlerCode(
        "Function for production errors",
        _CODE,
        depends_on=DependsOn("production_handler", (FUNCTION,)),
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
    optimization = Choice(
        "Optimization",
        "As Kafka Streams' topology.optimization: merge repartition topics behind a changed key, "
        "use topics of tables as changelogs, and join a stream with itself in one store. All of "
        "them, or one.",
        ("none", "all", MERGE_REPARTITIONS, REUSE_SOURCE_TOPICS, SELF_JOIN),
        default="none",
    )
    modules = Modules(
        "Modules",
        "Python modules that the code of processors and handlers can import, with their source.",
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
    rules = {str(node.params.get("rejected")) for node in document.nodes}
    if (handlers | rules) & _LETTERS and found.get("dead_letter_topic") is None:
        report.add("dead_letter_topic", None, "dead_letter_topic")
    for kind in HANDLED:
        name = f"{kind}_function"
        if found.get(f"{kind}_handler") == FUNCTION and document.settings.get(name) is None:
            report.add("parameter_missing", None, name, title=SETTINGS[name].title)
    return found


def handler_functions(settings: Mapping[str, object]) -> dict[str, dict[str, str]]:
    """The code and name of each handler that is a function, by the kind of its errors."""
    found = {}
    for kind in HANDLED:
        code = settings.get(f"{kind}_function")
        if settings.get(f"{kind}_handler") == FUNCTION and isinstance(code, str):
            found[kind] = {"code": code, "name": functions_in(code)[-1]}
    return found
