"""Checkpoints outside local folders: in an object store, and on another Hadoop file system."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from millrace_runtime.checkpoint import lease, storage
from millrace_runtime.checkpoint.checkpoint import LAYOUT, location_of
from millrace_runtime.checkpoint.storage import StoredPath
from millrace_runtime.errors import MillraceError
from millrace_runtime.job.explaining import explain
from millrace_runtime.stores import reader

from tests.compiler.kit import Raw, document, node, sink, stream
from tests.runtime import s3
from tests.runtime.changing import Changing, Pair, by_key, everything

ON_SPARK = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]


def test_folders_of_this_machine_are_told_from_other_storage() -> None:
    assert storage.is_local("/data/x")
    assert storage.is_local("file:///data/x")
    assert not storage.is_local("s3a://bucket/x")
    assert storage.folder_of("file:///data/x") == Path("/data/x")
    assert storage.folder_of("hdfs://name:8020/x") == StoredPath("hdfs://name:8020/x")


@pytest.mark.parametrize(
    "location",
    [
        "s3a://key:secret@bucket/x", "S3A://bucket/x", "s3a://bucket/a b", "s3a://b/x?y=1",
        "http://host/x", "file://../../x", "file:///a/../../etc",
    ],
)  # fmt: skip
def test_a_location_with_a_password_or_without_sense_is_refused(location: str) -> None:
    with pytest.raises(MillraceError, match="without a user or password"):
        storage.require_location(location)


def test_parts_of_a_stored_path_are_those_of_its_uri() -> None:
    path = StoredPath("s3a://bucket/x/") / "stream" / "offsets"
    assert (str(path), path.name) == ("s3a://bucket/x/stream/offsets", "offsets")
    assert path.with_name("commits") == StoredPath("s3a://bucket/x/stream/commits")


def test_an_address_of_the_environment_is_that_of_one_host_for_all_buckets() -> None:
    settings = storage.spark_settings("s3a://bucket/x")
    assert "spark.hadoop.fs.s3a.path.style.access" not in settings
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9000")
        patched.setenv("AWS_REGION", "eu-central-1")
        settings = storage.spark_settings("s3a://bucket/x")
        assert settings["spark.hadoop.fs.s3a.path.style.access"] == "true"
        assert settings["spark.hadoop.fs.s3a.endpoint.region"] == "eu-central-1"
        assert not any("s3a" in each for each in storage.spark_settings("hdfs://name/x"))


def test_storage_that_is_away_is_no_broker_that_is_away() -> None:
    timed_out = "org.apache.hadoop.fs.s3a.AWSApiCallTimeoutException: getFileStatus: timed out"
    for error in (storage.StorageError("refused"), RuntimeError(timed_out)):
        assert explain(error).code == "storage_unreachable"


@pytest.fixture(scope="module", params=["viewfs", pytest.param("s3a", marks=pytest.mark.long)])
def changing(
    request: pytest.FixtureRequest, broker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Changing]:
    folder = tmp_path_factory.mktemp("storage")
    if request.param == "viewfs":
        settings = {
            f"spark.hadoop.fs.viewfs.mounttable.test.link./{s3.BUCKET}": folder.as_uri(),
            # Set explicitly: a JVM that a simulation started keeps the simulation's file manager.
            storage.FILE_MANAGER: "org.apache.spark.sql.execution.streaming.checkpointing"
            ".FileContextBasedCheckpointFileManager",
        }
        made = Changing(broker.address, f"viewfs://test/{s3.BUCKET}", settings)
        yield made
        made.close()
        return
    with s3.server(folder) as server, pytest.MonkeyPatch.context() as patched:
        patched.setenv("HADOOP_CONF_DIR", str(server.configuration))
        s3.end_java()
        made = Changing(broker.address, f"s3a://{s3.BUCKET}")
        yield made
        made.close()


def summed(pair: Pair, *before: Raw, type_: str = "BIGINT") -> Raw:
    steps = [
        stream("in", [pair.source]), *before,
        node("sum", "aggregate", type=type_, initializer=f"CAST(0 AS {type_})",
             aggregator=f"agg + CAST(value AS {type_})"),
        node("updates", "to_stream"),
        node("text", "map_values", value="to_json(named_struct('v', value))"),
        sink("out", topic=pair.sink),
    ]  # fmt: skip
    edges = [f"{a['id']} > {b['id']}" for a, b in itertools.pairwise(steps)]
    return document(steps, edges)


def values(pair: Pair) -> list[Any]:
    return [value["v"] for _, value in pair.new()]


class TestOnSpark:
    pytestmark = ON_SPARK

    def test_files_are_read_written_listed_and_created_once(
        self, changing: Changing, tmp_path: Path
    ) -> None:
        folder = StoredPath(changing.location(tmp_path))
        assert not folder.exists()
        assert list(folder.glob("*")) == []
        file = folder / "deep" / "notes.json"
        file.write_text("one")
        file.write_text("twö")
        assert file.read_text() == "twö"
        assert abs(file.modified() - time.time()) < 60
        assert [each.name for each in folder.glob("de*/*.json")] == ["notes.json"]
        assert not file.begin("three")
        assert (folder / "owner").begin("first")
        assert not (folder / "owner").begin("second")
        assert (folder / "owner").read_text() == "first"
        file.unlink()
        file.unlink(missing_ok=True)
        with pytest.raises(FileNotFoundError):
            file.read_text()
        storage.remove_folder(folder)
        assert not folder.exists()

    def test_folders_that_versions_left_are_listed_and_deleted_and_no_others(
        self, changing: Changing, tmp_path: Path
    ) -> None:
        folder = StoredPath(changing.location(tmp_path))
        for name in ("stream", "stream-2", "owners"):
            (folder / name / "0").write_text("12345678")
        kept = [{"stream": "stream"}, {"stream": "stream-2"}]
        notes = {"layout": LAYOUT, "stream": "stream-2", "kept": kept}
        (folder / "stores.json").write_text(json.dumps(notes))
        answer = reader.answer
        asked = {"checkpoint": str(folder), "names": ["stream", "stream-2", "owners", "nothing"]}
        sizes = answer(changing.spark, cast(Any, {"do": "kept_sizes", **asked}))
        assert sizes == {"answer": {"bytes": {"stream": 8}}}
        assert answer(changing.spark, cast(Any, {"do": "delete_kept", **asked})) == {"answer": {}}
        assert {each.name for each in folder.glob("*")} == {"stream-2", "owners", "stores.json"}
        away: Any = {**asked, "checkpoint": "nowhere://bucket/x", "do": "kept_sizes"}
        assert answer(changing.spark, away)["answer"]["error"]["code"] == "storage_unreachable"

    def test_a_change_keeps_refuses_moves_and_resets_state_as_in_a_folder(
        self, changing: Changing, broker: Any, tmp_path: Path
    ) -> None:
        pair = Pair(broker.address)
        notes = ["--notes", str(tmp_path / "copies")]
        pair.write([("a", "2"), ("b", "5")])
        changing.run(summed(pair), tmp_path, more=notes)
        pair.write([("a", "3")])
        with pytest.raises(MillraceError, match="its values were BIGINT, now DOUBLE") as refused:
            changing.run(summed(pair, type_="DOUBLE"), tmp_path)
        assert refused.value.code == "state_undecided"
        spread = node("spread", "repartition", partitions=3)
        changing.run(summed(pair, spread), tmp_path, more=notes)
        rows = [(row["key"], row["value"]) for row in changing.rows(tmp_path, "sum")]
        assert rows == [('"a"', "5"), ('"b"', "5")]
        copied = json.loads((tmp_path / "copies" / "stores.json").read_text())
        assert copied["stream"].startswith("stream-2")
        assert (tmp_path / "copies" / "arrived").exists()
        assert location_of(tmp_path / "copies") == changing.location(tmp_path)
        assert (StoredPath(changing.location(tmp_path)) / "stream" / "offsets").is_dir()
        changing.run(
            summed(pair, spread), tmp_path, begin={"reset": True, "from": "earliest"}, more=notes
        )
        assert sorted(values(pair)) == [2, 2, 5, 5, 5, 5]

    def test_a_checkpoint_that_is_gone_is_refused(
        self, changing: Changing, broker: Any, tmp_path: Path
    ) -> None:
        pair = Pair(broker.address)
        pair.write([("a", "2")])
        changing.run(summed(pair), tmp_path)
        storage.remove_folder(StoredPath(changing.location(tmp_path)))
        with pytest.raises(MillraceError, match="is missing") as refused:
            changing.run(summed(pair), tmp_path, more=["--continues"])
        assert refused.value.code == "checkpoint_gone"

    def test_a_file_system_that_spark_does_not_know_is_refused(self, changing: Changing) -> None:
        del changing
        with pytest.raises(MillraceError, match="no file system for nowhere") as refused:
            storage.require_reachable("nowhere://bucket/x")
        assert refused.value.code == "storage_unsupported"

    def test_a_lease_is_renewed_and_refuses_others_until_it_is_released(
        self, changing: Changing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(lease, "RENEW_SECONDS", 0.1)
        location = changing.location(tmp_path)
        lost: list[MillraceError] = []
        first = lease.taken(location, "first", lost.append)
        assert first is not None
        with pytest.raises(MillraceError, match="run first") as refused:
            lease.taken(location, "second", lost.append)
        assert refused.value.code == "checkpoint_in_use"
        # What says who owns the checkpoint is written once: a replaced file may be missing.
        owner = StoredPath(location) / "owners" / "1"
        assert json.loads(owner.read_text()) == json.loads(first.text()) | {"renewals": 0}
        assert json.loads(owner.with_name("1.renewals").read_text())["renewals"] > 0
        first.release()
        third = lease.taken(location, "third", lost.append)
        assert third is not None
        third.release()
        assert (first.number, third.number, lost) == (1, 2, [])

    def test_an_owner_that_does_not_renew_loses_the_checkpoint_and_ends(
        self, changing: Changing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(lease, "SECONDS", 1.0)
        monkeypatch.setattr(lease, "RENEW_SECONDS", 2.0)
        location = changing.location(tmp_path)
        ended = threading.Event()
        lost: list[str] = []

        def end(error: MillraceError) -> None:
            lost.append(error.code)
            ended.set()

        paused = lease.taken(location, "paused", end)
        assert paused is not None
        heir = lease.taken(location, "heir", end)
        assert heir is not None
        assert heir.number == paused.number + 1
        assert ended.wait(30)
        heir.release()
        assert lost == ["checkpoint_lease_lost"]

    @pytest.mark.long
    def test_state_of_all_kinds_moves_to_more_tasks(
        self, changing: Changing, broker: Any, tmp_path: Path
    ) -> None:
        grown, never = Pair(broker.address, 2), Pair(broker.address, 4)
        first = [(f"key-{n}", str(n)) for n in range(12)]
        for pair in (grown, never):
            pair.write(first, 1_000)
        changing.run(everything(grown, 2), tmp_path / "grown")
        grown.grow(4)
        for pair in (grown, never):
            pair.write(first, 12_000)
            pair.write(first, 40_000)
        changing.run(everything(grown, 4), tmp_path / "grown")
        changing.run(everything(never, 4), tmp_path / "never")
        assert by_key(grown) == by_key(never)
