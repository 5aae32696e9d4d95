"""Writes the text of a plain program: helpers for Kafka and Spark, and the topology."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping

from millrace_compiler.declarations.operator import Store
from millrace_compiler.diagnostics.diagnostics import Diagnostics
from millrace_compiler.graphs.graph import Graph
from millrace_compiler.inference.analysis import Analyzer
from millrace_compiler.inference.infer import Ports
from millrace_compiler.operators.processors.base import ProcessorNode
from millrace_compiler.operators.sources.base import Source
from millrace_compiler.parameters.settings import SELF_JOIN
from millrace_compiler.plain.identity import identity
from millrace_compiler.plain.keeping import parts_of
from millrace_compiler.plain.nodes import WRITERS
from millrace_compiler.plain.parts import PARTS, Part, kafka, main, names_of_parts
from millrace_compiler.plain.program import CannotSay, Program, mentioned
from millrace_compiler.plain.text import Call, Chain, Name, calls_in, statement
from millrace_compiler.plain.unused import used_names, without_unused
from millrace_compiler.program.classes import bound_names
from millrace_compiler.program.identities import slug
from millrace_compiler.program.layout import WIDTH
from millrace_compiler.program.names import Names
from millrace_compiler.program.placed import PROGRAM
from millrace_compiler.program.text import Span
from millrace_compiler.program.versions import CONNECTOR
from millrace_compiler.program.writer import Written

#: Session settings of every program.
SESSION_CONFIG = {"spark.sql.session.timeZone": "UTC"}

#: Session settings of programs with transformWithState, which requires RocksDB.
STATE_CONFIG = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
}

_RESERVED = {
    "F",
    "Kafka",
    "client_settings",
    "DataFrame",
    "DataStreamWriter",
    "SparkSession",
    "kafka",
    "topology",
    "main",
    "argparse",
    "json",
    "re",
    "signal",
    "threading",
}


def emit_plain(
    graph: Graph,
    ports: Ports,
    settings: Mapping[str, object],
    report: Diagnostics,
    analyzer: Analyzer,
) -> Written | None:
    """The program, or ``None`` if a node is refused; the report then contains the reason.

    Differences from Kafka Streams are reported in both cases.
    """
    program = Program(graph, ports, settings, report, analyzer, Names(set()), mentioned(graph))
    program.reserved = frozenset(_RESERVED | names_of_parts(program))
    program.names.taken |= program.reserved
    _check_settings(program)
    for node in graph.operators.values():
        if isinstance(node, ProcessorNode) and node.code:
            program.names.taken |= bound_names(node.code)
    for id_ in graph.order:
        _write(program, id_)
    return None if report.failed else _text(program)


def _check_settings(program: Program) -> None:
    settings, report = program.settings, program.report
    for name in ("deserialization_handler", "processing_handler"):
        if settings.get(name, "fail") not in ("fail", "continue"):
            report.add(
                "plain_handler", None, name, reason="failed records cannot be sent to another topic"
            )
    if settings.get("production_handler", "fail") != "fail":
        reason = "a record that cannot be sent stops the query"
        report.add("plain_handler", None, "production_handler", reason=reason)
    if settings.get("modules"):
        report.add("plain_modules", None, "modules")
    if settings.get("optimization") in ("all", SELF_JOIN):
        for node in _self_joins(program):
            report.add("plain_self_join", node, "left")
    if settings.get("uncaught_exception_handler", "stop") != "stop":
        reason = "a query that failed ends its program"
        report.add("plain_handler", None, "uncaught_exception_handler", reason=reason)
    if settings.get("processing_guarantee") == "exactly_once":
        report.add("plain_at_least_once", None, "processing_guarantee")
    for node, parameter in program.graph.drawing.items():
        report.add("plain_draws", node, parameter)


def _self_joins(program: Program) -> Iterator[str]:
    """Joins of a stream with itself, which the optimization changes."""
    graph = program.graph
    for id_, operator in graph.operators.items():
        if operator.kind == "join.stream_stream":
            edges = (graph.inputs[id_][port][0] for port in ("left", "right"))
            sides = {
                (graph.merged.get(each.source, each.source), each.source_port) for each in edges
            }
            if len(sides) == 1:
                yield id_


def _write(program: Program, id_: str) -> None:
    node = program.graph.operators[id_]
    if isinstance(node, Store):
        return
    same = program.graph.merged.get(id_)
    if same is not None and (same, "out") in program.frames:
        program.frames[id_, "out"] = program.frames[same, "out"]
        return
    before = len(program.statements)
    try:
        if node.called_functions:
            raise program.refuse(
                "plain_kind", node, "functions",
                reason="Spark's own Python functions run ahead of the records, in batches",
                instead="use an expression",
            )  # fmt: skip
        made = WRITERS[node.kind](program, node)
    except CannotSay:
        return
    program.parts.update(parts_of(program, node))
    for port, frame in made.items():
        program.frames[id_, port] = frame
    computes = node.evaluates and node.family != "sources" and len(program.statements) > before
    if computes and program.settings.get("processing_handler") == "continue":
        program.differs("plain_processing_handler", node)


def _text(program: Program) -> Written:
    document = program.graph.document
    about = document.name.strip() or "A topology"
    description = (document.description or "").strip()
    needed = program.needed()
    body = [statement(each.target, each.expr) for each in needed]
    tail = main(_session(program))
    code = [text for text, _ in program.code]
    others = ["".join(["def topology(kafka):\n", *(f"{text}\n" for text in body), "    return"])]
    others += [tail.text, *code]
    before = [_kafka(program), *(PARTS[name] for name in PARTS if name in program.parts)]
    parts = without_unused([each.text for each in before], others)
    lines = _docstring(about, description, program.between)
    used = {name for text in (*parts, *others) for name in used_names(text)}
    lines += ["", *_imports([*before, tail], used)]
    for part in parts:
        lines += part.rstrip("\n").split("\n")
    spans: list[Span] = []
    for text in code:
        written = [line.rstrip() for line in text.strip("\n").split("\n")]
        lines += ["", ""]
        spans += [
            Span(node, PROGRAM, len(lines) + 1, len(lines) + len(written))
            for node in _owners(program, text)
        ]
        lines += written
    lines += ["", ""]
    lines += ["def topology(kafka: Kafka) -> None:"]
    lines += [f'    """{_plain(about)}."""' if about else ""]
    previous = ""
    for each, text in zip(needed, body, strict=True):
        if each.node != previous:
            own = (t for e, t in zip(needed, body, strict=True) if e.node == each.node)
            lines += ["", *_comment(program, each.node, "\n".join(own))]
            previous = each.node
        start = len(lines) + 1
        lines += text.split("\n")
        spans.append(Span(each.node, PROGRAM, start, len(lines)))
    if not needed:
        lines += ["    return"]
    lines += tail.text.split("\n")
    return Written({PROGRAM: "\n".join(lines)}, spans, tuple(program.between), identity(program))


def _kafka(program: Program) -> Part:
    calls = (call for each in program.needed() for call in calls_in(each.expr))
    return kafka(any(name == "pattern" for call in calls for name, _ in call.keywords))


def _session(program: Program) -> str:
    """The statement that creates the session. Shuffles are as wide as the widest input."""
    config = dict(SESSION_CONFIG)
    topics = program.graph.document.topics
    inputs = {name for node in program.graph.operators.values() if isinstance(node, Source)
              for name in node.topic_names()}  # fmt: skip
    partitions = [topics[name] for name in inputs & topics.keys()]
    if partitions and any(frame.stateful for frame in program.frames.values()):
        config["spark.sql.shuffle.partitions"] = str(max(partitions))
    if program.parts:
        config |= STATE_CONFIG
    calls = [Call("config", setting) for setting in config.items()]
    created = Chain(Name("SparkSession.builder"), (*calls, Call("getOrCreate")))
    return statement("spark", created, indent=8)


def _owners(program: Program, code: str) -> list[str]:
    return [id_ for id_ in program.graph.order
            if program.graph.operators[id_].node.params.get("code") == code]  # fmt: skip


def _imports(parts: Iterable[Part], used: set[str]) -> list[str]:
    """Import statements of the standard library and of pyspark, in ruff's order."""
    names: dict[str, set[str]] = {}
    for part in parts:
        for module, found in part.imports.items():
            names.setdefault(module, set()).update(found)
    names = {module: found & used for module, found in names.items() if found & used}
    first, *spark = (module for module in sorted(names) if module.startswith("pyspark"))
    standard = (module for module in sorted(names) if not module.startswith("pyspark"))
    return [
        "import argparse",
        "import json",
        "import logging",
        *(["import re"] if "re" in used else []),
        "import signal",
        "import threading",
        *(line for module in standard for line in _import(module, names[module])),
        "",
        *_import(first, names[first]),
        *(["from pyspark.sql import functions as F"] if "F" in used else []),
        *(line for module in spark for line in _import(module, names[module])),
    ]


def _import(module: str, names: set[str]) -> list[str]:
    found = sorted(names, key=_place)
    whole = f"from {module} import {', '.join(found)}"
    if len(whole) <= WIDTH:
        return [whole]
    return [f"from {module} import (", *(f"    {name}," for name in found), ")"]


def _place(name: str) -> tuple[bool, str]:
    """Sort key for imports: classes before functions, as ruff orders them."""
    return name[0].islower(), name


def _plain(text: str) -> str:
    """The text in a form that is valid in a docstring or comment."""
    shown = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(shown.replace("\\", "/").replace('"""', "'''").split()).strip('"')


def _docstring(about: str, description: str, between: list[str]) -> list[str]:
    lines = [f'"""{_plain(about)}, as Spark Structured Streaming.', ""]
    if description:
        lines += [*textwrap.wrap(_plain(description), WIDTH - 2), ""]
    lines += [
        "Run it with Spark's Kafka package:",
        "",
        f"    spark-submit --packages {CONNECTOR} job.py \\",
        "        --bootstrap-servers HOST:PORT --checkpoint FOLDER",
        *(_between(between) if between else ()),
        '"""',
    ]
    lines[0] = "r" + lines[0]
    return lines


def _between(topics: list[str]) -> list[str]:
    text = (
        "A streaming query has at most one stateful step. The queries pass records on through "
        f"these topics, which must exist: {', '.join(topics)}."
    )
    return ["", *textwrap.wrap(text, WIDTH - 2)]


def _comment(program: Program, node_id: str, code: str) -> list[str]:
    """The comment above a node's statements; omits a label that the code already contains."""
    node = program.graph.operators[node_id].node
    label = _plain(node.label or "")
    words = slug(label)
    variable = words.replace("-", "_")
    if words and re.search(rf'^ *{variable}(_\w+)? = |"{words}"', code, re.MULTILINE):
        label = ""
    text = ": ".join(part for part in (label, _plain(node.description or "")) if part)
    return [f"    # {line}" for line in textwrap.wrap(text, WIDTH - 8)]
