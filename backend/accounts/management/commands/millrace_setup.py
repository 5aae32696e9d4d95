"""Prepares the database and prints a one-time sign-in link."""

from __future__ import annotations

import json
from typing import Any

from django.core.management import call_command
from django.core.management.base import CommandParser
from millrace_backend.commands import ProjectCommand
from records.generators import wake_writer_if_needed

from accounts.actions import issue_sign_in_link, set_up


class Command(ProjectCommand):
    """``millrace_setup [--json | --no-link] [--user NAME] [--workspace SLUG]``."""

    help = "Migrates the database, makes the first admin and workspace, prints a sign-in link."

    def add_arguments(self, parser: CommandParser) -> None:
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--json", action="store_true", help="print one line of JSON")
        form.add_argument("--no-link", action="store_true", help="do not create a sign-in link")
        parser.add_argument("--user", default="admin", help="name of the first admin")
        parser.add_argument("--workspace", default="main", help="slug of the first workspace")

    def handle(self, *args: Any, **options: Any) -> None:
        """Set up the database. Safe to repeat; each call creates a link and revokes unused ones."""
        call_command("migrate", interactive=False, verbosity=0)
        user = set_up(options["user"], options["workspace"])
        wake_writer_if_needed()
        if options["no_link"]:
            return
        link = issue_sign_in_link(user)
        if options["json"]:
            self.stdout.write(json.dumps({"user": user.username, "sign_in_link": link}))
        else:
            self.stdout.write(f"Sign in once as {user.username}: {link}")
