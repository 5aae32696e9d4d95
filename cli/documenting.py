"""`document`: convert a program to a topology document."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from pathlib import Path

from millrace_runtime.program import checked_document, load_program


def document_command(arguments: argparse.Namespace) -> int:
    """Write the document. Raises MillraceError with file and line for a program that fails."""
    # The program's output must not become part of the document.
    with contextlib.redirect_stdout(sys.stderr):
        document = checked_document(load_program(arguments.program))
    text = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
    if arguments.output:
        Path(arguments.output).write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    return 0
