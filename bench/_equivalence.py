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


def written(analyzer: Analyzer, document: Any) -> list[str]:
    """Return the types of what the sinks of a document get, by sink."""
    compilation = compiled(document, analyzer)
    sinks = {node["id"] for node in document["nodes"] if node["kind"].startswith("sink")}
    return [
        f"{edge['target']}: {compilation.ports[edge['source'], edge.get('source_port') or 'out']}"
        for edge in document["edges"]
        if edge["target"] in sinks
    ]
