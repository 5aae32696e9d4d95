"""The database: migrated, with a first administrator, a workspace and a sign-in link."""

from __future__ import annotations

import re

from launcher import places
from launcher.services import System
from launcher.supervisor import Running, Service


def service(system: System) -> Service:
    """One run of the management command; what it prints is read by `up`."""
    return Service(
        name="setup",
        command=[
            system.python, "-W", "ignore::DeprecationWarning",
            str(places.MANAGE), "millrace_setup",
        ],
        ready=_never_asked,
        once=True,
        deadline=180,
        environment=system.environment,
        # The link makes its reader the admin: it goes to the terminal alone.
        secret=re.compile(r"\S*/sign-in/\S+"),
        hint="The database is set by DATABASE_URL; the default is db.sqlite3 in the data folder.",
    )  # fmt: skip


async def _never_asked(_running: Running) -> bool:
    return False
