"""Writes the API's description, which is committed and reviewed as text."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema
from millrace_backend.commands import ProjectCommand
from millrace_backend.environment import REPOSITORY
from millrace_compiler.documents.json_text import text_of

PATH = REPOSITORY / "backend" / "openapi.json"


def description() -> str:
    """Return the OpenAPI document as text. Raises CommandError if it is incomplete."""
    generator: Any = SchemaGenerator
    validate: Any = validate_schema
    schema = generator().get_schema(request=None, public=True)
    if GENERATOR_STATS:
        raise CommandError("The description is incomplete: see the warnings above.")
    validate(schema)
    return text_of(schema, sort_keys=True)


class Command(ProjectCommand):
    """``millrace_api [--check]``."""

    help = "Writes backend/openapi.json; with --check, only checks that it is up to date."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="write nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the description, or with ``--check`` compare it with the file."""
        text = description()
        if options["check"]:
            if not PATH.exists() or PATH.read_text(encoding="utf-8") != text:
                raise CommandError(f"{PATH.name} is not up to date. Run `./millrace api`.")
            return
        PATH.write_text(text, encoding="utf-8")
        self.stdout.write(f"Wrote {PATH.relative_to(REPOSITORY)}.")
