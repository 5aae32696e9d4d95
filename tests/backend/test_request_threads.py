"""Threads of requests: one person's slow requests do not delay those of others."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx
import pytest
from millrace_backend.requesters import Requester, current_requester
from millrace_backend.threads import LIVE, REQUESTS, Full, SharedThreads

from .conftest import RedisServer
from .serving import Installation, Person, installed, serving
from .test_hostile_documents import invited

#: asks the broker, which takes five seconds if that does not respond
SLOW = "/api/workspaces/main/topics?search=x"


class Slow:
    """Calls that take until they are told to end."""

    def __init__(self, threads: SharedThreads) -> None:
        self.threads, self.end = threads, threading.Event()
        self.begun: list[str] = []
        self.tasks: list[asyncio.Task[None]] = []

    async def start(self, *names: str) -> None:
        """Start a call for each name, of the owner that its first letter names."""
        for name in names:
            whose = name[0].__str__
            call = self.threads.run(whose, lambda name=name: self._run(name))  # type: ignore[misc]
            self.tasks.append(asyncio.create_task(call))
            await asyncio.sleep(0.02)

    def _run(self, name: str) -> None:
        self.begun.append(name)
        self.end.wait(20)

    async def finish(self) -> None:
        self.end.set()
        await asyncio.gather(*self.tasks)


def test_an_owner_has_a_quarter_and_owners_take_turns() -> None:
    async def run() -> None:
        slow = Slow(SharedThreads("test", 8))
        await slow.start("a1", "a2", "a3", "a4", "a5", "b1", "b2", "b3", "c1", "c2", "d1")
        # The last thread is for an owner without one.
        assert slow.begun == ["a1", "a2", "b1", "b2", "c1", "c2", "d1"]
        await slow.start("d2", "e1")
        assert slow.begun[7:] == ["e1"]
        await slow.finish()
        assert sorted(slow.begun[8:]) == ["a3", "a4", "a5", "b3", "d2"]
        assert [each for each in slow.begun if each[0] == "a"] == ["a1", "a2", "a3", "a4", "a5"]

    asyncio.run(run())


def test_a_call_that_nobody_waits_for_gives_up_its_turn() -> None:
    async def run() -> None:
        slow, ran = Slow(SharedThreads("test", 4)), []
        left = asyncio.Event()

        async def leaving() -> None:
            await left.wait()
            raise ConnectionResetError

        await slow.start("a1")
        gone = asyncio.create_task(
            slow.threads.run("a".__str__, lambda: ran.append(1), leaving=leaving)
        )
        cancelled = asyncio.create_task(slow.threads.run("a".__str__, lambda: ran.append(2)))
        await asyncio.sleep(0.05)
        left.set()
        with pytest.raises(ConnectionResetError):
            await gone
        cancelled.cancel()
        await slow.start("a4")
        await slow.finish()
        assert (slow.begun, ran) == (["a1", "a4"], [])
        assert await slow.threads.run("a".__str__, lambda: "free") == "free"

    asyncio.run(run())


def test_calls_beyond_the_queue_are_refused() -> None:
    async def run() -> None:
        slow = Slow(SharedThreads("test", 4, waiting=3, waiting_of_one=2))
        await slow.start("a1", "a2", "a3")
        with pytest.raises(Full) as of_one:
            await slow.threads.run("a".__str__, lambda: None)
        await slow.start("b1", "b2")
        with pytest.raises(Full) as of_all:
            await slow.threads.run("b".__str__, lambda: None)
        assert (of_one.value.own, of_all.value.own) == (True, False)
        await slow.finish()

    asyncio.run(run())


def test_a_session_is_its_person_from_the_first_answer_on() -> None:
    scope = {"headers": [(b"cookie", b"sessionid=one; x=y")], "client": ("192.0.2.1", 1)}
    other = {"headers": [(b"cookie", b"sessionid=two")], "client": ("192.0.2.1", 1)}
    token = {"headers": [(b"authorization", b"Token  abc")], "client": ("192.0.2.1", 1)}
    assert {Requester(each).owner() for each in (scope, other, token)} == {"address 192.0.2.1"}
    Requester(scope).is_account("7")
    Requester(token).is_account("7")
    assert Requester(scope).owner() == Requester(token).owner() == "account 7"
    assert Requester(other).owner() == "address 192.0.2.1"
    Requester(scope).is_account("")
    assert Requester(scope).owner() == "address 192.0.2.1"


def test_whoever_has_their_share_gets_no_more_by_another_token() -> None:
    def by(token: bytes) -> Requester:
        return Requester({"headers": [(b"authorization", token)], "client": ("192.0.2.2", 1)})

    async def run() -> None:
        threads, ended = SharedThreads("test", 8), threading.Event()
        begun: list[bytes] = []

        def answer(requester: Requester, token: bytes) -> None:
            requester.is_account("8")
            begun.append(token)
            ended.wait(20)

        async def send(token: bytes) -> None:
            requester = by(token)
            current_requester.set(requester)
            await threads.run(requester.owner, lambda: answer(requester, token))

        first = [asyncio.create_task(send(b"token one")) for _ in range(3)]
        await asyncio.sleep(0.1)
        with pytest.raises(Full):
            await send(b"token two")
        # Two run, and the third one waits with them, as it is known whose it is.
        assert begun == [b"token one"] * 2
        ended.set()
        await asyncio.gather(*first)
        assert len(begun) == 3

    asyncio.run(run())


def test_live_events_and_requests_do_not_wait_for_each_other() -> None:
    async def run() -> None:
        for slow, others in ((Slow(LIVE), REQUESTS), (Slow(REQUESTS), LIVE)):
            await slow.start(*(letter + str(number) for letter in "abcdef" for number in range(20)))
            answer = others.run("z".__str__, lambda: "quick")
            assert await asyncio.wait_for(answer, 2) == "quick"
            await slow.finish()

    asyncio.run(run())


# ---- a server ---------------------------------------------------------------------------------


@contextmanager
def silent_broker() -> Iterator[str]:
    """A port that accepts connections and answers nothing."""
    with socket.create_server(("127.0.0.1", 0), backlog=100) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture(scope="module")
def people(
    redis_server: RedisServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Installation, Person, list[str]]]:
    """An installation, its admin, and the sign-in tokens of two people."""
    folder = tmp_path_factory.mktemp("data")
    with silent_broker() as broker:
        made = installed(folder, redis_server.url, KAFKA_BOOTSTRAP_SERVERS=broker)
        with serving(made, folder):
            admin = Person(made.address, made.token)
            yield made, admin, [invited(admin, name) for name in ("ann", "eve")]
            admin.close()


def longest(person: Person, requests: int) -> float:
    """Return the seconds that the slowest of some requests took, one after the other."""
    times = []
    for _ in range(requests):
        began = time.monotonic()
        assert person.send("GET", "/api/session").status_code == 200
        times.append(time.monotonic() - began)
    return max(times)


def flood(
    made: Installation, person: Person, requests: int, meanwhile: Callable[[], None]
) -> list[httpx.Response]:
    """Send slow requests at the same time, call a function, and leave.

    Returns the responses until then.
    """

    async def send() -> list[httpx.Response]:
        limits = httpx.Limits(max_connections=requests)
        async with httpx.AsyncClient(
            base_url=made.address, cookies=person.browser.cookies, limits=limits, timeout=60
        ) as browser:
            tasks = [asyncio.create_task(browser.get(SLOW)) for _ in range(requests)]
            await asyncio.wait(tasks, timeout=2)
            await asyncio.to_thread(meanwhile)
            found = [each.result() for each in tasks if each.done()]
            for each in tasks:
                each.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            return found

    return asyncio.run(send())


@pytest.mark.services
def test_slow_requests_of_one_person_delay_nobody_else(
    people: tuple[Installation, Person, list[str]],
) -> None:
    made, admin, tokens = people
    ann, eve = (Person(made.address, token) for token in tokens)
    topology = admin.send("POST", "/api/workspaces/main/topologies", name="One").json()["id"]

    def others() -> None:
        assert longest(ann, 20) < 1
        with ann.browser.stream("GET", "/api/live", params={"topology": topology}) as stream:
            lines = stream.iter_lines()
            while next(lines) != "event: snapshot":
                pass
            began = time.monotonic()
            admin.send("PATCH", f"/api/topologies/{topology}", name="Two")
            while next(lines) != "event: topology.changed":
                pass
            assert time.monotonic() - began < 1

    done = flood(made, eve, 64, others)
    assert len(done) < 32
    # Those that wait give up their turn when their client leaves: 64 would take over 20 seconds.
    assert longest(eve, 1) < 8
    ann.close()
    eve.close()


@pytest.mark.services
def test_too_many_requests_of_one_person_are_refused(
    people: tuple[Installation, Person, list[str]],
) -> None:
    made, admin, _ = people
    done = flood(made, admin, 250, lambda: None)
    refused = [each for each in done if each.status_code == 429]
    assert len(refused) >= 30
    assert {each.headers["Retry-After"] for each in refused} == {"2"}
    assert {each.json()["error"]["code"] for each in refused} == {"requests_of_one"}
