"""Checks the ``drawing`` of a document, which never affects what is deployed.

It has groups of nodes, notes and the bends of edges, for simulations records on edges, muted nodes
and doubles of nodes, and the text of the program as somebody wrote it.

::

    "drawing": {
      "groups": [{"id": "clean", "title": "Clean", "color": "source", "nodes": ["parse", "valid"],
                  "parent": "intake", "collapsed": true}],
      "notes": [{"id": "why", "text": "**Why** …", "position": {"x": 0, "y": 0},
                 "width": 240, "height": 120, "color": "table"}],
      "bends": [{"source": "parse", "target": "valid", "points": [{"x": 300, "y": 80}]}],
      "pins": [{"source": "parse", "target": "valid", "records": [
                 {"key": "a", "value": {"n": 1}, "timestamp": 0, "partition": 0, "headers": {}}]}],
      "muted": ["valid"],
      "doubles": [{"node": "score", "passes": true, "rows": [
                    {"when": "value.n > 1", "key": "key", "value": "named_struct('n', 0)"}]}],
      "program": {"job.py": "# Why …\n…"}
    }

A group may contain groups: those that name it as their ``parent``. A node or edge that no longer
exists, or a parent that does not, is passed over: whoever removes a node need not know of groups.
"""

from __future__ import annotations

from collections.abc import Mapping

from millrace_compiler.diagnostics.diagnostics import Diagnostics, kind_of, shown

_PARTS = ("groups", "notes", "bends", "pins", "muted", "doubles", "program")
#: maximum number of records on an edge
MOST_RECORDS = 200
#: what each part of a group, of a note, of a bend and of a pin is
_GROUP = {
    "id": "text", "title": "text", "color": "text", "nodes": "a list of texts", "parent": "text",
    "collapsed": "true or false",
}  # fmt: skip
_NOTE = {
    "id": "text", "text": "text", "position": "an object with the numbers x and y",
    "width": "a number", "height": "a number", "color": "text",
}  # fmt: skip
_ROWS = "a list of objects with the texts when, key and value"
_DOUBLE = {"node": "text", "rows": _ROWS, "passes": "true or false"}
_POINTS = "a list of objects with the numbers x and y"
_ENDS = {"source": "text", "source_port": "text", "target": "text", "target_port": "text"}
_BEND = {**_ENDS, "points": _POINTS}
_PIN = {
    **_ENDS,
    "records": f"a list of at most {MOST_RECORDS} records",
}  # fmt: skip


def check_drawing(raw: object, report: Diagnostics) -> None:
    """Reports what is wrong with the shape of a drawing. Never raises."""
    if raw is None:
        return
    if not isinstance(raw, Mapping):
        _refuse(report, "drawing", raw, "an object")
        return
    _known(report, raw, "the drawing", _PARTS, "drawing")
    muted: object = raw.get("muted")
    if muted is not None and not _fits(muted, "a list of texts"):
        _refuse(report, "drawing.muted", muted, "a list of texts")
    program: object = raw.get("program")
    if program is not None and not _fits(program, "an object of texts"):
        _refuse(report, "drawing.program", program, "an object of texts")
    for part, fields, needs in (
        ("groups", _GROUP, ("id",)),
        ("notes", _NOTE, ("id",)),
        ("bends", _BEND, ("source", "target", "points")),
        ("pins", _PIN, ("source", "target", "records")),
        ("doubles", _DOUBLE, ("node",)),
    ):
        rows: object = raw.get(part)
        if rows is None:
            continue
        if not isinstance(rows, list):
            _refuse(report, f"drawing.{part}", rows, "a list")
            continue
        seen: set[str] = set()
        for index, row in enumerate(rows):
            place = f"drawing.{part}[{index}]"
            if not isinstance(row, Mapping):
                _refuse(report, place, row, "an object")
                continue
            _known(report, row, place, tuple(fields), place)
            for name, needed in fields.items():
                value = row.get(name)
                if (value is None and name not in needs) or _fits(value, needed):
                    continue
                _refuse(report, f"{place}.{name}", value, needed)
            name = "node" if part == "doubles" else "id"
            id_ = row.get(name)
            if isinstance(id_, str) and id_ in seen:
                _refuse(report, f"{place}.{name}", id_, "an id that no other one of the list has")
            elif isinstance(id_, str):
                seen.add(id_)


def _known(
    report: Diagnostics,
    row: Mapping[str, object],
    place: str,
    known: tuple[str, ...],
    parameter: str,
) -> None:
    for name in row:
        if name not in known:
            report.add(
                "unknown_key", parameter=f"{parameter}.{name}", place=place, known=", ".join(known)
            )


def _fits(value: object, needed: str) -> bool:
    if needed == "text":
        return isinstance(value, str)
    if needed == "true or false":
        return isinstance(value, bool)
    if needed == "a number":
        return _is_number(value)
    if needed == "an object of texts":
        return isinstance(value, Mapping) and all(isinstance(each, str) for each in value.values())
    if needed == "a list of texts":
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    if needed == _PIN["records"]:
        if not isinstance(value, list) or len(value) > MOST_RECORDS:
            return False
        return all(isinstance(each, Mapping) for each in value)
    if needed == _ROWS:
        return isinstance(value, list) and all(map(_is_row, value))
    if needed == _POINTS:
        return isinstance(value, list) and all(map(_is_place, value))
    return _is_place(value)


def _is_row(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        name in ("when", "key", "value") and isinstance(each, str) for name, each in value.items()
    )


def _is_place(value: object) -> bool:
    return isinstance(value, Mapping) and all(_is_number(value.get(axis)) for axis in ("x", "y"))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _refuse(report: Diagnostics, parameter: str, found: object, needed: str) -> None:
    what = shown(found) if isinstance(found, str) else kind_of(found)
    report.add("document_shape", parameter=parameter, found=what, needed=needed)
