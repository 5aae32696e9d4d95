"""The base of this project's management commands."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser


class ProjectCommand(BaseCommand):
    """A command that prints its error without the prefix ``CommandError:``.

    ``call_command`` and ``--traceback`` raise the error, as Django's own commands do.
    """

    _on_command_line = False

    def run_from_argv(self, argv: list[str]) -> None:
        """Run on the command line; exits with the error's return code."""
        self._on_command_line = True
        super().run_from_argv(argv)

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run the command; on the command line, print an error and exit with its return code."""
        try:
            return super().execute(*args, **options)
        except CommandError as error:
            if not self._on_command_line or options["traceback"]:
                raise
            self.stderr.write(str(error))
            sys.exit(error.returncode)


class LauncherCommand(ProjectCommand):
    """A command of ``./millrace``, whose usage it shows; Django's own options are hidden."""

    requires_migrations_checks = False
    # Those of Django are for developers, and take as long as most commands.
    requires_system_checks = ("millrace",)
    suppressed_base_arguments = {
        "--version", "--verbosity", "--settings", "--pythonpath", "--traceback", "--no-color",
        "--force-color", "--skip-checks",
    }  # fmt: skip

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Show the usage of ``./millrace``, which passes on its arguments."""
        made = super().create_parser(prog_name, subcommand, **kwargs)
        made.prog = f"./millrace {subcommand.removeprefix('millrace_').replace('_', '-')}"
        return made
