"""``process``: the user's own Python, which may change the key."""

from __future__ import annotations

from millrace_compiler.operators.processors.base import ProcessorNode


class Process(ProcessorNode):
    """Runs a Python class for each record; keys may change."""

    kind = "process"
    title = "Process"
    icon = "code"
    place = 1
    help = (
        "A class with init, process and close, after Kafka Streams' Processor API [PA2]: it reads "
        "and writes stores, schedules callbacks by stream time or wall clock [PA4], forwards "
        "any number of records [PA3]. The key counts as changed [RP1]."
    )
    synonyms = ("processor", "python", "custom", "code", "transform", "punctuate", "自定义")
    rules = ("PA2", "PA3", "PA4", "PA5", "RP1")
    first = ("code", "class_name", "output", "outputs")
    changes_key = True
