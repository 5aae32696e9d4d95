"""``process``: runs the user's Python code, which may change the key."""

from __future__ import annotations

from millrace_compiler.operators.processors.base import ProcessorNode


class Process(ProcessorNode):
    "Processes records with a Python class, which may change keys."

    kind = "process"
    title = "Process"
    icon = "code"
    place = 1
    help = (
        "A class with init, process and close, as in Kafka Streams' Processor API [PA2]: it reads "
        "and writes stores, reads the stores of tables, aggregations and global tables that are "
        "connected to it, schedules punctuations by stream time or wall-clock time [PA4] and "
        "forwards any number of records [PA3]. The key counts as changed [RP1]."
    )
    synonyms = ("processor", "python", "custom", "code", "transform", "punctuate", "自定义")
    rules = ("PA2", "PA3", "PA4", "PA5", "RP1")
    first = ("code", "class_name", "arguments", "output", "outputs", "inputs")
    changes_key = True
