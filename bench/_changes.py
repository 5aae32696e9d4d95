"""Small changes of topologies, as people make them, and rewordings that change no result."""

from __future__ import annotations

import copy
import itertools
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from millrace_compiler.documents.durations import NoDuration, parse_duration

Document = Any

_COMPARISONS = ((">=", ">"), ("<=", "<"), (">", ">="), ("<", "<="), ("=", "!="), ("<>", "="))
_OPERATORS = (("+", "-"), ("-", "+"), ("*", "+"), ("%", "*"), ("div", "*"))
_FUNCTIONS = (
    ("upper(", "lower("), ("lower(", "upper("), ("greatest(", "least("),
    ("concat(", "concat('x', "), ("array_distinct(", "array_sort("), ("round(", "floor("),
)  # fmt: skip
_LOGIC = (
    (" AND ", " OR "), (" OR ", " AND "), ("IS NOT NULL", "IS NULL"), ("IS NULL", "IS NOT NULL"),
    (" LIKE ", " NOT LIKE "),
)  # fmt: skip
_NUMBER = re.compile(r"(?<![\w'.])\d+(?![\w'.])")
_LITERAL = re.compile(r"'([^'\\]*)'")
_COALESCE = re.compile(r"coalesce\(([\w.]+), *[^(),]+\)")
_FIELD = re.compile(r"\b(value|left|right|agg)\.(\w+)")
_CODE_LITERAL = re.compile(r"\"([^\"\\\n]+)\"")
_EXPRESSIONS = (
    "predicate", "value", "values", "key", "records", "joiner", "foreign_key", "aggregator",
    "subtractor", "initializer", "merger", "reducer", "topic_expression", "timestamp",
)  # fmt: skip
_WINDOWS = ("size", "advance", "gap", "difference", "before", "after", "start")
_LIMITS = ("retention", "history_retention", "limit", "max_records", "max_bytes", "window_size")
_CHOICES: dict[str, tuple[str, ...]] = {
    "until": ("time_limit", "window_closes"),
    "emit": ("every_update", "window_close"),
    "when_full": ("emit", "fail"),
    "invalid_timestamp": ("fail", "skip", "partition_time"),
    "deserialization_handler": ("fail", "continue", "dead_letter"),
    "processing_handler": ("fail", "continue", "dead_letter"),
}
_JOINS = {
    "join.stream_stream": ("inner", "left", "outer"),
    "join.table_table": ("inner", "left", "outer"),
    "join.stream_table": ("inner", "left"),
    "join.stream_global_table": ("inner", "left"),
    "join.foreign_key": ("inner", "left"),
}


@dataclass(frozen=True)
class Change:
    """A change of one thing: its kind, what it is, and the changed document."""

    kind: str
    what: str
    document: Document


def changes(document: Document) -> Iterator[Change]:
    """Yield all changes of a document. Some are refused, and some have no effect."""
    for kind, what, at, key, value in _edits(document):
        made = copy.deepcopy(document)
        place = made
        for step in at:
            place = place[step]
        if value is None:
            place.pop(key, None)
        else:
            place[key] = value
        yield Change(kind, what, made)
    yield from _without_filters(document)
    yield from _other_topics(document)


_Edit = tuple[str, str, tuple[Any, ...], Any, Any]


def _edits(document: Document) -> Iterator[_Edit]:
    """Yield (kind, description, way to the container, key there, new value or None for none)."""
    for index, node in enumerate(document["nodes"]):
        way = ("nodes", index, "params")
        for at, key, value in _leaves(node.get("params") or {}, way):
            name = f"{node['id']}.{key}"
            if key in _EXPRESSIONS and isinstance(value, str):
                for kind, text in _expressions(value):
                    yield kind, f"{name}: {value} → {text}", at, key, text
            if key == "code":
                for text in _programs(value):
                    yield "code", f"{name}: {_line_of(value, text)}", at, key, text
            yield from _settings(name, node["kind"], at, key, value)
        if "window" in (node.get("params") or {}) and "emit" not in node["params"]:
            yield "emission", f"{node['id']}: emit", way, "emit", "window_close"
        for window in _other_windows((node.get("params") or {}).get("window") or {}):
            yield "window type", f"{node['id']}: {window}", way, "window", window
        group = (node.get("params") or {}).get("group_by")
        if group:
            for other in ("key", "value", "'all'"):
                if group.get("key") != other:
                    what = f"{node['id']}: group by {other}"
                    yield "group key", what, (*way, "group_by"), "key", other
    for at, key, value in _leaves(document.get("settings") or {}, ("settings",)):
        yield from _settings(f"settings.{key}", "", at, key, value)


def _leaves(part: Any, way: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any, Any]]:
    for key, each in part.items() if isinstance(part, dict) else enumerate(part):
        if isinstance(each, dict | list):
            yield from _leaves(each, (*way, key))
        else:
            yield way, key, each


def _expressions(text: str) -> Iterator[tuple[str, str]]:
    """Yield (kind, expression) of an expression with one change."""
    for kind, pairs in (("comparison", _COMPARISONS), ("operator", _OPERATORS)):
        for one, other in pairs:
            if f" {one} " in text:
                yield kind, text.replace(f" {one} ", f" {other} ", 1)
    for kind, pairs in (("function", _FUNCTIONS), ("condition", _LOGIC)):
        for one, other in pairs:
            if one in text and f"NOT {one.strip()}" not in text:
                yield kind, text.replace(one, other, 1)
    for found in _NUMBER.finditer(text):
        for number in (int(found[0]) + 1, int(found[0]) - 1):
            yield "number", f"{text[: found.start()]}{number}{text[found.end() :]}"
    for found in _LITERAL.finditer(text):
        yield "text", f"{text[: found.start()]}'{found[1]}x'{text[found.end() :]}"
    for found in _COALESCE.finditer(text):
        yield "null", f"{text[: found.start()]}{found[1]}{text[found.end() :]}"
    fields = list(_FIELD.finditer(text))
    for found in fields:
        for other in {each[2] for each in fields if each[1] == found[1]} - {found[2]}:
            yield "field", f"{text[: found.start(2)]}{other}{text[found.end(2) :]}"
    if "left" in text and "right" in text:
        swapped = text.replace("left", "\0").replace("right", "left").replace("\0", "right")
        yield "sides", swapped


def _settings(
    name: str, kind: str, at: tuple[Any, ...], key: Any, value: Any
) -> Iterator[_Edit]:  # fmt: skip
    for group, names in (("window", _WINDOWS), ("grace", ("grace",)), ("limit", _LIMITS)):
        if key in names:
            for other in _durations(key, value):
                yield group, f"{name}: {value} → {other}", at, key, other
    if key == "type" and kind in _JOINS:
        for other in _JOINS[kind]:
            if other != value:
                yield "join type", f"{name}: {value} → {other}", at, key, other
    for other in _CHOICES.get(key, ()) if isinstance(key, str) else ():
        if other != value:
            group = "emission" if key in ("until", "emit", "when_full") else "handling"
            yield group, f"{name}: {value} → {other}", at, key, other
    if key == "timestamp":
        yield "handling", f"{name}: {value} → none", at, key, None


def _other_windows(window: Any) -> Iterator[Any]:
    """Yield windows of another type with the same lengths."""
    kind, grace = window.get("type"), {"grace": window["grace"]} if "grace" in window else {}
    size = window.get("size") or window.get("gap") or window.get("difference")
    if size is None:
        return
    made = {
        "tumbling": {"size": size},
        "hopping": {"size": size, "advance": max(1, parse_duration(size) // 2)},
        "session": {"gap": size},
        "sliding": {"difference": size},
    }
    for other, lengths in made.items():
        if other != kind:
            yield {"type": other, **lengths, **grace}


def _durations(key: str, value: Any) -> Iterator[Any]:
    """Yield durations near a duration, and half of it; numbers of records near one."""
    if key.startswith("max_"):
        yield value + 1
        return
    try:
        time = parse_duration(value)
    except NoDuration:
        return
    yield from {time + 1, time - 1, time // 2, time + time // 10} - {time, -1}


def _programs(code: str) -> Iterator[str]:
    """Yield the code of a processor with one change."""
    for found in _NUMBER.finditer(code):
        yield f"{code[: found.start()]}{int(found[0]) + 1}{code[found.end() :]}"
    for found in _CODE_LITERAL.finditer(code):
        if '"""' not in code[found.start() - 2 : found.end() + 2]:
            yield f'{code[: found.start()]}"{found[1]}x"{code[found.end() :]}'
    for one, other in ((" == ", " != "), (" > ", " >= "), (" < ", " <= "), (" += ", " -= ")):
        if one in code:
            yield code.replace(one, other, 1)


def _line_of(code: str, changed: str) -> str:
    lines = zip(code.splitlines(), changed.splitlines(), strict=False)
    return next((f"{one.strip()} → {two.strip()}" for one, two in lines if one != two), "")


def _without_filters(document: Document) -> Iterator[Change]:
    """Yield the document with a filter, or a buffer, that lets all records through."""
    for index, node in enumerate(document["nodes"]):
        if node["kind"] in ("filter", "filter_not"):
            made = copy.deepcopy(document)
            made["nodes"][index]["params"]["predicate"] = str(node["kind"] == "filter").lower()
            yield Change("filter", f"{node['id']}: without", made)


def _other_topics(document: Document) -> Iterator[Change]:
    """Yield the document with the topics of two sinks exchanged."""
    sinks = [
        index
        for index, node in enumerate(document["nodes"])
        if node["kind"] == "sink.topic" and "topic" in node["params"]
    ]
    for one, two in itertools.pairwise(sinks):
        made = copy.deepcopy(document)
        first, second = made["nodes"][one]["params"], made["nodes"][two]["params"]
        if first["topic"] != second["topic"]:
            first["topic"], second["topic"] = second["topic"], first["topic"]
            yield Change("topic", f"{first['topic']} ↔ {second['topic']}", made)


# ---- rewordings ----


def renamed(document: Document) -> Document:
    """Return a document in which nodes that have no store have other names."""
    made = copy.deepcopy(document)
    text = json.dumps(made)
    stores = {"store", "stores", "node"}
    plain = ("filter", "filter_not", "map_values", "to_stream", "select_key", "merge")
    for node in document["nodes"]:
        if node["kind"] in plain and not stores & set(node.get("params") or ()):
            text = text.replace(f'"{node["id"]}"', f'"{node["id"]}_renamed"')
    found: Document = json.loads(text)
    return found


def _predicates(document: Document, change: Callable[[str], str]) -> Document:
    made = copy.deepcopy(document)
    for node in made["nodes"]:
        params = node.get("params") or {}
        for place in (params, *params.get("branches", ())):
            if "predicate" in place:
                place["predicate"] = change(place["predicate"])
    return made


def bracketed(document: Document) -> Document:
    """Return a document whose predicates are in parentheses."""
    return _predicates(document, lambda text: f"({text})")


def denied_twice(document: Document) -> Document:
    """Return a document whose predicates are negated twice."""
    return _predicates(document, lambda text: f"NOT (NOT ({text}))")


def reordered(document: Document) -> Document:
    """Return a document whose nodes without an order of their own are listed in another order."""
    made = copy.deepcopy(document)
    stores = [node for node in made["nodes"] if node["kind"].startswith("store.")]
    made["nodes"] = [node for node in made["nodes"] if not node["kind"].startswith("store.")]
    made["nodes"] = [*stores, *made["nodes"]]
    return made


def in_words(document: Document) -> Document:
    """Return a document whose durations are written in another way."""
    made = copy.deepcopy(document)
    for node in made["nodes"]:
        for place in (node.get("params") or {}, (node.get("params") or {}).get("window") or {}):
            for name in (*_WINDOWS, "grace"):
                if isinstance(place.get(name), str):
                    place[name] = parse_duration(place[name])
                elif isinstance(place.get(name), int):
                    place[name] = f"{place[name]} ms"
    return made


def with_unchanged_values(document: Document) -> Document:
    """Return a document with a node before each sink that passes values on as they are."""
    made = copy.deepcopy(document)
    kinds = {node["id"]: node["kind"] for node in made["nodes"]}
    tables = ("to_table", "source.table", "suppress", "join.table_table", "join.foreign_key")
    for edge in list(made["edges"]):
        if kinds[edge["target"]] == "sink.topic" and kinds[edge["source"]] not in tables:
            name = f"same-{edge['source']}-{edge['target']}"
            made["nodes"].append({"id": name, "kind": "map_values", "params": {"value": "value"}})
            made["edges"].append({"source": name, "target": edge["target"]})
            edge["target"] = name
            edge.pop("target_port", None)
    return made


REWORDINGS: dict[str, Callable[[Document], Document]] = {
    "renamed": renamed,
    "in parentheses": bracketed,
    "negated twice": denied_twice,
    "stores listed first": reordered,
    "durations in words": in_words,
    "values passed on": with_unchanged_values,
}
