"""The backend's entry point to the simulator, which runs documents in processes of its own."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from accounts.choices import Role
from accounts.models import User, Workspace
from accounts.permissions import role_in
from django.conf import settings
from millrace_backend.errors import ApiError, Conflict, Forbidden, NotFound, TooMany, Unavailable

from topologies.models import Version, hash_of
from topologies.required import note_pass

#: input lines of one simulation, and steps of records that its answer has
MOST_INPUTS, MOST_STEPS = 2_000, 20_000
#: breakpoints in one processor, and partitions of one topic
MOST_BREAKPOINTS, MOST_PARTITIONS = 100, 10_000
#: seconds until the simulator must have answered: it ends what takes longer than its own limits
PATIENCE = 120.0

#: kinds of nodes that are code of a person
PROCESSORS = frozenset({"process", "process_values"})

#: the answer where nothing ran because a process is starting
STARTING: dict[str, Any] = {
    "state": "starting", "diagnostics": [], "result": None, "plain": None,
}  # fmt: skip

_CLASSES: dict[str, type[ApiError]] = {
    "simulator_busy": TooMany,
    "simulation_cancelled": Conflict,
    "no_such_store": NotFound,
    "no_state_yet": Conflict,
    "state_unreadable": Conflict,
    "state_too_large": Conflict,
    "reading_ended": Conflict,
    "state_of_another_version": Conflict,
    "state_not_loaded": Conflict,
    "storage_unreachable": Unavailable,
}


@dataclass(frozen=True)
class Simulation:
    """A run of a document on input lines.

    `steps`: of records, at most, which the answer has. `expected`: results with which those of the
    run are compared. `breakpoints`: lines, by node, at which Python processors stop. `partitions`:
    how many topics have, in place of the document's. `plain` (`each` or `all`): plain Spark runs
    the lines too, in such micro-batches. `begins`: states of tasks, as the runtime's
    `read_task_states` gave them; without them stores are empty. `run`: the person's name for it, by
    which it is watched and stopped.
    """

    document: Mapping[str, Any]
    inputs: Sequence[Any]
    steps: int = 0
    expected: Mapping[str, Any] | None = None
    breakpoints: Mapping[str, Sequence[int]] = field(default_factory=dict)
    partitions: Mapping[str, int] = field(default_factory=dict)
    plain: str | None = None
    begins: Mapping[str, Any] | None = None
    run: str | None = None

    def request(self, owner: str) -> dict[str, Any]:
        """As the simulator takes it."""
        asked = {name: value for name, value in vars(self).items() if name != "steps"}
        if self.begins is None:
            del asked["begins"]
        return {"do": "simulate", "owner": owner, "trace": self.steps, **asked}


def simulated(run: Simulation, person: User, workspace: Workspace) -> dict[str, Any]:
    """The diagnostics and the result of a simulation; without a result where it is refused.

    A test that passes is remembered. `state` is `starting` where nothing ran because a simulator
    is starting. Raises Forbidden for a viewer's document that is no saved version of the workspace
    and for code of somebody who may not deploy, Unavailable where the simulator does not answer,
    ApiError for what went wrong.
    """
    _require_role(person, workspace, run.document)
    answer = ask(run.request(_owner(person)))
    if answer.get("state") == "starting":
        return STARTING
    result = answer["result"]
    if run.expected is not None and result is not None and result["differences"] == []:
        note_pass(workspace, run.document, run.inputs, run.expected)
    return {
        "state": "done",
        "diagnostics": answer["diagnostics"],
        "result": result,
        "plain": answer.get("plain"),
    }


def _require_role(person: User, workspace: Workspace, document: Mapping[str, Any]) -> None:
    role = role_in(person, workspace.pk)
    runs_code = any(node["kind"] in PROCESSORS for node in document["nodes"])
    if runs_code and (role is None or not role.allows(Role.OPERATOR)):
        raise Forbidden(
            "role_too_small",
            "Simulating a topology with Python processors runs their code on the server: "
            "this needs the role operator, as deploying does.",
            "Ask an admin for the role operator, or an operator to simulate it.",
            needed=Role.OPERATOR.value,
        )
    if role is None or not role.allows(Role.EDITOR):
        saved = Version.objects.filter(topology__workspace=workspace, hash=hash_of(document))
        if not saved.exists():
            raise Forbidden(
                "role_too_small",
                "A viewer can simulate saved versions only.",
                "Open a saved version, or ask an admin for the role editor.",
                needed=Role.EDITOR.value,
            )


def prepare(person: User, run: str | None = None) -> dict[str, Any]:
    """`state`: `ready` or `starting`; a simulator that is not there is started.

    `progress` of the person's run of that name, or of any; None where none is known.
    """
    return ask({"do": "prepare", "owner": _owner(person), "run": run})


def cancel(person: User, run: str | None = None) -> bool:
    """Stop a person's run of that name, which answers with what it has, or end all of them.

    Returns whether there was any.
    """
    return bool(ask({"do": "cancel", "owner": _owner(person), "run": run})["cancelled"])


def _owner(person: User) -> str:
    return f"person {person.pk}"


def ask(request: Mapping[str, Any], *, reader: bool = False) -> dict[str, Any]:
    """The simulator's answer to a request (`millrace_runtime.simulator`).

    `reader`: of the one that reads stores, where there is one of its own.

    Raises Unavailable where it does not answer, ApiError for what it refuses.
    """
    address = settings.MILLRACE_SIMULATOR
    if reader and settings.MILLRACE_STORE_READER:
        address = settings.MILLRACE_STORE_READER
    if not address:
        raise Unavailable(
            "simulator_unreachable",
            "No simulator is configured: topologies cannot be simulated, and stores cannot be "
            "read.",
            "Start Millrace with `./millrace up`, or set MILLRACE_SIMULATOR to the address of a "
            "running simulator.",
        )
    host, _, port = str(address).rpartition(":")
    try:
        with socket.create_connection((host or "127.0.0.1", int(port)), PATIENCE) as connection:
            connection.sendall(json.dumps(request).encode() + b"\n")
            with connection.makefile("rb") as stream:
                line = stream.readline()
        answer: dict[str, Any] = json.loads(line)
    except (OSError, ValueError):
        raise Unavailable(
            "simulator_unreachable",
            f"The simulator at {address} does not respond.",
            "It is restarted automatically. See the log of the service simulator.",
        ) from None
    if answer.get("error"):
        raise refusal(answer["error"])
    return answer


def refusal(error: Mapping[str, Any]) -> ApiError:
    """An error of the simulator as one of this API."""
    refuse = _CLASSES.get(error["code"], ApiError)
    known = ("node", "parameter", "facts", "cause")
    data = {name: error[name] for name in known if error.get(name)}
    return refuse(error["code"], error["message"], error.get("hint") or "", **data)
