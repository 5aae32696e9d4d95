"""Functions in Python that are equal to the expressions of recorded scenarios."""

from __future__ import annotations

import copy
from typing import Any

from millrace_compiler import compile_document
from millrace_runtime.functions.known_types import KnownTypes

Json = dict[str, Any]

#: What is equal to each expression; None where Spark's is null.
EQUAL = {
    "0": "0", "0L": "0", "1L": "1", "'0'": "'0'", "''": "''",
    "agg + value": "None if None in (agg, value) else agg + value",
    "agg - value": "None if None in (agg, value) else agg - value",
    "agg + length(value)": "agg + len(value)",
    "agg - length(value)": "agg - len(value)",
    "coalesce(agg, 0L) + coalesce(value, 0L)": "(agg or 0) + (value or 0)",
    "concat(agg, '+', value)": "text(agg, '+', value)",
    "concat(agg, '-', value)": "text(agg, '-', value)",
    "concat(agg, value)": "text(agg, value)",
    "substr(concat(agg, '+', value), 1, 60)": "cut(text(agg, '+', value))",
    "substr(concat(agg, '-', value), 1, 60)": "cut(text(agg, '-', value))",
    "substr(concat(coalesce(agg, '~'), coalesce(value, '~')), 1, 60)":
        "cut((agg or '~') + (value or '~'))",
    "if(length(value) > length(agg), value, agg)": "value if len(value) > len(agg) else agg",
    "CASE WHEN value = 'del' THEN NULL ELSE concat(agg, '+', value) END":
        "None if value == 'del' else text(agg, '+', value)",
    "concat(left, '+', right)": "text(left, '+', right)",
    "concat(left, '&', right)": "text(left, '&', right)",
    "concat(left, '|', right)": "text(left, '|', right)",
    "concat(left, right)": "text(left, right)",
    "left + right": "left + right",
    "value > 'm'": "value is not None and value > 'm'",
    "value > 'b'": "value is not None and value > 'b'",
    "value > 1": "value is not None and value > 1",
    "value >= 2": "value is not None and value >= 2",
    "value <> 'x'": "value is not None and value != 'x'",
    "value <> 'no'": "value is not None and value != 'no'",
    "value <> 'drop'": "value is not None and value != 'drop'",
    "value % 2 = 0": "value % 2 == 0",
    "value.views >= 2": "(value['views'] or 0) >= 2",
    "value.age >= 18": "(value['age'] or 0) >= 18",
    "value.user_address IS NOT NULL": "value['user_address']",
    "value.user_address = value.item_address": "value['user_address'] == value['item_address']",
    "upper(value)": "value.upper()",
    "value": "value", "key": "key",
    "CAST(value AS INT)": "int(value)",
    "100 div CAST(value AS BIGINT)": "100 // int(value)",
    "concat(value,'!')": "text(value, '!')", "concat(value, '!')": "text(value, '!')",
    "concat('(', coalesce(left, 'null'), ',', coalesce(right, 'null'), ')')":
        "f\"({left or 'null'},{right or 'null'})\"",
    "concat(coalesce(left,'null'),'-',coalesce(right,'null'))":
        "f\"{left or 'null'}-{right or 'null'}\"",
    "concat(coalesce(left, 'null'), '+', coalesce(right, 'null'))":
        "f\"{left or 'null'}+{right or 'null'}\"",
    "concat(left, '+', coalesce(right, '-'))": "text(left, '+', right or '-')",
    'concat(left, " ", coalesce(right, "none"))': "text(left, ' ', right or 'none')",
    "substring_index(value, '|', -1)": "value.rpartition('|')[2]",
    "nullif(substring_index(value, '|', -1), 'returnNull')":
        "None if value.endswith('returnNull') else value.rpartition('|')[2]",
    "substr(value, 2, 1)": "value[1:2]",
    "coalesce(substr(key, 1, 1), 'z')": "key[:1] if key is not None else 'z'",
    "coalesce(substr(value.g, 1, 1), 'z')": "(value.g or 'z')[:1] if value.g != '' else ''",
    "coalesce(value, 0L)": "value or 0", "(coalesce(value.n, 0L) + 1)": "(value.n or 0) + 1",
    "concat(key.key, '@', CAST(unix_millis(key.window.start) AS STRING))":
        "f'{key.key}@{key.window.start}'",
    "key.key": "key.key",
    "concat(CAST(unix_millis(key.window.start) AS STRING), ':', "
    "coalesce(CAST(value AS STRING), 'gone'))":
        "f\"{key.window.start}:{'gone' if value is None else value}\"",
    "named_struct('start', key.window.start, 'end', key.window.end, 'n', value)":
        "{**key.window, 'n': value}",
    "value.w": "value.w", "unix_millis(timestamp)": "timestamp",
    "timestamp": "timestamp", "unix_millis(timestamp) + value": "added(timestamp, value)",
    "unix_millis(timestamp) - 5": "timestamp - 5",
    "value.ordered_at": "value and value.ordered_at",
    "value.placed_at": "value and value.placed_at", "value.ts": "value and value.ts",
}  # fmt: skip
HELPERS = """def text(*parts):
    return None if None in parts else "".join(parts)


def added(*numbers):
    return None if None in numbers else sum(numbers)


def cut(value):
    return None if value is None else value[:60]


"""
ARGUMENTS = {
    "predicate": "key, value", "value": "key, value", "reducer": "agg, value",
    "aggregator": "key, value, agg", "subtractor": "key, value, agg", "initializer": "",
    "merger": "key, left, right", "joiner": "left, right", "foreign_key": "key, value",
    "key": "key, value, timestamp", "timestamp": "key, value, timestamp",
}  # fmt: skip
KINDS = {
    "filter": ("predicate",), "filter_not": ("predicate",), "map_values": ("value",),
    "reduce": ("reducer", "subtractor"),
    "aggregate": ("initializer", "aggregator", "subtractor", "merger"),
    "map": ("key", "value"), "source.stream": ("timestamp",), "source.table": ("timestamp",),
    "join.table_table": ("joiner",), "join.foreign_key": ("joiner", "foreign_key"),
}  # fmt: skip


def with_functions(topology: Json) -> Json | None:
    """The topology whose tables and aggregations call functions; None if none can."""
    compilation = compile_document(topology, KnownTypes())
    made = copy.deepcopy(topology)
    changed = False
    for node in made["nodes"]:
        texts = {name: node["params"].get(name) for name in KINDS.get(node["kind"], ())}
        given = {name: text for name, text in texts.items() if text is not None}
        types = {name: _type(compilation, node, name) for name in given}
        known = all(text in EQUAL for text in given.values()) and None not in types.values()
        if not given or not known or not _of_tables(compilation, node):
            continue
        code, changed = HELPERS, True
        for name, text in given.items():
            arguments = ARGUMENTS[name]
            if node["kind"] == "reduce":
                arguments = "agg, value"
            if node["kind"] == "map":
                arguments = "key, value, timestamp"
            code += f"def {name}({arguments}):\n    return {EQUAL[text]}\n\n\n"
            node["params"][name] = f"{name}({arguments})"
        node["params"] |= {"functions": code, "returns": types}
    return made if changed else None


def _of_tables(compilation: Any, node: Json) -> bool:
    if node["kind"] not in ("filter", "filter_not", "map_values"):
        return True
    port = compilation.ports.get((node["id"], "out"))
    return port is not None and port.role == "table"


def _type(compilation: Any, node: Json, parameter: str) -> str | None:
    if parameter == "predicate":
        return "BOOLEAN"
    if parameter == "timestamp":
        return "TIMESTAMP"
    if node["kind"] == "map":
        port = compilation.ports.get((node["id"], "out"))
        found = None if port is None else getattr(port, parameter)
        return None if found is None else str(found.text)
    if parameter == "foreign_key":
        [edge] = compilation.graph.inputs[node["id"]]["right"]
        port = compilation.ports.get((edge.source, edge.source_port))
        return None if port is None or port.key is None else port.key.text
    if node["kind"] == "aggregate":
        return str(node["params"]["type"])
    port = compilation.ports.get((node["id"], "out"))
    return None if port is None or port.value is None else port.value.text


#: what a function returns to do the same as one of the handlers by name
_ANSWERS = {
    "continue": "Response.resume()",
    "dead_letter": "Response.resume(record.dead_letter(error))",
    "dead_letter_then_fail": "Response.fail(record.dead_letter(error))",
    "fail": "Response.fail()",
}


def with_handlers(topology: Json) -> Json:
    """The topology whose handlers are functions that answer like its handlers by name."""
    settings = dict(topology["settings"])
    for kind in ("processing", "deserialization"):
        answer = _ANSWERS[settings.get(f"{kind}_handler", "fail")]
        settings[f"{kind}_function"] = f"def handle(record, error):\n    return {answer}\n"
        settings[f"{kind}_handler"] = "function"
    return {**topology, "settings": settings}
