"""A new one-time sign-in link on the command line."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from accounts.actions import link_for_account
from accounts.management.administering import InstallationCommand
from accounts.models import User


class Command(InstallationCommand):
    """``millrace_sign_in [USER]``."""

    help = "Print a new one-time sign-in link. The earlier one of the account ends."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the account."""
        parser.add_argument(
            "user", metavar="USER", nargs="?",
            help="the account (default: the first admin of the installation)",
        )  # fmt: skip

    def act(self, actor: User, options: dict[str, Any]) -> None:
        """Create the link, and print it."""
        name = options["user"]
        user = actor if name is None else User.objects.filter(username=name).first()
        if user is None:
            raise CommandError(f"There is no account {name!r}.")
        self.stdout.write(f"Sign in once as {user.username}: {link_for_account(actor, user)}")
