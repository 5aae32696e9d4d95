"""Functions that run as processors: the class that calls a function, and how it is recognized.

In a document, a function that is not an expression is the code of a processor: the function with
what it uses, and a class of a fixed form that calls it. A program shows the function again.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

#: What a processor does with the result of a function, by the method of the program.
_BODIES = {
    "filter": "if {call}:\n            self.context.forward(record)",
    "filter_not": "if not {call}:\n            self.context.forward(record)",
    "map": (
        "key, value = {call}\n        self.context.forward(record.replace(key=key, value=value))"
    ),
    "map_values": "self.context.forward(record.replace(value={call}))",
    "select_key": "self.context.forward(record.replace(key={call}))",
    "flat_map": (
        "for key, value in {call}:\n"
        "            self.context.forward(record.replace(key=key, value=value))"
    ),
    "flat_map_values": (
        "for value in {call}:\n            self.context.forward(record.replace(value=value))"
    ),
    "joiner": "self.context.forward(record.replace(value={call}))",
    "peek": "{call}\n        self.context.forward(record)",
}
#: Methods whose processor may change the key.
REKEYING = ("map", "select_key", "flat_map")
#: The output types of a processor, which a function of this method decides.
RESULTS: dict[str, tuple[str, ...]] = {
    "filter": (), "filter_not": (), "peek": (), "map": ("key", "value"), "map_values": ("value",),
    "select_key": ("key",), "flat_map": ("key", "value"), "flat_map_values": ("value",),
}  # fmt: skip
#: How a processor gets what a function's parameters stand for.
ARGUMENTS = {
    "key": "record.key", "value": "record.value", "timestamp": "record.timestamp",
    "headers": "record.headers", "topic": "self.context.topic",
    "partition": "self.context.partition", "offset": "self.context.offset",
}  # fmt: skip
_DOCSTRING = re.compile(r"Call (\w+)\(([\w, ]*)\) for (\w+)\.")


@dataclass(frozen=True)
class Called:
    """A function of a processor's code: the method of the program that it is an argument of.

    ``code``: the code without the class.
    """

    method: str
    function: str
    columns: tuple[str, ...]
    code: str


def class_name_of(function: str, taken: Sequence[str]) -> str:
    """The name of the class that calls a function: ``Enrich`` for ``enrich``."""
    words = [word for word in function.split("_") if word]
    made = "".join(word[0].upper() + word[1:] for word in words) or "Function"
    while made in taken or made == function or not made.isidentifier():
        made = f"{made}Processor" if made.isidentifier() else f"Function{made}"
    return made


def class_code(method: str, function: str, columns: Sequence[str], class_name: str) -> str:
    """The class whose ``process`` calls a function of the columns."""
    parts = [f'record.value["{each}"]' for each in columns]
    if method != "joiner":
        parts = [ARGUMENTS[each] for each in columns]
    call = f"{function}({', '.join(parts)})"
    return (
        f"class {class_name}(Processor):\n"
        f'    """Call {function}({", ".join(columns)}) for {method}."""\n\n'
        "    def init(self, context):\n"
        "        self.context = context\n\n"
        "    def process(self, record):\n"
        f"        {_BODIES[method].format(call=call)}\n"
    )


def choosing(class_name: str, branches: Mapping[str, str], default: str | None) -> str:
    """The class that sends a record to the port of the first call that is true."""
    lines = []
    for number, (port, call) in enumerate(branches.items()):
        lines += [
            f"        {'elif' if number else 'if'} {call}:",
            f'            self.context.forward(record, to="{port}")',
        ]
    if default is not None:
        lines += ["        else:", f'            self.context.forward(record, to="{default}")']
    body = "\n".join(lines)
    return (
        f"class {class_name}(Processor):\n"
        '    """Send each record to the first branch whose function is true."""\n\n'
        "    def init(self, context):\n"
        "        self.context = context\n\n"
        "    def process(self, record):\n"
        f"{body}\n"
    )


def called_function(code: str, class_name: str) -> Called | None:
    """The function that a processor only calls; ``None`` for any other class."""
    at = code.find(f"class {class_name}(Processor):\n")
    if at < 0:
        return None
    own = code[at:]
    found = _DOCSTRING.search(own)
    if found is None or found.group(3) not in _BODIES or found.group(3) == "joiner":
        return None
    function, listed, method = found.groups()
    columns = tuple(listed.split(", ")) if listed else ()
    if any(each not in ARGUMENTS for each in columns):
        return None
    if class_code(method, function, columns, class_name).rstrip() != own.rstrip():
        return None
    rest = code[:at].rstrip("\n") + "\n"
    return Called(method, function, columns, rest) if _takes(rest, function, columns) else None


def _takes(code: str, function: str, columns: tuple[str, ...]) -> bool:
    """Whether the code defines the function, and a program would bind its parameters so."""
    try:
        body = ast.parse(code).body
    except SyntaxError:
        return False
    for item in body:
        if isinstance(item, ast.FunctionDef) and item.name == function:
            args = item.args
            named = [each.arg for each in (*args.posonlyargs, *args.args)]
            needed = tuple(named[: len(named) - len(args.defaults)])
            if args.kwonlyargs or args.vararg or args.kwarg or len(needed) != len(columns):
                return False
            return bound(needed, RECORD) == columns
    return False


def returns_of(method: str, key: object, value: object) -> str | None:
    """The type of what a function returns, from the output types of its processor."""
    match method:
        case "map_values":
            return str(value)
        case "select_key":
            return str(key)
        case "flat_map_values":
            return f"ARRAY<{value}>"
        case "map":
            return f"STRUCT<key: {key}, value: {value}>"
        case "flat_map":
            return f"ARRAY<STRUCT<key: {key}, value: {value}>>"
    return None


@dataclass(frozen=True)
class Binding:
    """What the parameters of a function stand for.

    ``names``: parameters of these names are the columns of these names. Other parameters stand for
    columns by their number, in the order of Kafka Streams.
    """

    names: tuple[str, ...]
    positions: tuple[tuple[str, ...], ...]

    def __str__(self) -> str:
        listed = [f"({', '.join(each)})" for each in self.positions]
        return " or ".join(listed)


RECORD = Binding(tuple(ARGUMENTS), (("value",), ("key", "value")))
JOINER = Binding(
    ("key", "left", "right", "timestamp"), (("left", "right"), ("key", "left", "right"))
)
MAPPED_JOINER = Binding(
    ("key", "mapped_key", "left", "right", "timestamp"),
    (("left", "right"), ("key", "left", "right"), ("key", "mapped_key", "left", "right")),
)
AGGREGATOR = Binding(("agg", "key", "value", "timestamp"), (("key", "value", "agg"),))
REDUCER = Binding(("agg", "value"), (("agg", "value"),))
MERGER = Binding(("key", "left", "right"), (("key", "left", "right"),))
INITIALIZER = Binding((), ((),))
PAIR = Binding(("key", "value"), (("value",), ("key", "value")))


def bound(parameters: Sequence[str], binding: Binding) -> tuple[str, ...] | None:
    """The columns that parameters stand for, in their order; ``None`` if they do not fit."""
    if all(each in binding.names for each in parameters) and (parameters or not binding.names):
        return tuple(parameters)
    for columns in binding.positions:
        if len(columns) == len(parameters):
            return columns
    return None
