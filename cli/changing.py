"""`compare-state`: what a new version does with the state of the old one."""

from __future__ import annotations

import argparse
import json
from typing import Any

from millrace_compiler import Analyzer, DocumentError, Refused, compile_document
from millrace_compiler.compilation.compilation import Compilation
from millrace_compiler.state.state_changes import StateChange
from millrace_compiler.state.state_schema import compare_state
from millrace_model.diagnostics import PlacedDiagnostic

from cli.documents import analyzer, diagnostics_of, of_document, read_document, show_diagnostics

_WORDS = {
    "store_kind_changed": "another kind of store",
    "key_type_changed": "another type of key",
    "value_type_changed": "another type of value",
    "windows_changed": "other windows",
    "value_widened": "a wider type",
    "fields_added": "fields added, null in old rows",
    "fields_removed": "fields removed",
    "fields_reordered": "fields in another order",
    "tasks_changed": "another number of tasks",
}


def compare_state_command(arguments: argparse.Namespace) -> int:
    """Print the outcome for each store and source. Exit code 2 if a document is refused."""
    with analyzer() as known:
        found = [
            _compiled(path, known, arguments.environment) for path in (arguments.old, arguments.new)
        ]
    refused = [each for one in found if isinstance(one, list) for each in one]
    old, new = found
    if isinstance(old, list) or isinstance(new, list):
        show_diagnostics(refused, as_json=arguments.json)
        return 2
    change = compare_state(old, new)
    if arguments.json:
        print(json.dumps(change.to_json(), ensure_ascii=False, indent=2))
    else:
        print(change_text(change))
    return 0


def _compiled(
    path: str, known: Analyzer, environment: str | None
) -> Compilation | list[PlacedDiagnostic]:
    """Compile a document; return the compilation, or the diagnostics if it is refused."""
    try:
        return compile_document(read_document(path, environment, fragments=True), known).require()
    except Refused as refused:
        diagnostics = [each.to_json() for each in refused.diagnostics]
    except DocumentError as error:
        diagnostics = diagnostics_of(error)
    return [of_document(each, path) for each in diagnostics]


def change_text(change: StateChange) -> str:
    """Return the comparison as text, with one line for each store and each topic."""
    rows = [("store", "kind", "verdict", "because of")]
    rows += [
        (s.id, s.kind, s.verdict, ", ".join(_WORDS[reason] for reason in s.reasons))
        for s in change.stores
    ]
    lines = _table(rows) if change.stores else ["No stores."]
    topics = [("topic", "verdict"), *change.sources]
    lines += ["", *_table(topics), ""]
    if change.accepted:
        lines.append("Nothing is lost.")
    else:
        names = ", ".join(store.id for store in change.undecided)
        lines.append(f"A decision is needed for: {names}.")
    return "\n".join(lines)


def _table(rows: list[Any]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
