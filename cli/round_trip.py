"""`verify --program`: check that a document's program converts back to the document.

Nothing runs. A topology is compiled, its program is loaded, and the program's document is compiled
again: plan, description, texts of the nodes and program must be the same.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from millrace_compiler import Analyzer, compile_document
from millrace_compiler.compilation.describe import description_of
from millrace_model.documents import TopologyDocument
from millrace_runtime.program import load_program


def round_trip(document: TopologyDocument, analyzer: Analyzer) -> list[str]:
    """Return what a document loses in its program, in words; empty if nothing is lost.

    Raises:
        Refused: for a document that does not compile.
    """
    first = compile_document(document, analyzer).require()
    with tempfile.TemporaryDirectory(prefix="millrace-program-") as folder:
        for path, text in (first.code or {}).items():
            file = Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="")
        back = load_program(Path(folder)).document()
    second = compile_document(back, analyzer).require()
    same = {
        "plans": second.task_graph == first.task_graph,
        "descriptions": description_of(second).to_json() == description_of(first).to_json(),
        "labels and comments": _texts(back) == _texts(document),
        "names": back["name"] == document["name"],
        "settings": (back.get("settings") or {}) == (document.get("settings") or {}),
        "programs": second.code == first.code,
    }
    return [f"{part} differ" for part, equal in same.items() if not equal]


def _texts(document: TopologyDocument) -> dict[str, tuple[str, ...]]:
    """Label and description of each node, also in fragments that the program has as functions."""
    parts = {"": document["nodes"]} | {
        f"{name}: ": each["nodes"] for name, each in (document.get("fragments") or {}).items()
    }
    return {
        prefix + node["id"]: tuple(
            (text or "").strip() for text in (node.get("label"), node.get("description"))
        )
        for prefix, nodes in parts.items()
        for node in nodes
    }
