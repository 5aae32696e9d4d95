"""``./millrace api``: regenerate the committed API text, and the page's types from it."""

from __future__ import annotations

import sys

from checks.steps import Step, run_all
from launcher import commands, node


def main(arguments: list[str]) -> int:
    """Write the catalog, the members for the editor, the reference, and the page's types."""
    commands.parser("api").parse_args(arguments[1:])
    node.ensure_packages()
    steps = [
        Step("catalog", [sys.executable, "-m", "millrace_compiler.catalog.generate"]),
        Step("processorApi.json", [sys.executable, "-m", "checks.processor_api"]),
        Step("reference.md", [sys.executable, "-m", "checks.program_api"]),
        Step("openapi.json", [sys.executable, "backend/manage.py", "millrace_api"]),
        Step("schema.d.ts", ["npm", "run", "--silent", "generate", "--workspace", "codegen"]),
    ]
    return 0 if run_all(steps, at_once=1) else 1
