"""``process_values``: runs the user's Python code, which must not change the key."""

from __future__ import annotations

from millrace_compiler.operators.processors.base import ProcessorNode


class ProcessValues(ProcessorNode):
    "Processes records with a Python class that keeps keys unchanged."

    kind = "process_values"
    title = "Process values"
    icon = "code-dots"
    place = 2
    help = "Like “Process”, but forwarded records keep their key, so no repartition follows [RP1]."
    synonyms = ("processor", "python", "custom", "code", "transform values", "自定义")
    rules = ("PA2", "PA3", "PA4", "PA5")
    first = ("code", "class_name", "arguments", "output", "outputs", "inputs")
    rekeys = False
