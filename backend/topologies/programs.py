"""Reading of Python programs that build a topology. They run in processes of the simulator."""

from __future__ import annotations

import re
from collections.abc import Mapping

from accounts.choices import Role
from accounts.models import User, Workspace
from accounts.permissions import role_in
from millrace_backend.errors import ApiError, Forbidden
from millrace_model.simulations import ProgramProblem, ProgramRead, ProgramRequest

from topologies.simulating import ask, owner_of

#: maximum number of characters of a program, and of one of the modules beside it
LONGEST = 500_000
#: maximum number of modules beside a program, and of the characters of all of them
MOST_FILES, LONGEST_FILES = 200, 1_000_000
#: status of errors that do not depend on the program
_NO_ANSWER = 429
_PLACE = re.compile(r"([\w./ -]+\.py), line (\d+)")


def read_program(
    name: str,
    program: str,
    person: User,
    workspace: Workspace,
    run: str | None = None,
    files: Mapping[str, str] | None = None,
) -> ProgramRead:
    """Return the document of a program, or the problem of a program that has none.

    `name`: that of its file. `run`: the person's name for the reading, which ends the earlier one
    of this name; its problem is `simulation_cancelled`. `files`: texts of the modules beside it, by
    path. Raises Forbidden for people who may not run code on the server, and ApiError if it cannot
    be read now.
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
        "files": dict(files or {}),
    }
    try:
        return {"document": ask(request)["document"], "problem": None}
    except ApiError as error:
        if error.status_code >= _NO_ANSWER:
            raise
        return {"document": None, "problem": _problem(error)}


def _problem(error: ApiError) -> ProgramProblem:
    """Convert an error of the simulator, whose message names the file and the line."""
    place = _PLACE.search(error.message)
    return {
        "code": error.code,
        "message": error.message,
        "node": error.data.get("node"),
        "file": place and place[1].strip(),
        "line": int(place[2]) if place else None,
    }
