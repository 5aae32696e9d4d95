"""Live pages: a snapshot, then events that keep it current, across lost connections and servers."""

from __future__ import annotations

import asyncio
import json
import random
import select
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from accounts.models import User
from asgiref.sync import sync_to_async
from deployments import actions as deployment_actions
from deployments import reconciling, runtime
from deployments.models import Deployment
from django.test import AsyncClient
from live import feed as feeds
from live import hub as hubs
from live.snapshots import Scope
from millrace_backend import redis
from millrace_services import line_server
from topologies import actions as topology_actions
from topologies.models import Draft, Topology

from .conftest import People, RedisServer, document
from .test_runtime import progress, report

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]

Event = tuple[str, Any, str]


class Page:
    """A page in a browser: applies events to its snapshot."""

    def __init__(self, content: AsyncIterator[bytes]) -> None:
        # A separate task reads the stream: a timeout while reading would cancel the stream.
        self._texts: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.reader = asyncio.create_task(self._read(content))
        self.state: dict[str, Any] = {}
        self.heard: list[str] = []
        self.last_id = ""
        self.pings = 0
        self.ended = False

    async def _read(self, content: AsyncIterator[bytes]) -> None:
        async for text in content:
            await self._texts.put(text)
        await self._texts.put(None)

    async def next(self, seconds: float = 5.0) -> str | None:
        """Apply the next event and return its name, or None if none arrives in time."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                left = max(0.01, deadline - time.monotonic())
                raw = await asyncio.wait_for(self._texts.get(), left)
            except TimeoutError:
                return None
            if raw is None:
                self.ended = True
                return None
            text = raw.decode()
            fields = dict(line.split(": ", 1) for line in text.strip().splitlines() if ": " in line)
            if text.startswith(":"):
                self.pings += 1
            if "event" in fields:
                self.last_id = fields["id"]
                self.apply(fields["event"], json.loads(fields["data"]))
                return fields["event"]

    async def until(self, done: Callable[[dict[str, Any]], bool], seconds: float = 10.0) -> None:
        """Apply events until the condition holds for the state."""
        deadline = time.monotonic() + seconds
        while not (self.state and done(self.state)):
            assert time.monotonic() < deadline, (self.heard, self.state)
            await self.next(max(0.05, deadline - time.monotonic()))

    def apply(self, event: str, data: Any) -> None:
        """Apply one event as the page does."""
        self.heard.append(event)
        state = self.state
        if event == "snapshot":
            self.state = data
        elif event == "deployment.changed":
            shown = state["deployment"] or data
            if shown["id"] == data["id"]:
                state["runtime"] = None if shown["run"] != data["run"] else state["runtime"]
                state["deployment"] = data
            self.relist(data["id"], [data])
        elif event == "deployment.deleted":
            if (state["deployment"] or data)["id"] == data["id"]:
                state.update(deployment=None, runtime=None)
            self.relist(data["id"], [])
        elif event == "topology.changed":
            state["topology"] = data
        elif event == "runtime.progress":
            state["runtime"] = data
        elif event == "presence":
            state["presence"] = data["users"]
        elif event == "cursor":
            state["cursors"] = [*state.get("cursors", ()), data]

    def relist(self, deployment: int, now: list[Any]) -> None:
        """Replace a deployment in the lists."""
        others = [each for each in self.state["deployments"] if each["id"] != deployment]
        found = sorted([*others, *now], key=lambda each: -each["id"])
        names = ("id", "observed", "desired", "version")
        briefs = [
            {
                **{name: each[name] for name in names},
                "environment": each["settings"].get("environment"),
            }
            for each in found
        ]
        self.state["deployments"] = found
        shown = self.state["topology"]
        shown.update(deployments=briefs, deployment=briefs[0] if briefs else None)


@asynccontextmanager
async def open_page(
    user: User, query: dict[str, Any], last_event_id: str = ""
) -> AsyncIterator[Page]:
    client = AsyncClient()
    await client.aforce_login(user, backend="django.contrib.auth.backends.ModelBackend")
    headers = {"Accept": "text/event-stream"}
    if last_event_id:
        headers["Last-Event-ID"] = last_event_id
    response: Any = await client.get("/api/live", query, headers=headers)
    assert response.status_code == 200
    assert response.headers["Content-Type"] == "text/event-stream"
    assert response.headers["X-Accel-Buffering"] == "no"
    page = Page(aiter(response.streaming_content))
    try:
        yield page
    finally:
        page.reader.cancel()
        await asyncio.gather(page.reader, return_exceptions=True)
        await hubs.hub().close()
        hubs._hubs.clear()


async def fresh(user: User, query: dict[str, Any]) -> dict[str, Any]:
    """Return the snapshot of a page that is opened now."""
    scope = Scope(
        user.pk,
        user.shown_name,
        await sync_to_async(lambda: Topology.objects.get(pk=query["topology"]).workspace_id)(),
        query["topology"],
        deployment=query.get("deployment"),
    )
    found = feeds.Feed(scope)
    try:
        content = await found.snapshot()
        shown: dict[str, Any] = json.loads(
            feeds.encode("snapshot", content, "x").split(b"data: ")[1]
        )
        return shown
    finally:
        found.hub.unsubscribe(found.subscription)


class Driver:
    """Random changes to one deployment while a page is open."""

    def __init__(self, people: People, topology: Topology, deployment: Deployment) -> None:
        self.people, self.topology, self.deployment = people, topology, deployment
        self.epoch = 0
        self.records = 0
        self.at = int(time.time() * 1000) - 4_000

    def step(self, choice: random.Random) -> None:
        row, people = self.deployment, self.people
        states = ["compiling", "starting", "running", "restarting", "failed"]
        changes: list[Callable[[], object]] = [
            lambda: reconciling.observe(row.pk, choice.choice(states)),
            lambda: reconciling.record_step(
                row.pk, choice.choice(["compile", "start"]), choice.choice(["running", "done"])
            ),
            self.begin,
            self.report,
            self.report,
            self.report,
            lambda: reconciling.end_run(row.pk, "stopped"),
            lambda: deployment_actions.request_redeploy(people.operator, row, 2),
            lambda: deployment_actions.request_restart(people.operator, row),
            self.save_version,
            self.save_draft,
            lambda: topology_actions.update_topology(
                people.editor, self.topology, description=str(choice.random())
            ),
        ]
        choice.choice(changes)()

    def save_draft(self) -> None:
        person = self.people.operator
        kept = Draft.objects.filter(topology=self.topology, user=person).first()
        drawn = document(*"abc"[: self.epoch % 3])
        topology_actions.save_draft(
            person, self.topology, drawn, 1, kept.revision if kept else None
        )

    def begin(self) -> None:
        self.epoch += 1
        self.records = 0
        try:
            reconciling.begin_run(
                self.deployment.pk, 100 + self.epoch, "here", "boot/1", self.epoch
            )
        except reconciling.LiveRunExists:
            self.epoch -= 1

    def report(self) -> None:
        self.at += 37
        self.records += 11
        log = {"event": "log", "at": self.at, "level": "INFO", "node": "a", "message": "hi"}
        report(f"{self.deployment.pk}-{self.epoch}", progress(self.at, self.records), log)

    def save_version(self) -> None:
        self.topology.refresh_from_db()
        number = self.topology.latest_number
        topology_actions.save_version(
            self.people.editor, self.topology, document("a", str(number)), "more", number
        )


@pytest.fixture
def driver(people: People, topology: Topology, deployment: Deployment) -> Driver:
    return Driver(people, topology, deployment)


def settled(state: dict[str, Any]) -> dict[str, Any]:
    """A state without `stale`, which depends on the clock."""
    figures = state["runtime"]
    return {**state, "runtime": figures and {**figures, "stale": None}}


def described_as(text: str) -> Callable[[dict[str, Any]], bool]:
    """Return a condition: the topology has this description."""
    return lambda state: bool(state["topology"]["description"] == text)


async def test_an_old_snapshot_and_the_events_since_are_a_fresh_snapshot(
    driver: Driver, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime, "STALE_MS", 600_000)
    query = {"topology": driver.topology.pk}
    choice = random.Random(7)
    async with open_page(people.operator, query) as page:
        assert await page.next() == "snapshot"
        for round_number in range(8):
            for _ in range(12):
                await sync_to_async(driver.step)(choice)
            mark = f"round {round_number}"
            await sync_to_async(topology_actions.update_topology)(
                people.editor, driver.topology, description=mark
            )
            await page.until(described_as(mark))
            while await page.next(0.6) is not None:
                pass
            assert settled(page.state) == settled(await fresh(people.operator, query))
        assert {"deployment.changed", "runtime.progress", "version.created"} <= set(page.heard)
        assert page.heard.count("snapshot") == 1


async def test_a_page_that_comes_back_hears_what_it_missed_and_no_more(
    driver: Driver, people: People
) -> None:
    query = {"topology": driver.topology.pk}
    await sync_to_async(driver.begin)()
    async with open_page(people.operator, query) as page:
        await page.until(lambda state: bool(state["deployment"]["run"]))
        while await page.next(0.6) is not None:
            pass
        state, last_id = page.state, page.last_id
    for _ in range(3):
        await sync_to_async(driver.report)()
    await sync_to_async(reconciling.observe)(driver.deployment.pk, "restarting")
    await sync_to_async(driver.save_version)()
    async with open_page(people.operator, query, last_id) as page:
        page.state = state
        while await page.next(0.8) is not None:
            pass
        assert "snapshot" not in page.heard
        assert page.heard.count("runtime.progress") == 3
        assert settled(page.state) == settled(await fresh(people.operator, query))


@pytest.mark.parametrize("last_id", ["nonsense", "1-1|9-9|1-1", "0-1||0-0", "9999999999999-0||0-0"])
async def test_a_place_that_is_gone_is_answered_with_a_fresh_snapshot(
    last_id: str, driver: Driver, people: People
) -> None:
    redis.client().xtrim(redis.live_stream(people.workspace.pk), maxlen=0)
    await sync_to_async(reconciling.observe)(driver.deployment.pk, "compiling")
    async with open_page(people.viewer, {"topology": driver.topology.pk}, last_id) as page:
        assert await page.next() == "snapshot"
        assert page.state["deployment"]["observed"] == "compiling"


async def test_a_page_hears_only_of_its_own_topology(driver: Driver, people: People) -> None:
    def change_another() -> None:
        other = topology_actions.create_topology(
            people.editor, people.workspace, "Another", document("z")
        )
        deployment_actions.create_deployment(people.operator, other, 1, "local", {})

    async with open_page(people.viewer, {"topology": driver.topology.pk}) as page:
        await page.until(lambda state: bool(state["presence"]))
        await sync_to_async(change_another)()
        heard = len(page.heard)
        await sync_to_async(reconciling.observe)(driver.deployment.pk, "running")
        await page.until(lambda state: state["deployment"]["observed"] == "running")
        assert set(page.heard[heard:]) <= {"deployment.changed", "presence"}
    async with open_page(people.viewer, {"workspace": "main"}) as page:
        assert await page.next() == "snapshot"
        assert len(page.state["deployments"]) == 2


async def test_a_page_shows_one_deployment_and_the_states_of_the_others(
    driver: Driver, people: People
) -> None:
    first = driver.deployment
    prod: Any = {"environment": "prod"}
    second = await sync_to_async(deployment_actions.create_deployment)(
        people.operator, driver.topology, 1, "local", prod
    )
    query = {"topology": driver.topology.pk, "deployment": first.pk}
    async with open_page(people.operator, query) as page:
        assert await page.next() == "snapshot"
        assert page.state["deployment"]["id"] == first.pk
        await sync_to_async(driver.begin)()
        await sync_to_async(driver.report)()
        await sync_to_async(reconciling.begin_run)(second.pk, 900, "here", "boot/1", 1)
        report(f"{second.pk}-1", progress(driver.at, 5))
        await sync_to_async(reconciling.observe)(second.pk, "running")
        await sync_to_async(driver.report)()
        await page.until(lambda state: state["deployments"][0]["observed"] == "running")
        await page.until(lambda state: (state["runtime"] or {}).get("at") == driver.at)
        assert page.heard.count("runtime.progress") == 2
        assert page.heard.count("snapshot") == 1
        assert page.state["topology"]["deployment"]["environment"] == "prod"
        assert settled(page.state) == settled(await fresh(people.operator, query))
        await sync_to_async(reconciling.end_run)(first.pk, "stopped")
        await sync_to_async(deployment_actions.request_stop)(people.operator, first)
        await sync_to_async(reconciling.observe)(first.pk, "stopped")
        await sync_to_async(deployment_actions.delete_deployment)(people.operator, first)
        await page.until(lambda state: (state["deployment"] or {}).get("id") == second.pk)
        assert page.state["runtime"]["deployment"] == second.pk
        assert len(page.state["deployments"]) == 1
    assert (await fresh(people.operator, query))["deployment"]["id"] == second.pk


async def test_an_opened_page_starts_the_analyzer(people: People, millrace_settings: Any) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        line_server.listen(f"{folder}/analyzer") as listening,
    ):
        millrace_settings.MILLRACE_ANALYZER = f"{folder}/analyzer"
        assert not select.select([listening], [], [], 0)[0]
        async with open_page(people.viewer, {"workspace": "main"}) as page:
            assert await page.next() == "snapshot"
            assert select.select([listening], [], [], 0)[0]


async def test_people_see_who_else_is_there_and_which_node_they_edit(
    driver: Driver, people: People
) -> None:
    query = {"topology": driver.topology.pk}
    async with open_page(people.viewer, query) as page:
        await page.until(lambda state: [u["display_name"] for u in state["presence"]] == ["Viewer"])
        client = AsyncClient()
        await client.aforce_login(
            people.editor, backend="django.contrib.auth.backends.ModelBackend"
        )
        response: Any = await client.get("/api/live", query)
        other = Page(aiter(response.streaming_content))
        assert await other.next() == "snapshot"
        names = ["Editor", "Viewer"]
        await page.until(lambda state: [u["display_name"] for u in state["presence"]] == names)
        printed = await client.put(
            f"/api/topologies/{driver.topology.pk}/presence",
            {"node": "a"},
            content_type="application/json",
        )
        assert printed.status_code == 204
        await page.until(lambda state: state["presence"][0]["node"] == "a")
        address = f"/api/topologies/{driver.topology.pk}/cursor"
        # Of positions in quick succession, the first is shown; that the pointer left always is.
        for at in ([10, -20], [11, -20], None):
            moved = await client.put(address, {"at": at}, content_type="application/json")
            assert moved.status_code == 204
        await page.until(lambda state: len(state.get("cursors", ())) == 2)
        shown = [{"user": people.editor.pk, "at": at} for at in ([10, -20], None)]
        assert page.state["cursors"] == shown
        for wrong in ([1], [1, 2, 3], [1, "x"], [1, 10**9], 5):
            refused = await client.put(address, {"at": wrong}, content_type="application/json")
            assert refused.status_code == 400
        other.reader.cancel()
        await page.until(lambda state: [u["display_name"] for u in state["presence"]] == ["Viewer"])


async def test_silence_is_kept_open_by_pings_and_ends_with_the_membership(
    driver: Driver, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "PING_SECONDS", 0.2)
    async with open_page(people.viewer, {"topology": driver.topology.pk}) as page:
        await page.until(lambda state: bool(state["presence"]))
        await page.next(0.7)
        assert page.pings >= 2
        await sync_to_async(people.viewer.memberships.all().delete)()
        while await page.next(3) is not None:
            pass
        assert page.ended


async def test_a_driver_that_falls_silent_is_shown_as_stale(
    driver: Driver, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime, "STALE_MS", 1_500)
    await sync_to_async(driver.begin)()
    async with open_page(people.viewer, {"topology": driver.topology.pk}) as page:
        await page.until(lambda state: bool(state["deployment"]["run"]))
        driver.at = int(time.time() * 1000)
        driver.report()
        await page.until(lambda state: bool(state["runtime"]))
        assert page.state["runtime"]["stale"] is False
        await page.until(lambda state: state["runtime"]["stale"] is True)
        assert page.heard[-1] == "snapshot"


async def test_after_redis_was_killed_pages_get_a_fresh_snapshot(
    driver: Driver, people: People, redis_server: RedisServer
) -> None:
    async with open_page(people.viewer, {"topology": driver.topology.pk}) as page:
        await page.until(lambda state: bool(state["presence"]))
        redis_server.kill()
        try:
            await sync_to_async(reconciling.observe)(driver.deployment.pk, "running")
        finally:
            redis_server.start()
        await page.until(lambda state: state["deployment"]["observed"] == "running", 15)
        assert page.heard[-1] == "snapshot"


async def test_a_stream_outlives_a_redis_that_dies_while_it_catches_up(
    driver: Driver, people: People, redis_server: RedisServer
) -> None:
    client = AsyncClient()
    await client.aforce_login(people.viewer, backend="django.contrib.auth.backends.ModelBackend")
    response: Any = await client.get("/api/live", {"topology": driver.topology.pk})
    content = aiter(response.streaming_content)
    while b"event: snapshot" not in await anext(content):
        pass
    redis_server.kill()
    page = Page(content)
    try:
        await sync_to_async(reconciling.observe)(driver.deployment.pk, "running")
        await asyncio.sleep(1)
    finally:
        redis_server.start()
    await page.until(lambda state: state["deployment"]["observed"] == "running", 15)
    assert not page.ended
    await sync_to_async(reconciling.observe)(driver.deployment.pk, "restarting")
    await page.until(lambda state: state["deployment"]["observed"] == "restarting")
    page.reader.cancel()
    await asyncio.gather(page.reader, return_exceptions=True)
    await hubs.hub().close()
    hubs._hubs.clear()


async def test_a_page_that_does_not_keep_up_is_brought_up_to_date_at_once(
    driver: Driver, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hubs, "QUEUE_LENGTH", 5)
    await sync_to_async(driver.begin)()
    client = AsyncClient()
    await client.aforce_login(people.viewer, backend="django.contrib.auth.backends.ModelBackend")
    response: Any = await client.get("/api/live", {"topology": driver.topology.pk})
    content = aiter(response.streaming_content)
    while b"event: snapshot" not in await anext(content):
        pass
    for _ in range(30):
        driver.report()
    # The server continues to send while the page does not read.
    await asyncio.sleep(1.5)
    page = Page(content)
    await page.until(
        lambda state: (
            bool(state["runtime"]) and state["runtime"]["nodes"]["words"]["in"] == driver.records
        )
    )
    while "snapshot" not in page.heard:
        assert await page.next() is not None
    page.reader.cancel()
    await asyncio.gather(page.reader, return_exceptions=True)
    await hubs.hub().close()
    hubs._hubs.clear()


async def test_listening_to_nothing_in_particular_is_refused(people: People) -> None:
    client = AsyncClient()
    await client.aforce_login(people.viewer, backend="django.contrib.auth.backends.ModelBackend")
    response = await client.get("/api/live")
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "invalid"
