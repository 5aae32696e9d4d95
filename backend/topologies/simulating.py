"""The backend's entry point to the simulator, which runs documents in separate processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from accounts.choices import Role
from accounts.models import User, Workspace
from accounts.permissions import role_in
from django.conf import settings
from millrace_backend.errors import ApiError, Conflict, Forbidden, NotFound, TooMany, Unavailable
from millrace_compiler.graphs.kinds import runs_python
from millrace_model.documents import TopologyDocument
from millrace_model.reads import TaskStates
from millrace_model.records import InputLine
from millrace_model.scenarios import Expected
from millrace_model.simulations import (
    PartRequest,
    Prepared,
    ServiceError,
    Simulated,
    SimulationRequest,
)
from millrace_services import local_services

from topologies.environments import document_in, filled_in
from topologies.models import Version, hash_of
from topologies.required import as_they_run, doubles_in, note_pass

#: maximum number of input lines of a simulation, and of steps in its result
MOST_INPUTS, MOST_STEPS = 2_000, 20_000
#: maximum number of pinned edges and of muted nodes of a simulation
MOST_PINS = 500
#: maximum number of breakpoints in a processor, and of partitions of a topic
MOST_BREAKPOINTS, MOST_PARTITIONS = 100, 10_000
#: maximum number of inputs that a search begins with, and its longest duration in seconds; reducing
#: what was found takes as long at most, and a run that takes a minute is ended
MOST_SEEDS, MOST_SECONDS = 200, 30.0
#: timeout in seconds; the simulator ends runs that exceed its own, shorter limits
PATIENCE = 120.0

#: response if nothing ran because a process is starting
STARTING: Simulated = {
    "state": "starting", "diagnostics": [], "result": None, "plain": None,
}  # fmt: skip

#: what a response has of an error, besides its code, message and hint
_SHOWN = ("node", "parameter", "facts", "cause")
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
    "process_not_started": Unavailable,
}


#: services: name, setting with the path of the socket, and what cannot be done without it
_SIMULATOR = ("simulator", "MILLRACE_SIMULATOR", "topologies cannot be simulated")
_STORE_READER = ("store reader", "MILLRACE_STORE_READER", "stores cannot be read")


@dataclass(frozen=True)
class Simulation:
    """A run of a document on input lines.

    `steps`: maximum number of steps in the result. `expected`: results that those of the run are
    compared with. `breakpoints`: lines, by place, at which Python code stops. `partitions`:
    number of partitions by topic, in place of the document's. `plain` (`each` or `all`): plain
    Spark runs the lines too, in such micro-batches. `begins`: states of tasks from the runtime's
    `read_task_states`; without them stores are empty. `run`: a name chosen by the user, by which
    the run is watched and stopped. `environment`: whose values parameters have, not the defaults.
    `part`: of the topology that runs alone (`millrace_compiler.compilation.running_part`).
    """

    document: TopologyDocument
    inputs: Sequence[InputLine]
    steps: int = 0
    expected: Expected | None = None
    breakpoints: Mapping[str, Sequence[int]] = field(default_factory=dict)
    partitions: Mapping[str, int] = field(default_factory=dict)
    plain: str | None = None
    begins: TaskStates | None = None
    run: str | None = None
    environment: str | None = None
    part: PartRequest | None = None

    @property
    def is_of_document(self) -> bool:
        """Whether it runs all of the document, with its numbers of partitions and empty stores.

        The document's own doubles may stand for nodes.
        """
        topics = document_in(self.document, None).get("topics") or {}
        whole = self.part is None or self.is_doubled
        return (self.begins, self.environment, whole) == (None, None, True) and all(
            topics.get(name, {}).get("partitions", 1) == number
            for name, number in self.partitions.items()
        )

    @property
    def is_doubled(self) -> bool:
        """Whether it runs all of the document with the document's own doubles."""
        part = self.part
        if part is None or part.get("pins") or part.get("muted") or part.get("to") is not None:
            return False
        doubles = as_they_run(part.get("doubles") or [])
        return doubles != [] and doubles == doubles_in(self.document)

    def request(self, owner: str) -> SimulationRequest:
        """Return the run as a request to the simulator."""
        asked = {**vars(self), "document": filled_in(self.document, self.environment)}
        del asked["steps"], asked["environment"]
        if self.begins is None:
            del asked["begins"]
        return cast(
            SimulationRequest, {"do": "simulate", "owner": owner, "trace": self.steps, **asked}
        )


def simulated(run: Simulation, person: User, workspace: Workspace) -> Simulated:
    """Return the diagnostics and the result of a simulation; no result if the document is refused.

    Stores a test that passes, unless the run differs from the document in more than its inputs:
    with other numbers of partitions or stores that are not empty. `state` is `starting` if nothing
    ran because a simulator is starting.
    Raises Forbidden for a viewer's document that is not a saved version of the workspace and for
    code of a user who may not deploy, Unavailable if the simulator does not respond, ApiError for
    other errors.
    """
    _require_role(person, workspace, run.document)
    answer = ask(run.request(owner_of(person)))
    if answer.get("state") == "starting":
        return STARTING
    result = answer["result"]
    passed = run.expected is not None and result is not None and result["differences"] == []
    if passed and run.expected is not None and run.is_of_document:
        note_pass(workspace, run.document, run.inputs, run.expected, run.is_doubled)
    return {
        "state": "done",
        "diagnostics": answer["diagnostics"],
        "result": result,
        "plain": answer.get("plain"),
    }


@dataclass(frozen=True)
class Search:
    """A search for an input on which two documents give different results.

    `inputs`: lists of input lines to begin with. `seconds`: its maximum duration; what is found is
    then reduced. `run`: as of a simulation.
    """

    old: TopologyDocument
    new: TopologyDocument
    inputs: Sequence[Sequence[Any]] = ()
    seconds: float = 20.0
    run: str | None = None


def searched(search: Search, person: User, workspace: Workspace) -> dict[str, Any]:
    """Return the diagnostics of refused documents, or the result of a search.

    `state`, roles and errors are as for `simulated`, for each of the documents.
    """
    for document in (search.old, search.new):
        _require_role(person, workspace, document)
    answer = ask({"do": "differ", "owner": owner_of(person), **vars(search)})
    if answer.get("state") == "starting":
        return {"state": "starting", "diagnostics": [], "result": None}
    return {"state": "done", **answer}


def _require_role(person: User, workspace: Workspace, document: TopologyDocument) -> None:
    role = role_in(person, workspace.pk)
    if runs_python(document) and (role is None or not role.allows(Role.OPERATOR)):
        raise Forbidden(
            "role_too_small",
            "Simulating a topology with Python processors or handlers runs their code on the "
            "server: this needs the role operator, as deploying does.",
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


def prepare(person: User, run: str | None = None) -> Prepared:
    """Return the `state` of the simulator, `ready` or `starting`, which is started if necessary.

    `progress` is that of the user's run with this name, or of any run; None if there is none.
    """
    found: Prepared = ask({"do": "prepare", "owner": owner_of(person), "run": run})
    return found


def cancel(person: User, run: str | None = None) -> bool:
    """Stop the user's run with this name, which returns what it has, or end all of them.

    Return whether there was any.
    """
    return bool(ask({"do": "cancel", "owner": owner_of(person), "run": run})["cancelled"])


def owner_of(person: User) -> str:
    """Return the name under which the simulator counts the requests of a person."""
    return f"person {person.pk}"


def ask(request: Mapping[str, object], *, reader: bool = False) -> Any:
    """Return the simulator's answer to a request (`millrace_runtime.simulator`).

    `reader`: ask the store reader instead. Raises Unavailable if it does not respond, ApiError for
    a request that it refuses.
    """
    service, setting, cannot = _STORE_READER if reader else _SIMULATOR
    path = getattr(settings, setting)
    if not path:
        raise Unavailable(
            "simulator_unreachable",
            f"No {service} is configured, so {cannot}.",
            f"Start Millrace with `./millrace up`, or set {setting} to the socket of a running "
            f"{service}.",
        )
    try:
        answer = local_services.ask(str(path), request, PATIENCE)
    except (OSError, ValueError):
        raise Unavailable(
            "simulator_unreachable",
            f"The {service} at {path} does not respond.",
            "It is restarted automatically. See its log.",
        ) from None
    if answer.get("error"):
        raise refusal(answer["error"])
    return answer


def refusal(error: ServiceError) -> ApiError:
    """Convert an error of the simulator into an ApiError."""
    refuse = _CLASSES.get(error["code"], ApiError)
    data: Any = {name: value for name, value in error.items() if name in _SHOWN and value}
    return refuse(error["code"], error["message"], error.get("hint") or "", **data)
