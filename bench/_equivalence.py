"""Proofs that a change of a topology has no effect."""

from __future__ import annotations

import ast
import copy
import json
import re
from typing import Any

from millrace_compiler import Analyzer, DocumentError, Refused
from millrace_runtime.analyzer.compiling import compiled
from millrace_runtime.errors import MillraceError

from bench._changes import Change

_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)
_STRUCT_FIELD = re.compile(r"'(\w+)', ((?:left|right|value)\.\w+)(?:, |\)$)")


def refused(analyzer: Analyzer, document: Any) -> bool:
    """Whether a document does not compile, which shows a change at once."""
    try:
        compiled(document, analyzer)
    except (MillraceError, Refused, DocumentError):
        return True
    return False


def graph_of(analyzer: Analyzer, document: Any) -> str:
    """Return the task graph of a document as text."""
    graph = compiled(document, analyzer).require_task_graph()
    return json.dumps(graph, sort_keys=True, default=str)


def why_equivalent(analyzer: Analyzer, scenario: Any, change: Change) -> str | None:
    """Return the proof that a change has no effect, if there is one."""
    sides = (scenario["topology"], change.document)
    if graph_of(analyzer, sides[0]) == graph_of(analyzer, sides[1]):
        return "the task graphs are the same"
    plain = [without_docstrings(each) for each in sides]
    if plain[0] == plain[1]:
        return "only a docstring differs"
    if closed_at_once(*sides):
        return "a window closes before its first record"
    if dropped_later(*sides):
        return "a later filter drops what the filter let through"
    if reads_nowhere(analyzer, *sides):
        return "no node or sink reads the field"
    never_null = [without_defaults(each) for each in sides]
    if never_null[0] == never_null[1]:
        return "the join calls its joiner only with this side"
    return None


def without_docstrings(document: Any) -> Any:
    """Return a document whose code is a syntax tree, without docstrings."""
    made = copy.deepcopy(document)
    for node in made["nodes"]:
        if "code" in (node.get("params") or {}):
            tree = ast.parse(node["params"]["code"])
            for part in ast.walk(tree):
                if ast.get_docstring(part) if isinstance(part, _DOCUMENTED) else None:
                    part.body = part.body[1:]  # type: ignore[attr-defined]
            node["params"]["code"] = ast.dump(tree)
    return made


def without_defaults(document: Any) -> Any:
    """Return a document whose joiners have no defaults for sides that are never null.

    Null values do not join: the joiner of an inner join gets both sides, that of a left join at
    least the left one.
    """
    made = copy.deepcopy(document)
    for node in made["nodes"]:
        params = node.get("params") or {}
        for side in _PRESENT.get(str(params.get("type")), ()) if "joiner" in params else ():
            default = re.compile(rf"coalesce\({side}, ?('[^']*'|\d+L?)\)")
            params["joiner"] = default.sub(side, params["joiner"])
    return made


_PRESENT = {"inner": ("left", "right"), "left": ("left",)}


def reads_nowhere(analyzer: Analyzer, old: Any, new: Any) -> bool:
    """Whether the versions differ only in fields of a struct that nothing reads.

    A field is left out of both, also where later nodes pass it on as it is. If both then compile to
    the same task graph, no expression names it; and if the types of the sinks' topics stay the
    same, no sink writes it. The field is a column, whose evaluation cannot fail.
    """
    pairs = [
        (index, name)
        for index, (one, two) in enumerate(zip(old["nodes"], new["nodes"], strict=True))
        for name in ("joiner", "value")
        if (one.get("params") or {}).get(name) != (two.get("params") or {}).get(name)
    ]
    if len(pairs) != 1:
        return False
    ((index, name),) = pairs
    texts = [side["nodes"][index]["params"][name] for side in (old, new)]
    fields = [_STRUCT_FIELD.findall(text) for text in texts]
    if not all(text.startswith("named_struct(") for text in texts) or len(fields[0]) != len(
        fields[1]
    ):
        return False
    apart = [at for at, (one, two) in enumerate(zip(*fields, strict=True)) if one != two]
    shorter = []
    for side, found in zip((old, new), fields, strict=True):
        made = copy.deepcopy(side)
        for at in apart:
            field, column = found[at]
            params = made["nodes"][index]["params"]
            params[name] = params[name].replace(f"'{field}', {column}, ", "", 1)
            passed_on = re.compile(rf"'{field}', (?:left|value)\.{field}, ")
            for node in made["nodes"][index + 1 :]:
                for each in {"joiner", "value"} & set(node.get("params") or ()):
                    if isinstance(node["params"][each], str):
                        node["params"][each] = passed_on.sub("", node["params"][each])
        if refused(analyzer, made) or written(analyzer, made) != written(analyzer, side):
            return False
        shorter.append(graph_of(analyzer, made))
    return bool(apart) and shorter[0] == shorter[1]


def closed_at_once(old: Any, new: Any) -> bool:
    """Whether the versions differ only in when a node emits windows that no record is ever in.

    A sliding window of 0 ms ends with its record. Without grace it is closed as soon as stream time
    has reached its end, which is when the record arrives: the record is dropped as late.
    """
    pairs = zip(old["nodes"], new["nodes"], strict=True)
    apart = [(one.get("params") or {}, two.get("params") or {}) for one, two in pairs if one != two]
    if len(apart) != 1 or any(old.get(name) != new.get(name) for name in _AROUND):
        return False
    windows = [params.get("window") or {} for params in apart[0]]
    rests = [{name: each for name, each in side.items() if name != "emit"} for side in apart[0]]
    return rests[0] == rests[1] and all(
        (each.get("type"), each.get("difference"), each.get("grace")) == ("sliding", 0, 0)
        for each in windows
    )


_NOT_NULL = re.compile(r"value\.(\w+) IS NOT NULL")
_COLUMN = re.compile(r"(?:key|(?:value|left|right)\.\w+)")
_COMPARED = re.compile(r"(?:value\.(\w+)) (?:=|<|>|<=|>=|!=|<>) (?:value\.\w+|\d+|'[^']*')")
_AROUND = ("edges", "settings", "topics")
#: what has a clock of its own, or may look at that of its task
_TIMED = ("stream_stream", "suppress", "process", "transform", "foreign_key", "punctuate")


def dropped_later(old: Any, new: Any) -> bool:
    """Whether a filter that is left out only dropped what a later one drops.

    The filter drops records in which a field is null. What they pass up to the later filter changes
    no store and cannot fail: keys and values of columns, and tables that are looked up. The later
    filter compares the field, which gives null, so that they end there. They advance the stream
    time of their task: nothing in the topology that looks at stream time may be in such a task,
    so that windows have to be behind a repartition topic.
    """
    pairs = zip(old["nodes"], new["nodes"], strict=True)
    apart = [(one, two) for one, two in pairs if one != two]
    if len(apart) != 1 or any(old.get(name) != new.get(name) for name in _AROUND):
        return False
    (one, two) = apart[0]
    found = _NOT_NULL.fullmatch(str((one.get("params") or {}).get("predicate")))
    if found is None or two["params"]["predicate"] != "true" or one["kind"] != "filter":
        return False
    for node in old["nodes"]:
        params = node.get("params") or {}
        if any(word in node["kind"] for word in _TIMED) or "grace" in params:
            return False
        if "window" in params and (params.get("group_by") or {}).get("key") in (None, "key"):
            return False
    return _ends_null(old, one["id"], found[1])


def _ends_null(document: Any, node: str, field: str) -> bool:
    """Whether a record with null in a field ends at a filter after a node, with no effect."""
    nodes = {each["id"]: each for each in document["nodes"]}
    edges = [edge for edge in document["edges"] if edge["source"] == node]
    if len(edges) != 1:
        return False
    after, port = nodes[edges[0]["target"]], edges[0].get("target_port")
    params = after.get("params") or {}
    if after["kind"] == "filter":
        compared = _COMPARED.fullmatch(params["predicate"])
        return compared is not None and compared[1] == field
    if after["kind"] == "select_key" and _COLUMN.fullmatch(params["key"]):
        return _ends_null(document, after["id"], field)
    if after["kind"] == "join.stream_table" and port == "left":
        fields = dict(re.findall(rf"'(\w+)', ({_COLUMN.pattern})(?:, |\)$)", params["joiner"]))
        written = ", ".join(f"'{name}', {column}" for name, column in fields.items())
        same = [name for name, column in fields.items() if column == f"left.{field}"]
        if params["joiner"] == f"named_struct({written})" and same:
            return _ends_null(document, after["id"], same[0])
    return False


def written(analyzer: Analyzer, document: Any) -> list[str]:
    """Return the types of what the sinks of a document get, by sink."""
    compilation = compiled(document, analyzer)
    sinks = {node["id"] for node in document["nodes"] if node["kind"].startswith("sink")}
    return [
        f"{edge['target']}: {compilation.ports[edge['source'], edge.get('source_port') or 'out']}"
        for edge in document["edges"]
        if edge["target"] in sinks
    ]
