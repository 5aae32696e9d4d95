"""Workspaces and accounts on the command line, as an admin of the installation."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from accounts import installing
from accounts.api.serializers import NewWorkspaceSerializer
from accounts.management.administering import InstallationCommand
from accounts.models import User


class Command(InstallationCommand):
    """``millrace_installation create-workspace|close|open|promote|demote …``."""

    help = "Create workspaces, close accounts, and choose admins of the installation."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the actions and their arguments."""
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        made = actions.add_parser("create-workspace", help="create a workspace with its admin")
        made.add_argument("slug", metavar="SLUG", help="its part of addresses, such as orders")
        made.add_argument("--name", help="its name (default: from the slug)")
        made.add_argument("--admin", required=True, metavar="USER", help="its first admin")
        for name, text in (
            ("close", "close an account: sessions, tokens, links and memberships end"),
            ("open", "open a closed account"),
            ("promote", "make an account an admin of the installation"),
            ("demote", "end that"),
        ):
            action = actions.add_parser(name, help=text)
            action.add_argument("user", metavar="USER")
            if name == "close":
                action.add_argument("--yes", action="store_true", help="do not ask")

    def act(self, actor: User, options: dict[str, Any]) -> None:
        """Perform the action and print what was done."""
        if options["action"] == "create-workspace":
            self._create_workspace(actor, options)
        else:
            self._change(actor, options["action"], options)

    def _create_workspace(self, actor: User, options: dict[str, Any]) -> None:
        slug = options["slug"]
        name = options["name"] or slug.replace("-", " ").capitalize()
        given = NewWorkspaceSerializer(data={"slug": slug, "name": name, "admin": options["admin"]})
        if not given.is_valid():
            problems = (f"{field}: {' '.join(found)}" for field, found in given.errors.items())
            raise CommandError("\n".join(problems))
        workspace, member, link = installing.create_workspace(actor, **given.validated_data)
        self.stdout.write(f"Created the workspace {workspace.slug}: {workspace.name}.")
        if link is not None:
            self.stdout.write(f"Sign in once as {member.user.username}: {link}")

    def _change(self, actor: User, action: str, options: dict[str, Any]) -> None:
        user = User.objects.filter(username=options["user"]).first()
        if user is None:
            raise CommandError(f"There is no account {options['user']!r}.")
        if action == "close":
            if not options["yes"] and not self._confirmed(user):
                raise CommandError("Nothing was changed.")
            installing.close_account(actor, user)
        elif action == "open":
            installing.open_account(actor, user)
        else:
            installing.set_installation_admin(actor, user, action == "promote")
        done = {
            "close": f"The account {user.username} is closed.",
            "open": f"The account {user.username} is open. It is in no workspace.",
            "promote": f"{user.username} is an admin of the installation.",
            "demote": f"{user.username} is not an admin of the installation.",
        }
        self.stdout.write(done[action])

    def _confirmed(self, user: User) -> bool:
        self.stdout.write(
            f"This ends the sessions, tokens, links and memberships of {user.username}. "
            "Type the user name to continue:"
        )
        try:
            return input().strip() == user.username
        except EOFError:
            return False
