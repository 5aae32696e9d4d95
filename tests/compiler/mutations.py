"""Recorded scenarios with random faults; the same seed gives the same faults."""

from __future__ import annotations

import copy
import json
import math
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "conformance" / "scenarios"

Path_ = tuple[str | int, ...]

_NUMBERS = [0, -1, 1, 2**31, 2**63, -(2**63) - 1, 10**40, 10**400, 1.5, -0.0, 1e308]
_NO_NUMBERS = [math.nan, math.inf, -math.inf]
_TEXTS = [
    "",
    " ",
    "\n",
    "\x00",
    "\u200b",
    "\ud800",
    "😀",
    "日本語",
    "é" * 300,
    "a" * 3000,
    "{found}",
    "%s",
    "${x}",
    "../..",
    "'; DROP TABLE x",
    "null",
    "NaN",
    "0",
    "-",
    ".",
    "..",
    "`",
    "“value”",
    "A\u0301",
]
_DURATIONS = [
    "5 lightyears",
    "-1 ms",
    "1e3 seconds",
    "  5  seconds ",
    "９ seconds",
    "1 hour 2 minutes",
    "seconds",
    "9223372036854775808 ms",
    "999999999999 days",
    "1.5 minutes",
    "5seconds",
    "+5 ms",
    "5 MS",
    "٣ days",
]
_EXPRESSIONS = [
    "value",
    "key",
    "1",
    "true",
    "null",
    "value.a",
    "no_such",
    "lenght(value)",
    "value +",
    ")",
    "(" * 600,
    "'open",
    "sum(value)",
    "explode(array(1))",
    "rand()",
    "(SELECT 1)",
    "*",
    "value.*",
    "CAST(value AS FOO)",
    "array()",
    "struct()",
    "map()",
    "1/0",
    "current_timestamp()",
    "-- only a comment",
    "/* open",
    "concat(" + "value," * 2000 + "value)",
    "x -> x",
    "value -> value",
    "key\u0000",
    "1e999",
    "DATE 'x'",
    "from_json(value, 'a FOO')",
    "raise_error('no')",
    "reflect('a', 'b')",
    "INTERVAL 1 DAY",
    "value[0]",
]
_CODES = [
    "",
    "class",
    "class Run:\n  def process(self, record: pass",
    "\tclass Run(Processor):\n pass",
    "import nope",
    "class Run(Processor):\n    def process(self, record):\n        return \ud800",
    "x = 1\x00",
    "class Run(: pass",
    "raise SystemExit",
    "def Run(): pass",
    "Run = 3",
    "(" * 300,
    "é = 1\nclass É(Processor): pass",
]
_SCHEMAS = [
    "",
    "a",
    "a INT,",
    "a INT b INT",
    "ARRAY<INT",
    "STRUCT<>",
    "DECIMAL(99,1)",
    "DECIMAL(10)",
    "VOID",
    "INTERVAL",
    "MAP<ARRAY<INT>, INT>",
    "a INT, a STRING",
    "VARIANT",
    "CHAR(3)",
    "STRUCT<a: STRUCT<b: STRUCT<c: INT>>>",
    "ARRAY<" * 200 + "INT" + ">" * 200,
    "`a b` INT",
    "a INT COMMENT 'x'",
    '{"type": "record"}',
    "TIMESTAMP_NTZ",
]
_KINDS = [
    "source.stream",
    "source.table",
    "source.global_table",
    "filter",
    "map",
    "flat_map",
    "merge",
    "split",
    "to_table",
    "to_stream",
    "count",
    "reduce",
    "aggregate",
    "cogroup",
    "join.stream_stream",
    "join.stream_table",
    "suppress",
    "join.foreign_key",
    "join.table_table",
    "join.stream_global_table",
    "process",
    "process_values",
    "repartition",
    "store.key_value",
    "store.window",
    "store.session",
    "store.versioned",
    "sink.topic",
    "sink.print",
    "nothing",
]


def scenarios() -> list[dict[str, Any]]:
    """All recorded scenarios, in a stable order."""
    return [json.loads(path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.json"))]


def mutated(documents: list[dict[str, Any]], seed: int, number: int) -> dict[str, Any]:
    """Return one of the documents with one to four random faults."""
    draw = random.Random(f"{seed}/{number}")
    document = copy.deepcopy(draw.choice(documents))
    for _ in range(draw.choice((1, 1, 1, 2, 2, 3, 4))):
        draw.choice(_FAULTS)(document, draw)
    return document


def _places(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """Yield the path of every value inside a document."""
    items: Iterator[tuple[str | int, Any]] = iter(())
    if isinstance(value, dict):
        items = iter(list(value.items()))
    elif isinstance(value, list):
        items = iter(list(enumerate(value)))
    for name, inner in items:
        yield (*path, name)
        if len(path) < 8:
            yield from _places(inner, (*path, name))


def _get(document: Any, path: Path_) -> Any:
    for name in path:
        document = document[name]
    return document


def _set(document: Any, path: Path_, value: Any) -> None:
    _get(document, path[:-1])[path[-1]] = value


def _anywhere(document: dict[str, Any], draw: random.Random) -> Path_ | None:
    places = list(_places(document))
    return draw.choice(places) if places else None


def junk(draw: random.Random) -> Any:
    """Return an unexpected JSON value, including the NaN that Python's reader accepts."""
    choices: list[Callable[[], Any]] = [
        lambda: None,
        lambda: draw.choice([True, False]),
        lambda: draw.choice(_NUMBERS),
        lambda: draw.choice(_NO_NUMBERS),
        lambda: draw.choice(_TEXTS),
        lambda: draw.choice(_DURATIONS),
        lambda: draw.choice(_EXPRESSIONS),
        lambda: draw.choice(_SCHEMAS),
        list,
        dict,
        lambda: [junk(draw) for _ in range(draw.randint(1, 3))],
        lambda: {draw.choice(["a", "type", "key", "", "format"]): junk(draw)},
        lambda: _deep(draw.choice([10, 40, 200]), draw),
    ]
    return draw.choice(choices)()


def _deep(levels: int, draw: random.Random) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value] if draw.random() < 0.5 else {"a": value}
    return value


# ---- faults ---------------------------------------------------------------------------------

Fault = Callable[[dict[str, Any], random.Random], None]


def _replace(document: dict[str, Any], draw: random.Random) -> None:
    path = _anywhere(document, draw)
    if path:
        _set(document, path, junk(draw))


def _drop(document: dict[str, Any], draw: random.Random) -> None:
    path = _anywhere(document, draw)
    if path:
        del _get(document, path[:-1])[path[-1]]


def _rename(document: dict[str, Any], draw: random.Random) -> None:
    named = [path for path in _places(document) if isinstance(path[-1], str)]
    if named:
        path = draw.choice(named)
        owner = _get(document, path[:-1])
        value = owner.pop(path[-1])
        name = str(path[-1])
        owner[draw.choice([name[:-1], f"{name}s", name.upper(), draw.choice(_TEXTS)])] = value


def _repeat(document: dict[str, Any], draw: random.Random) -> None:
    lists = [path for path in _places(document) if isinstance(_get(document, path), list)]
    filled = [path for path in lists if _get(document, path)]
    if filled:
        items = _get(document, draw.choice(filled))
        items.insert(draw.randint(0, len(items)), copy.deepcopy(draw.choice(items)))


def _swap(document: dict[str, Any], draw: random.Random) -> None:
    places = list(_places(document))
    if len(places) < 2:
        return
    one, other = draw.sample(places, 2)
    short = min(len(one), len(other))
    if one[:short] == other[:short]:  # one contains the other
        return
    first, second = _get(document, one), _get(document, other)
    _set(document, one, second)
    _set(document, other, first)


def _nodes(document: dict[str, Any]) -> list[dict[str, Any]]:
    listed = document.get("nodes")
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []


def _edges(document: dict[str, Any]) -> list[Any]:
    edges = document.get("edges")
    return edges if isinstance(edges, list) else []


def _ids(document: dict[str, Any]) -> list[Any]:
    return [node.get("id") for node in _nodes(document)] or ["nobody"]


def _another_edge(document: dict[str, Any], draw: random.Random) -> None:
    ids = [*_ids(document), "nobody"]
    edge = {"source": draw.choice(ids), "target": draw.choice(ids)}
    if draw.random() < 0.4:
        edge["target_port"] = draw.choice(["left", "right", "store", "in", "one", "", 7])
    if draw.random() < 0.2:
        edge["source_port"] = draw.choice(["out", "a", "", None])
    edges = _edges(document)
    edges.insert(draw.randint(0, len(edges)), edge)


def _turn_edge(document: dict[str, Any], draw: random.Random) -> None:
    edges = [edge for edge in _edges(document) if isinstance(edge, dict)]
    if edges:
        edge = draw.choice(edges)
        edge["source"], edge["target"] = edge.get("target"), edge.get("source")


def _shuffle(document: dict[str, Any], draw: random.Random) -> None:
    draw.shuffle(_edges(document))
    if isinstance(document.get("nodes"), list):
        draw.shuffle(document["nodes"])


def _another_kind(document: dict[str, Any], draw: random.Random) -> None:
    nodes = _nodes(document)
    if nodes:
        draw.choice(nodes)["kind"] = draw.choice(_KINDS)


def _others_params(document: dict[str, Any], draw: random.Random) -> None:
    nodes = _nodes(document)
    if nodes:
        draw.choice(nodes)["params"] = copy.deepcopy(draw.choice(nodes).get("params"))


def _same_id(document: dict[str, Any], draw: random.Random) -> None:
    nodes = _nodes(document)
    if nodes:
        draw.choice(nodes)["id"] = draw.choice(_ids(document))


def _texts(document: dict[str, Any]) -> list[Path_]:
    return [
        path
        for path in _places(document)
        if "params" in path and isinstance(_get(document, path), str)
    ]


def _garble(document: dict[str, Any], draw: random.Random) -> None:
    """Delete, duplicate or replace characters of a text in the parameters."""
    texts = _texts(document)
    if not texts:
        return
    path = draw.choice(texts)
    text = _get(document, path)
    at = draw.randint(0, len(text))
    strange = draw.choice(["(", ")", "'", ",", ".", "+", "😀", "\n", "\x00", "`", "--", "/*", " "])
    garbled = [text[:at], text[at:], text[:at] + text[at + 1 :], text[:at] + strange + text[at:]]
    _set(document, path, draw.choice([*garbled, text + text, text.upper()]))


def _other_text(document: dict[str, Any], draw: random.Random) -> None:
    texts = _texts(document)
    if texts:
        path = draw.choice(texts)
        name = path[-1]
        choices = _EXPRESSIONS
        if name == "code":
            choices = _CODES
        elif name in ("schema", "type", "key_type", "value_type"):
            choices = _SCHEMAS
        elif name in ("size", "advance", "grace", "gap", "limit", "before", "after", "retention"):
            choices = _DURATIONS
        _set(document, path, draw.choice(choices))


def _all_null(document: dict[str, Any], draw: random.Random) -> None:
    nodes = _nodes(document)
    if nodes:
        params = draw.choice(nodes).get("params")
        if isinstance(params, dict):
            for name in params:
                params[name] = None


_FAULTS: list[Fault] = [
    _replace,
    _replace,
    _replace,
    _drop,
    _drop,
    _rename,
    _repeat,
    _swap,
    _another_edge,
    _another_edge,
    _turn_edge,
    _shuffle,
    _another_kind,
    _others_params,
    _same_id,
    _garble,
    _garble,
    _garble,
    _other_text,
    _other_text,
    _all_null,
]
