"""Hostile documents are answered in bounded time and do not delay other people."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count, cycle
from statistics import quantiles
from typing import Any

import pytest

from tests.compiler.kit import document, line, node, sink, stream
from tests.served import running_analyzer

from .conftest import RedisServer
from .serving import Installation, Person, installed, serving

pytestmark = [pytest.mark.services, pytest.mark.spark, pytest.mark.slow, pytest.mark.alone]

#: seconds within which every document is answered, including the wait for a process
ANSWERED = 20
#: seconds between the compilations of a person who is typing
PAUSE = 0.15
_numbers = count()


def nested(levels: int) -> str:
    """An Avro schema whose type doubles with each level."""
    kind: Any = "string"
    for level in range(levels):
        both = [{"name": name, "type": kind if name == "a" else f"R{level - 1}"} for name in "ab"]
        both = both if level else [{"name": name, "type": "string"} for name in "ab"]
        kind = {"type": "record", "name": f"R{level}", "fields": both}
    return json.dumps(kind)


def computed(text: str) -> Any:
    """A filter with an expression that no cache has seen."""
    return line(node("keep", "filter", predicate=f"{text} and value <> '{next(_numbers)}'"))


def hostile() -> list[Any]:
    """One document for each way to keep a server busy."""
    comment = {"format": "protobuf", "schema": "/* " * 300_000}
    avro = {"format": "avro", "schema": nested(26)}
    pattern = stream() | {"params": {**stream()["params"], "topic_pattern": "(a+)+c"}}
    pattern["params"].pop("topics")
    return [
        document([stream(value=comment), sink()], ["in > out"]),
        document([stream(value=avro), sink()], ["in > out"]),
        document([pattern, sink("a" * 40)], ["in > out"]),
        computed("levenshtein(repeat('a', 33333), repeat('b', 33333)) > 1"),
        computed("aggregate(sequence(1, 100000000), 0L, (a, x) -> a + x) > 1"),
        computed("(" * 5_000 + "true" + ")" * 5_000),
        computed(" + ".join(["1"] * 20_000) + " > 1"),
        document([stream(label="x" * 4_000_000), sink()], ["in > out"]),
        document(
            [stream(), *(node(f"n{n}", "filter", predicate="true") for n in range(5_000))], []
        ),
    ]


def harmless() -> Any:
    """Return what another person draws meanwhile."""
    return computed("length(value) > 3")


@pytest.fixture(scope="module")
def people(
    redis_server: RedisServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Installation, list[str]]]:
    """An installation with an analyzer, and the sign-in tokens of three people."""
    folder = tmp_path_factory.mktemp("data")
    path = str(folder / "services" / "analyzer")
    installation = installed(folder, redis_server.url, MILLRACE_ANALYZER=path)
    with running_analyzer(path), serving(installation, folder):
        admin = Person(installation.address, installation.token)
        tokens = [invited(admin, name) for name in ("ann", "bob", "eve")]
        admin.close()
        yield installation, tokens


def invited(admin: Person, name: str) -> str:
    """Add a member and return the token of the sign-in link."""
    made = admin.send("POST", "/api/workspaces/main/members", username=name, role="editor")
    assert made.status_code == 201, made.text
    return str(made.json()["sign_in_link"]).rsplit("/", 1)[1]


def compile_seconds(person: Person, shown: Any) -> tuple[float, Any]:
    """Compile a document; return the seconds it took and the response."""
    began = time.monotonic()
    answer = person.send("POST", "/api/workspaces/main/compile", document=shown, revision=1)
    took = time.monotonic() - began
    assert answer.status_code in {200, 400, 413}, answer.text[:500]
    return took, answer.json()


def compiling(person: Person, seconds: float) -> list[float]:
    """Compile harmless documents for some seconds and return the duration of each."""
    until, found = time.monotonic() + seconds, []
    while time.monotonic() < until:
        took, answer = compile_seconds(person, harmless())
        assert [each["code"] for each in answer["diagnostics"]] == []
        found.append(took)
        time.sleep(PAUSE)
    return found


def p95(times: Sequence[float]) -> float:
    """Return the 95th percentile of at least twenty durations."""
    return quantiles(times, n=20)[-1]


def test_hostile_documents_are_answered_in_bounded_time(
    people: tuple[Installation, list[str]],
) -> None:
    installation, tokens = people
    good, *attackers = (Person(installation.address, token) for token in tokens)
    compiling(good, 3)
    ended = threading.Event()

    def attack(person: Person, first: int) -> float:
        longest = 0.0
        documents = hostile()
        for shown in cycle(documents[first:] + documents[:first]):
            if ended.is_set():
                return longest
            longest = max(longest, compile_seconds(person, shown)[0])
        return longest

    with ThreadPoolExecutor(6) as threads:
        running = [
            threads.submit(attack, attackers[number % 2], 3 * (number // 2)) for number in range(6)
        ]
        try:
            meanwhile = compiling(good, 15)
        finally:
            ended.set()
        longest = max(each.result() for each in running)
    for person in (good, *attackers):
        person.close()
    print(
        f"p95 of a compilation under attack: {p95(meanwhile) * 1000:.0f} ms "
        f"(at most {max(meanwhile) * 1000:.0f} ms); hostile ones up to {longest:.1f} s"
    )
    assert longest < ANSWERED
    assert len(meanwhile) >= 20
    assert p95(meanwhile) < 2.0
