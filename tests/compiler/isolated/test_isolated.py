"""Documents compiled in separate processes: limits, replacement, fair shares."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest
from millrace_compiler.isolated import Limits, Pool

from tests.compiler.kit import OneTypeAnalyzer, compiled, document, line, node, sink, stream
from tests.served import serving_analyzer

RUNTIME = Path(__file__).parents[3] / "runtime"
GOOD = line(node("keep", "filter", predicate="true"))
#: the reader's regular expression takes minutes for this
ENDLESS = document(
    [stream(value={"format": "protobuf", "schema": "/* " * 300_000}), sink()], ["in > out"]
)


@pytest.fixture(scope="module")
def analyzer() -> Iterator[str]:
    with serving_analyzer(OneTypeAnalyzer()) as address:
        yield address


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    found = Pool(size=2, limits=Limits(seconds=20))
    yield found
    found.close()


def codes(answer: Any) -> list[str]:
    return [each["code"] for each in answer["diagnostics"]]


def children() -> set[int]:
    return {each.pid for each in psutil.Process().children()}


def test_a_process_of_its_own_answers_as_the_compiler_does(pool: Pool, analyzer: str) -> None:
    assert pool.compile(GOOD, analyzer) == compiled(GOOD).to_json()


def test_a_bundle_is_written_into_its_folder(pool: Pool, analyzer: str, tmp_path: Path) -> None:
    assert pool.bundle(GOOD, analyzer, tmp_path, RUNTIME, None) == []
    expected = (compiled(GOOD).code or {})["job.py"]
    assert (tmp_path / "job.py").read_text("utf-8") == expected
    assert (tmp_path / "millrace_runtime" / "__init__.py").is_file()


def test_of_a_refused_document_nothing_is_written(
    pool: Pool, analyzer: str, tmp_path: Path
) -> None:
    refused = line(node("keep", "filter"))
    found = pool.bundle(refused, analyzer, tmp_path, RUNTIME, None)
    assert [each["code"] for each in found] == ["parameter_missing"]
    assert list(tmp_path.iterdir()) == []


def test_an_endless_document_is_stopped_at_its_deadline(pool: Pool, analyzer: str) -> None:
    pool.compile(GOOD, analyzer)
    before = children()
    started = time.monotonic()
    answer = pool.compile(ENDLESS, analyzer, limits=Limits(seconds=1))
    assert time.monotonic() - started < 10
    assert codes(answer) == ["compile_time"]
    assert "longer than 1 s" in answer["diagnostics"][0]["message"]
    assert (answer["code"], answer["plan"], answer["ports"]) == (None, None, {})
    assert not before <= children()
    assert codes(pool.compile(GOOD, analyzer)) == []


def test_a_document_that_needs_too_much_memory_is_stopped(analyzer: str) -> None:
    small = Pool(size=1, limits=Limits(seconds=30, memory_megabytes=64))
    try:
        assert codes(small.compile(GOOD, analyzer)) == []
        value = {"format": "protobuf", "schema": "aa bb " * 1_000_000}
        large = document([stream(value=value), sink()], ["in > out"])
        assert codes(small.compile(large, analyzer)) == ["compile_memory"]
        assert codes(small.compile(GOOD, analyzer)) == []
    finally:
        small.close()


def test_an_answer_that_is_too_large_is_not_read(pool: Pool, analyzer: str) -> None:
    answer = pool.compile(GOOD, analyzer, limits=Limits(output_megabytes=0))
    assert codes(answer) == ["compile_output"]


@pytest.mark.slow
@pytest.mark.alone
def test_documents_without_end_of_one_do_not_hold_anothers(analyzer: str) -> None:
    shared = Pool(size=2, limits=Limits(seconds=2, waiting_seconds=30))
    shared.warm().join()
    try:
        with ThreadPoolExecutor(4) as threads:
            hostile = [
                threads.submit(shared.compile, ENDLESS, analyzer, owner="one") for _ in range(3)
            ]
            time.sleep(0.2)
            for _ in range(3):
                assert codes(shared.compile(GOOD, analyzer, owner="other")) == []
            # Without shares, two of them would have been answered before the first good one.
            assert sum(each.done() for each in hostile) < 2
            assert {codes(each.result())[0] for each in hostile} == {"compile_time"}
    finally:
        shared.close()


@pytest.mark.slow
@pytest.mark.alone
def test_documents_without_end_of_several_do_not_hold_anothers(analyzer: str) -> None:
    shared = Pool(size=2, limits=Limits(seconds=2, waiting_seconds=30))
    shared.warm().join()
    try:
        with ThreadPoolExecutor(4) as threads:

            def hostile() -> list[Future[Any]]:
                return [
                    threads.submit(shared.compile, ENDLESS, analyzer, owner=owner)
                    for owner in ("one", "two", "three")
                ]

            # After the first round, the pool knows whose documents are slow.
            assert {codes(each.result())[0] for each in hostile()} == {"compile_time"}
            while len(shared.pids) < shared.size:
                time.sleep(0.05)
            again = hostile()
            time.sleep(0.2)
            for _ in range(3):
                assert codes(shared.compile(GOOD, analyzer, owner="other")) == []
            # Without a process reserved for others, two of them would have been answered.
            assert sum(each.done() for each in again) < 2
            assert {codes(each.result())[0] for each in again} == {"compile_time"}
    finally:
        shared.close()


@pytest.mark.slow
@pytest.mark.alone
def test_the_last_free_process_is_for_those_who_hold_none(
    analyzer: str,
) -> None:
    shared = Pool(size=4, limits=Limits(seconds=5, waiting_seconds=30))
    shared.warm().join()
    try:
        workers = [psutil.Process(pid) for pid in shared.pids]
        usual = min(worker.nice() for worker in workers)
        with ThreadPoolExecutor(6) as threads:
            hostile = [
                threads.submit(shared.compile, ENDLESS, analyzer, owner=owner)
                for owner in ("one", "two") * 3
            ]
            time.sleep(0.2)
            assert codes(shared.compile(GOOD, analyzer, owner="other")) == []
            while sum(worker.nice() > usual for worker in workers if worker.is_running()) < 3:
                assert not any(each.done() for each in hostile)
                time.sleep(0.05)
            assert codes(shared.compile(GOOD, analyzer, owner="other")) == []
            assert not any(each.done() for each in hostile)
            assert {codes(each.result())[0] for each in hostile} <= {"compile_time"}
    finally:
        shared.close()


def test_who_has_many_waiting_is_refused_at_once(analyzer: str) -> None:
    narrow = Pool(size=1, limits=Limits(seconds=2, waiting_seconds=0.5))
    try:
        narrow.compile(GOOD, analyzer)
        with ThreadPoolExecutor(10) as threads:
            asked = [threads.submit(narrow.compile, ENDLESS, analyzer) for _ in range(10)]
            found = [codes(each.result())[0] for each in asked]
    finally:
        narrow.close()
    assert sorted(found) == ["compile_busy", "compile_time", *["compile_waiting"] * 8]


def test_the_processes_know_no_secret_of_the_server(
    analyzer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://user:secret@host/db")
    alone = Pool(size=1)
    try:
        before = children()
        alone.compile(GOOD, analyzer)
        environments = [psutil.Process(each).environ() for each in children() - before]
        assert environments
        for each in environments:
            assert "DATABASE_URL" not in each
            assert "PYTHONPATH" in each
    finally:
        alone.close()


def test_another_process_is_started_only_for_a_request_that_has_waited(analyzer: str) -> None:
    shared = Pool(size=2, spare=1, patience=60.0)
    try:
        with ThreadPoolExecutor() as threads:
            found = [threads.submit(shared.compile, GOOD, analyzer, owner=n) for n in ("a", "b")]
            assert all(each.result()["code"] for each in found)
        assert len(shared.pids) == 1
    finally:
        shared.close()


def test_processes_that_cannot_be_started_are_an_error(
    analyzer: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = Pool(size=2, limits=Limits(waiting_seconds=60))
    for executable in ("/bin/false", str(tmp_path / "absent")):
        monkeypatch.setattr("sys.executable", executable)
        began = time.monotonic()
        assert codes(broken.compile(GOOD, analyzer)) == ["compile_process"]
        assert time.monotonic() - began < 20
    monkeypatch.undo()
    assert broken.compile(GOOD, analyzer)["code"]
    broken.close()


def test_a_closed_pool_leaves_no_process(analyzer: str) -> None:
    closed = Pool(size=2)
    closed.warm().join()
    closed.compile(GOOD, analyzer)
    own = {psutil.Process(pid) for pid in closed.pids}
    assert len(own) == 2
    closed.close()
    assert not any(process.is_running() for process in own)


def test_the_same_document_is_compiled_once_as_long_as_it_has_no_errors(analyzer: str) -> None:
    from millrace_compiler.isolated.worker import Kept

    def request(raw: Any, **more: Any) -> Any:
        common = {"analyzer": analyzer, "seconds": 20, "registries": True, "real_time": False}
        return {"document": raw, **common, "dialect": "exact", "partitions": {}, **more}

    kept = Kept(most=2)
    first = kept.of(request(GOOD))
    assert kept.of(request(dict(GOOD), conditions=[])) is first
    assert kept.of(request(GOOD, partitions={"in": 3})) is not first
    assert kept.of(request(GOOD, real_time=True)) is not first
    assert kept.of(request(GOOD)) is not first, "only the last two are kept"
    wrong = request(line(node("keep", "filter")))
    assert kept.of(wrong) is not kept.of(wrong)
    assert Kept(seconds=0).of(request(GOOD)) is not first
