"""Reading of Python programs that build a topology. They run in processes of the simulator."""

from __future__ import annotations

from accounts.choices import Role
from accounts.models import User, Workspace
from accounts.permissions import role_in
from millrace_backend.errors import Forbidden
from millrace_model.simulations import ProgramRequest

from topologies.simulating import ask, owner_of

#: maximum number of characters of a program
LONGEST = 500_000


def document_of(
    name: str, program: str, person: User, workspace: Workspace, run: str | None = None
) -> dict[str, object]:
    """Return the document of a program.

    `name`: that of its file. `run`: the person's name for the reading, which ends the earlier one
    of this name. Raises Forbidden for people who may not run code on the server, and ApiError
    `program_…` or `document_…`, with lines of the file, for a program that has no document.
    """
    role = role_in(person, workspace.pk)
    if role is None or not role.allows(Role.OPERATOR):
        raise Forbidden(
            "role_too_small",
            "Importing a program runs its code on the server: this needs the role operator, as "
            "deploying does.",
            "Ask an admin for the role operator. Or convert the program on your own machine, with "
            "`./millrace document`, and import the document.",
            needed=Role.OPERATOR.value,
        )
    request: ProgramRequest = {
        "do": "read_program",
        "owner": owner_of(person),
        "run": run,
        "name": name,
        "program": program,
    }
    return dict(ask(request)["document"])
