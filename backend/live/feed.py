"""The event stream of one page: a snapshot, then events that keep it up to date."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypedDict, TypeVar, TypeVarTuple

import structlog
from deployments import runtime
from deployments.environments import environment_of
from deployments.logs import level_of
from django.conf import settings
from millrace_backend import redis as names
from millrace_backend.threads import LIVE
from millrace_model.events import DriverEvent, ProgressEvent, RuntimeJson, of_entry
from millrace_services import local_services
from redis.exceptions import RedisError
from rest_framework.utils.encoders import JSONEncoder

from live import presence
from live.choices import LiveEvent
from live.hub import START, Entry, Hub, Resync, hub, order
from live.snapshots import Scope, deployments_for, may_listen, topology_for

log = structlog.get_logger(__name__)
Arguments = TypeVarTuple("Arguments")
T = TypeVar("T")

PING_SECONDS = 15.0
#: seconds between two checks of the reader's token, session and membership
CHECK_SECONDS = 1.0
#: seconds for reporting that a page was closed
LEAVE_SECONDS = 0.3
#: seconds for which the stream waits for an event at a time
WAIT_SECONDS = 2.0
RETRY_MS = 2_000
#: seconds for which a driver reports every second after a page last showed it
OPEN_SECONDS = 12
MARK_SECONDS = 4.0
#: seconds between attempts to continue after Redis did not respond
AGAIN_SECONDS = 0.5


def encode(event: str, data: Any, event_id: str) -> bytes:
    """One server-sent event."""
    text = json.dumps(data, cls=JSONEncoder, ensure_ascii=False, separators=(",", ":"))
    return f"id: {event_id}\nevent: {event}\ndata: {text}\n\n".encode()


#: tasks that were cancelled and nobody waits for
_left: set[asyncio.Task[None]] = set()


def leave_alone(task: asyncio.Task[None]) -> None:
    """Cancel a task without waiting for it.

    A client of Redis that is connecting ignores a cancellation until its time-out.
    """
    task.cancel()
    _left.add(task)
    task.add_done_callback(_forget)


def _forget(task: asyncio.Task[None]) -> None:
    _left.discard(task)
    if not task.cancelled():
        task.exception()  # nobody else asks for it


class Brief(TypedDict):
    """A deployment in a list of topologies."""

    id: int
    observed: str
    desired: str
    version: int
    environment: str | None


class Deleted(TypedDict):
    """A deployment that was deleted."""

    id: int
    topology: int


@dataclass
class Feed:
    """A page's positions in its streams, and the last state that it received."""

    scope: Scope
    #: current time in seconds since the epoch
    now: Any = time.time
    position: str = START
    deployment: int | None = None
    run: str | None = None
    run_position: str = START
    history: list[ProgressEvent] = field(default_factory=list)
    revisions: dict[int, int] = field(default_factory=dict)
    topology: dict[str, Any] | None = None
    told_stale: bool = False
    #: the run that was last marked as shown, and when
    marked: tuple[str | None, float] = (None, 0.0)
    connection: str = field(default_factory=lambda: uuid.uuid4().hex)
    #: the page was closed, or its reader may no longer listen
    closed: bool = False

    def __post_init__(self) -> None:
        self.hub: Hub = hub()
        self.stream = names.live_stream(self.scope.workspace)
        self.subscription = self.hub.subscribe()
        # Whoever opens a page soon has a document compiled.
        if settings.MILLRACE_ANALYZER:
            local_services.wake(settings.MILLRACE_ANALYZER)

    # -- the stream as bytes --------------------------------------------------------------------
    async def events(self, last_event_id: str) -> AsyncGenerator[bytes, None]:
        """Server-sent events until the page is closed or the reader may no longer listen.

        The right is checked beside the events: a Redis that does not respond delays only these.
        """
        queue: asyncio.Queue[bytes] = asyncio.Queue(1)
        ended = asyncio.create_task(self._ended())
        writing = asyncio.create_task(self._write(last_event_id, queue))
        try:
            while True:
                following = asyncio.create_task(queue.get())
                try:
                    await asyncio.wait(
                        {following, ended, writing}, return_when=asyncio.FIRST_COMPLETED
                    )
                finally:
                    following.cancel()
                if ended.done() or not following.done():
                    await (ended if ended.done() else writing)
                    return
                yield following.result()
        finally:
            self.closed = True
            ended.cancel()
            leave_alone(writing)
            self.hub.unsubscribe(self.subscription)
            leaving = asyncio.create_task(self._leave())
            await asyncio.wait({leaving}, timeout=LEAVE_SECONDS)
            leave_alone(leaving)

    async def _write(self, last_event_id: str, queue: asyncio.Queue[bytes]) -> None:
        """Put all events into the queue."""
        async with aclosing(self._all_events(last_event_id)) as events:
            async for text in events:
                if self.closed:
                    return
                await queue.put(text)

    async def _ended(self) -> None:
        """Return when the reader may no longer listen."""
        while True:
            if not await self._query(may_listen):
                return
            await asyncio.sleep(CHECK_SECONDS)

    async def _all_events(self, last_event_id: str) -> AsyncGenerator[bytes, None]:
        """Yield events, with a fresh snapshot after each time that Redis was away."""
        yield f"retry: {RETRY_MS}\n\n".encode()
        while True:
            try:
                async with aclosing(self._events(last_event_id)) as events:
                    async for text in events:
                        yield text
                return
            except (RedisError, OSError) as error:
                log.warning("live stream interrupted", reason=str(error))
            # A fresh snapshot replaces whatever was interrupted when Redis went away.
            last_event_id = ""
            await asyncio.sleep(AGAIN_SECONDS)
            yield b": waiting\n\n"

    async def _events(self, last_event_id: str) -> AsyncGenerator[bytes, None]:
        """Yield a snapshot, or resume; then yield events."""
        await self._arrive()
        if not await self._resume(last_event_id):
            yield await self._snapshot()
        async for text in self._catch_up():
            yield text
        pinged = time.monotonic()
        while True:
            await self._mark_open()
            item = await self._next(PING_SECONDS - (time.monotonic() - pinged))
            if isinstance(item, Resync) or self._became_stale():
                yield await self._snapshot()
            elif item is not None:
                async for text in self._handle(item):
                    yield text
            if time.monotonic() - pinged >= PING_SECONDS:
                pinged = time.monotonic()
                await self._arrive()
                yield b": ping\n\n"

    async def _next(self, seconds: float) -> Entry | Resync | None:
        patience = min(max(seconds, 0.05), 1.0 if self.run else WAIT_SECONDS)
        if self.closed:
            raise asyncio.CancelledError
        try:
            async with asyncio.timeout(patience):
                return await self.subscription.queue.get()
        except TimeoutError:
            return None

    async def _query(self, query: Callable[[Scope, *Arguments], T], *args: *Arguments) -> T:
        """Return what a query of the database finds for the reader."""
        return await LIVE.run(self._reader, partial(query, self.scope, *args))

    def _reader(self) -> str:
        return f"account {self.scope.user}"

    def _id(self) -> str:
        return "|".join((self.position, self.run or "", self.run_position))

    # -- snapshot -------------------------------------------------------------------------------
    async def _snapshot(self) -> bytes:
        content = await self.snapshot()
        return encode(LiveEvent.SNAPSHOT, content, self._id())

    async def snapshot(self) -> dict[str, Any]:
        """Return everything the page shows, and note the positions from which events continue."""
        # Take the position first: events during the database query are sent twice rather than lost.
        self.position = await self.hub.position(self.stream)
        self.hub.watch(self.subscription, self.stream, self.position)
        deployments = await self._query(deployments_for)
        self.revisions = {each["id"]: each["revision"] for each in deployments}
        if self.scope.topology is None:
            return {
                "topology": None,
                "deployment": None,
                "deployments": deployments,
                "runtime": None,
                "presence": [],
            }
        self.topology = await self._query(topology_for, self.scope.topology)
        chosen = self._chosen([each["id"] for each in deployments])
        deployment = next((each for each in deployments if each["id"] == chosen), None)
        found = await self._watch_run(deployment)
        await self._watch_cursors(self.scope.topology)
        return {
            "topology": self.topology,
            "deployment": deployment,
            "deployments": deployments,
            "runtime": found,
            "presence": await self._users(),
        }

    def _chosen(self, deployments: Sequence[int]) -> int | None:
        """Return the deployment that the page shows: as before, as it asked, or the newest."""
        wanted = self.scope.deployment if self.deployment is None else self.deployment
        if wanted in deployments:
            return wanted
        return deployments[0] if deployments else None

    async def _watch_run(self, deployment: dict[str, Any] | None) -> RuntimeJson | None:
        """Listen to the live run's reports, and return its last report."""
        self._leave_run()
        if deployment is None:
            return None
        self.deployment = deployment["id"]
        if deployment["run"] is None:
            return None
        self.run = deployment["run"]["report_id"]
        stream = names.run_stream(self.run)
        entries = await self.hub.last_entries(stream, runtime.LOOK_BACK)
        self.run_position = entries[-1].id if entries else START
        self.hub.watch(self.subscription, stream, self.run_position)
        self.history = reports = runtime.progress_of((each.id, each.fields) for each in entries)
        if not reports:
            return None
        found = runtime.derive(self.deployment, self.run, reports[-1], reports[:-1])
        found["stale"] = self.told_stale = runtime.is_stale(found["at"], self.now() * 1000)
        return found

    async def _watch_cursors(self, topology: int) -> None:
        """Listen to where the pointers of others are from now on."""
        stream = names.cursor_stream(topology)
        if stream not in self.subscription.streams:
            self.hub.watch(self.subscription, stream, await self.hub.position(stream))

    def _leave_run(self) -> None:
        if self.run is not None:
            self.hub.unwatch(self.subscription, names.run_stream(self.run))
        self.deployment, self.run, self.run_position = None, None, START
        self.history, self.told_stale = [], False

    async def _mark_open(self) -> None:
        """Have the driver report every second, by renewing a key from time to time."""
        run, at = self.marked
        if self.run is None or (run == self.run and time.monotonic() - at < MARK_SECONDS):
            return
        await self.hub.redis.set(names.run_open(self.run), 1, ex=OPEN_SECONDS)
        self.marked = (self.run, time.monotonic())

    def _became_stale(self) -> bool:
        """Whether the last report has just become stale."""
        if self.told_stale or not self.history:
            return False
        return runtime.is_stale(self.history[-1]["at"], self.now() * 1000)

    # -- going on after a lost connection -------------------------------------------------------
    async def _resume(self, last_event_id: str) -> bool:
        """Resume after the last event that the page received; return False if it cannot."""
        places = last_event_id.split("|")
        try:
            position, run, run_position = places
            order(position), order(run_position)
        except ValueError:
            return False
        fresh = await self.snapshot()
        current = (fresh["deployment"] or {}).get("run") or {}
        if (current.get("report_id") or "") != run:
            return False
        if not await self.hub.reaches_back(self.stream, position):
            return False
        if run and not await self.hub.reaches_back(names.run_stream(run), run_position):
            return False
        if order(position) > order(self.position) or order(run_position) > order(self.run_position):
            # Redis came back without its data: its ids count from somewhere else.
            return False
        self.position, self.run_position = position, run_position
        self.revisions = {}
        self.topology = None
        return True

    async def _catch_up(self) -> AsyncIterator[bytes]:
        for entry in await self.hub.entries(self.stream, self.position):
            async for text in self._handle(entry):
                yield text
        async for text in self._catch_up_run():
            yield text

    async def _catch_up_run(self) -> AsyncIterator[bytes]:
        if self.run is not None:
            for entry in await self.hub.entries(names.run_stream(self.run), self.run_position):
                async for text in self._handle(entry):
                    yield text

    # -- events ---------------------------------------------------------------------------------
    async def _handle(self, entry: Entry) -> AsyncIterator[bytes]:
        if b"cursor" in entry.fields:
            data = json.loads(entry.fields[b"cursor"])
            if data["user"] != self.scope.user:
                yield encode(LiveEvent.CURSOR, data, self._id())
        elif entry.stream == self.stream:
            if order(entry.id) > order(self.position):
                self.position = entry.id
                async for text in self._handle_change(entry):
                    yield text
        elif (
            self.run is not None
            and entry.stream == names.run_stream(self.run)
            and order(entry.id) > order(self.run_position)
        ):
            self.run_position = entry.id
            text = self._handle_report(of_entry(entry.fields))
            if text:
                yield text

    async def _handle_change(self, entry: Entry) -> AsyncIterator[bytes]:
        kind = entry.fields[b"event"].decode()
        topology = int(entry.fields[b"topology"])
        if self.scope.topology not in {None, topology}:
            return
        data = json.loads(entry.fields[b"data"])
        own = entry.fields[b"actor"].decode() == str(self.scope.user)
        if kind == LiveEvent.DEPLOYMENT_CHANGED:
            if data["revision"] <= self.revisions.get(data["id"], -1):
                return
            self.revisions[data["id"]] = data["revision"]
            yield encode(kind, data, self._id())
            async for text in self._follow(data):
                yield text
            return
        if kind == LiveEvent.DEPLOYMENT_DELETED and self.scope.topology is not None:
            async for text in self._without(data):
                yield text
            return
        if kind == LiveEvent.PRESENCE and self.scope.topology is None:
            return
        if kind not in {LiveEvent.TOPOLOGY_CHANGED, LiveEvent.DRAFT_CHANGED} or (
            kind == LiveEvent.DRAFT_CHANGED and not own
        ):
            yield encode(kind, data, self._id())
        if kind in {LiveEvent.TOPOLOGY_CHANGED, LiveEvent.VERSION_CREATED} or (
            kind == LiveEvent.DRAFT_CHANGED and own
        ):
            # How it looks in a list depends on the reader's own draft.
            shown = await self._query(topology_for, topology)
            if shown is not None and shown != self.topology:
                self.topology = shown if self.scope.topology is not None else None
                yield encode(LiveEvent.TOPOLOGY_CHANGED, shown, self._id())

    async def _follow(self, deployment: dict[str, Any]) -> AsyncIterator[bytes]:
        """Listen to the deployment's current run, if it is another one."""
        if self.scope.topology is None:
            return
        brief: Brief = {
            "id": deployment["id"],
            "observed": deployment["observed"],
            "desired": deployment["desired"],
            "version": deployment["version"],
            "environment": environment_of(deployment["settings"]),
        }
        self._note(deployment["id"], [brief])
        if self.deployment not in {None, deployment["id"]}:
            return
        report_id = (deployment["run"] or {}).get("report_id")
        if report_id == self.run and deployment["id"] == self.deployment:
            return
        self._leave_run()
        self.deployment = deployment["id"]
        if report_id is not None:
            self.run = report_id
            self.hub.watch(self.subscription, names.run_stream(report_id), START)
            async for text in self._catch_up_run():
                yield text

    async def _without(self, deleted: Deleted) -> AsyncIterator[bytes]:
        """Tell the page that a deployment was deleted; then show another one, if there is one."""
        self._note(deleted["id"], [])
        shown = deleted["id"] == self.deployment
        if shown:
            self._leave_run()
        yield encode(LiveEvent.DEPLOYMENT_DELETED, deleted, self._id())
        left = await self._query(deployments_for) if shown else []
        if left:
            yield await self._snapshot()

    def _note(self, deployment: int, now: Sequence[Brief]) -> None:
        """Replace a deployment in the topology that the page has received last."""
        if self.topology is None:
            return
        others = [each for each in self.topology["deployments"] if each["id"] != deployment]
        briefs = sorted([*others, *now], key=lambda each: each["id"], reverse=True)
        self.topology["deployments"] = briefs
        self.topology["deployment"] = briefs[0] if briefs else None

    def _handle_report(self, event: DriverEvent | None) -> bytes:
        if event is None or self.deployment is None or self.run is None:
            return b""
        if event["event"] == "progress":
            found = runtime.derive(self.deployment, self.run, event, self.history)
            self.history = runtime.kept(self.history, event)
            self.told_stale = False
            return encode(LiveEvent.RUNTIME_PROGRESS, found, self._id())
        if event["event"] == "log":
            line = {
                "deployment": self.deployment,
                "at": event.get("at"),
                "level": level_of(event.get("level")).value,
                "node": event.get("node"),
                "message": str(event.get("message") or ""),
                "record": None,
            }
            return encode(LiveEvent.RUNTIME_LOG, line, self._id())
        return b""

    # -- presence -------------------------------------------------------------------------------
    async def _users(self) -> list[presence.Present]:
        if self.scope.topology is None:
            return []
        return await presence.users(self.hub.redis, self.scope.topology, self.now() * 1000)

    async def _arrive(self) -> None:
        if self.scope.topology is None:
            return
        before = await self._users()
        person: presence.Person = {"id": self.scope.user, "display_name": self.scope.user_name}
        await presence.arrive(
            self.hub.redis, self.scope.topology, self.connection, person, self.now() * 1000
        )
        await self._tell_presence(before)

    async def _leave(self) -> None:
        if self.scope.topology is None:
            return
        # Where Redis does not respond, the entry expires.
        with suppress(RedisError, OSError):
            before = await self._users()
            await presence.leave(self.hub.redis, self.scope.topology, self.connection)
            await self._tell_presence(before)

    async def _tell_presence(self, before: list[presence.Present]) -> None:
        users = await self._users()
        if users == before or self.scope.topology is None:
            return
        fields = {
            "event": LiveEvent.PRESENCE.value,
            "topology": str(self.scope.topology),
            "actor": str(self.scope.user),
            "data": json.dumps({"topology": self.scope.topology, "users": users}),
        }
        await self.hub.redis.xadd(
            self.stream,
            fields,  # type: ignore[arg-type]
            maxlen=names.LIVE_LENGTH,
            approximate=True,
        )
