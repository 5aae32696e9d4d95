"""Verification: whether Millrace and Kafka Streams produce the same results for a document.

The simulator compiles and runs the document first: what the analyzer refuses must not reach a JVM
that refuses nothing. A verification is stored in Redis for an hour. The workers advance it: a
separate process runs the document in Kafka Streams and compares the results.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from typing import Any, Protocol

from accounts.models import User, Workspace
from kombu.exceptions import KombuError
from millrace_backend import queue, redis
from millrace_backend.errors import ApiError, NotFound, TooMany, Unavailable, cause
from millrace_model.documents import TopologyDocument
from millrace_model.events import CauseFields
from millrace_model.records import InputLine
from millrace_model.scenarios import DifferenceJson, Looked, Scenario, Verification
from redis.exceptions import RedisError

from topologies.choices import VerificationState, VerificationStep
from topologies.simulating import Simulation, simulated

#: name of the Celery task: the backend does not import the workers
TASK = "millrace_workers.tasks.verify"
#: seconds for which a verification is kept
KEPT_SECONDS = 3_600
#: seconds between two steps of the workers
PAUSE = 1.0
#: maximum number of a workspace's verifications that are waiting or running
MOST = 3

_ENDED = frozenset({VerificationState.DONE, VerificationState.FAILED, VerificationState.CANCELLED})


class Streams(Protocol):
    """Kafka Streams, as the workers run it."""

    @property
    def available(self) -> bool:
        """Whether it can be run on this machine."""
        ...

    @property
    def free(self) -> bool:
        """Whether another comparison can begin now."""
        ...

    def start(self, name: str, scenario: Scenario) -> None:
        """Start a comparison. Raises OSError if its process cannot be started."""
        ...

    def look(self, name: str) -> Looked:
        """Return `answer`, with `differences` or `error` (code, facts and message), or until then
        the current step as `doing`.
        """
        ...

    def end(self, name: str) -> None:
        """Stop a comparison and delete its files."""
        ...


def begin(
    person: User, workspace: Workspace, document: TopologyDocument, inputs: Sequence[InputLine]
) -> Verification:
    """Start a verification.

    Raises Forbidden without the right to simulate the document, ApiError for a document that cannot
    be simulated or has too many outputs, TooMany, and Unavailable while the simulator is starting
    or without Redis.
    """
    name = uuid.uuid4().hex
    request = {
        "id": name,
        "topology": document,
        "inputs": list(inputs),
        "found": _found(person, workspace, document, inputs),
    }
    begun: Verification = {
        "id": name,
        "workspace": workspace.pk,
        "state": VerificationState.WAITING.value,
        "doing": None,
        "differences": None,
        "error": None,
    }
    try:
        _require_room(workspace)
        redis.client().set(f"{_key(name)}:request", json.dumps(request), ex=KEPT_SECONDS)
        _keep(begun)
        redis.client().sadd(_running(workspace.pk), name)
        queue.send(TASK, name, expires=KEPT_SECONDS)
    except (RedisError, KombuError, OSError) as error:
        raise Unavailable(
            "redis_unreachable",
            f"Redis does not respond, so the verification cannot be started: {error}",
            "Try again when Redis is running.",
        ) from error
    return begun


def _found(
    person: User, workspace: Workspace, document: TopologyDocument, inputs: Sequence[InputLine]
) -> Any:
    """Return Millrace's results. Raises the errors of `begin`."""
    answer = simulated(Simulation(document, inputs), person, workspace)
    if answer["state"] == "starting":
        raise Unavailable(
            "simulator_starting", "The simulator is starting.", "Try again in a few seconds."
        )
    result = answer["result"]
    if result is None:
        found = next(each for each in answer["diagnostics"] if each["severity"] == "error")
        hint = found.get("hint") or ""
        raise ApiError("invalid_document", found["message"], hint, cause=cause(**found))
    if result["output_count"] > len(result["outputs"]):
        raise ApiError(
            "too_many_outputs",
            f"{result['output_count']} outputs are too many to compare.",
            "Verify fewer records.",
        )
    return result


def _require_room(workspace: Workspace) -> None:
    client = redis.client()
    names: Any = client.smembers(_running(workspace.pk))
    gone = [each for each in names if not client.exists(_key(each.decode()))]
    if gone:
        client.srem(_running(workspace.pk), *gone)
    if len(names) - len(gone) >= MOST:
        raise TooMany(
            "too_many_verifications",
            f"{MOST} verifications of this workspace are waiting or running.",
            "Wait until one of them is done, or cancel it.",
        )


def look(workspace: Workspace, name: str) -> Verification:
    """Return a verification of the workspace. Raises NotFound if it does not exist."""
    try:
        found = _read(name)
    except RedisError as error:
        raise Unavailable("redis_unreachable", f"Redis does not respond: {error}") from error
    if found is None or found["workspace"] != workspace.pk:
        raise NotFound(
            "no_such_verification",
            "There is no such verification; verifications are kept for an hour.",
            "Start another one.",
        )
    return found


def cancel(workspace: Workspace, name: str) -> None:
    """Cancel a verification, unless it has ended. Raises NotFound if it does not exist."""
    found = look(workspace, name)
    if found["state"] not in _ENDED:
        redis.client().set(f"{_key(name)}:cancelled", "1", ex=KEPT_SECONDS)


def advance(name: str, streams: Streams) -> float | None:
    """Perform one step, in a worker; return the seconds until the next, or None if it has ended."""
    found = _read(name)
    if found is None or found["state"] in _ENDED:
        streams.end(name)
        return None
    if redis.client().exists(f"{_key(name)}:cancelled"):
        return _end(found, streams, VerificationState.CANCELLED)
    try:
        return _step(found, streams)
    except OSError as error:
        message = f"Kafka Streams cannot be started: {error}"
        why = cause("streams_not_started", message, {"reason": error})
        return _end(found, streams, VerificationState.FAILED, error=why)


def _step(found: Verification, streams: Streams) -> float | None:
    name = found["id"]
    if found["state"] == VerificationState.WAITING:
        request: Any = redis.client().get(f"{_key(name)}:request")
        if not streams.available or request is None:
            message = "Kafka Streams is not available in this installation."
            why = cause("streams_missing", message)
            return _end(found, streams, VerificationState.FAILED, error=why)
        if not streams.free:
            return PAUSE
        streams.start(name, json.loads(request))
        return _note(found, VerificationStep.JARS)
    looked = streams.look(name)
    if "answer" not in looked:
        return _note(found, VerificationStep(looked["doing"]))
    answer = looked["answer"]
    if "error" in answer:
        return _end(found, streams, VerificationState.FAILED, error=answer["error"])
    return _end(found, streams, VerificationState.DONE, differences=answer["differences"])


def _note(found: Verification, doing: VerificationStep) -> float:
    if found["doing"] != doing.value:
        _keep({**found, "state": VerificationState.RUNNING.value, "doing": doing.value})
    return PAUSE


def _end(
    found: Verification,
    streams: Streams,
    state: VerificationState,
    differences: list[DifferenceJson] | None = None,
    error: CauseFields | None = None,
) -> float | None:
    streams.end(found["id"])
    ended: Verification = {**found, "state": state.value, "doing": None}
    if differences is not None:
        ended["differences"] = differences
    if error is not None:
        ended["error"] = error
    _keep(ended)
    redis.client().delete(f"{_key(found['id'])}:request")
    redis.client().srem(_running(found["workspace"]), found["id"])
    return None


def _keep(found: Verification) -> None:
    redis.client().set(_key(found["id"]), json.dumps(found), ex=KEPT_SECONDS)


def _read(name: str) -> Verification | None:
    text: Any = redis.client().get(_key(name))
    return None if text is None else json.loads(text)


def _key(name: str) -> str:
    return f"millrace:verification:{name}"


def _running(workspace: int) -> str:
    return f"millrace:verifications:{workspace}"
