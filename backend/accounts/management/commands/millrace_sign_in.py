"""A new one-time sign-in link on the command line."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import DatabaseError
from millrace_backend.commands import LauncherCommand
from millrace_backend.errors import ApiError

from accounts.actions import link_for_account
from accounts.models import User


class Command(LauncherCommand):
    """``millrace_sign_in [USER]``."""

    help = "Print a new one-time sign-in link. The earlier one of the account ends."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the account."""
        parser.add_argument(
            "user", metavar="USER", nargs="?",
            help="the account (default: the first admin of the installation)",
        )  # fmt: skip

    def handle(self, *args: Any, **options: Any) -> None:
        """Create the link as the first admin of the installation, and print it."""
        try:
            actor = User.objects.filter(is_superuser=True, is_active=True).order_by("id").first()
            if actor is None:
                raise CommandError("There is no admin of the installation: run `./millrace up`.")
            name = options["user"]
            user = actor if name is None else User.objects.filter(username=name).first()
            if user is None:
                raise CommandError(f"There is no account {name!r}.")
            link = link_for_account(actor, user)
        except DatabaseError as error:
            raise CommandError(
                f"The database cannot be read ({error}). Start Millrace once, and set "
                "MILLRACE_DATA or DATABASE_URL to the same values."
            ) from error
        except ApiError as error:
            raise CommandError(f"{error.message} {error.hint}".strip()) from error
        self.stdout.write(f"Sign in once as {user.username}: {link}")
