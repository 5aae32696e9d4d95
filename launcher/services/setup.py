"""The database: migrations, the first administrator, the workspace and a sign-in link."""

from __future__ import annotations

import re

from launcher import places
from launcher.services import System
from launcher.supervisor import Running, Service


def service(system: System) -> Service:
    """Return the service, which runs the management command once. `up` reads its output."""
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
        # The link makes its reader an admin, so only the terminal shows it.
        secret=re.compile(r"\S*/sign-in/\S+"),
        hint="The database is set by DATABASE_URL; the default is db.sqlite3 in the data folder.",
    )  # fmt: skip


async def _never_asked(_running: Running) -> bool:
    return False
