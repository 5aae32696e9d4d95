"""`document`: convert a program to a topology document."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from pathlib import Path

from millrace_model.documents import TopologyDocument
from millrace_runtime.job.outside import Lines
from millrace_runtime.program import checked_document, load_program


def document_command(arguments: argparse.Namespace) -> int:
    """Write the document. Raises MillraceError with file and line for a program that fails."""
    document, _, _ = document_of_program(arguments.program)
    text = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
    if arguments.output:
        Path(arguments.output).write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    return 0


def document_of_program(path: str) -> tuple[TopologyDocument, dict[str, str], Lines]:
    """Return the document of a program, the place of each node, and its code at its lines.

    A place is such as "job.py, line 3".

    Raises MillraceError with file and line for a program that fails.
    """
    # The program's output must not become part of the command's.
    with contextlib.redirect_stdout(sys.stderr):
        topology = load_program(path)
        places = {node: place for node, place in topology.places.items() if node is not None}
        document = checked_document(topology)
    return document, places, topology.outside.lines
