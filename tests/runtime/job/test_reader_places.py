"""Readers of a server open the files of its listed locations, and none besides."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
from millrace_runtime import MillraceError
from millrace_runtime.job.reader_places import check_allowed


def refusal(allowed: str | None, kind: str, **options: str) -> str | None:
    """Return the code with which a reader is refused."""
    node: Any = {"node": "orders", "params": {"reader": {"format": kind, "options": options}}}
    with contextlib.suppress(MillraceError):
        check_allowed(node, allowed)
        return None
    with pytest.raises(MillraceError) as caught:
        check_allowed(node, allowed)
    assert caught.value.node == "orders"
    return caught.value.code


@pytest.mark.parametrize(
    ("allowed", "path", "kind"),
    [
        (None, "/etc", "text"),
        ("/data", "/data", "parquet"),
        ("/data/", "/data//in/", "parquet"),
        ("/data", "/data/in/*.csv", "csv"),
        ("/data", "/data/day=?/part-*", "csv"),
        ("/data", "file:///data/in", "parquet"),
        ("file:///data", "file:/data/in", "parquet"),
        ("/other, s3a://lake/in", "s3a://lake/in/orders", "delta"),
        ("/data", "/data/..hidden/a..b", "text"),
    ],
)
def test_a_path_in_a_listed_location_is_read(allowed: str | None, path: str, kind: str) -> None:
    assert refusal(allowed, kind, path=path) is None


@pytest.mark.parametrize(
    "path",
    [
        "", "data", "/", "/etc", "/database", "/data/../etc", "/data/..", "/data/./../etc",
        "/data/{x,../secret}", "/data/{x,/etc}", "/data/[.][.]/etc", "/data/\\../etc",
        "/data/.\\./etc", "/data/%2e%2e/etc", "/data%2f..%2fetc", "/data/^x", "/data?/../etc",
        "/data#/../etc", "/data/x?/../../etc", "/data/x*/../../etc", "/data/.\n./etc",
        "/data/x\x00/etc", "s3a://lake/../in", "s3a://lake/in/../../other", "s3a://lake/input",
        "s3a://LAKE/in", "s3a://key@lake/in", "http://lake/in", "file://host/data", "FILES:/data",
        "jar:file:///data/in", "hdfs:/data", "//data/../etc",
    ],
)  # fmt: skip
def test_a_path_that_leads_elsewhere_is_refused(path: str) -> None:
    assert refusal("/data, s3a://lake/in", "text", path=path) == "reader_forbidden_path"


def test_a_link_that_leads_elsewhere_is_refused(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "a.csv").write_text("1\n", "utf-8")
    assert refusal(str(inside), "csv", path=f"{inside}/*.csv") is None
    (inside / "link.csv").symlink_to(outside / "a.csv")
    (inside / "folder").symlink_to(outside)
    for path in ("link.csv", "*.csv", "folder", "folder/a.csv", "fold*"):
        assert refusal(str(inside), "csv", path=f"{inside}/{path}") == "reader_forbidden_path"
    # A listed location may be a link itself.
    (tmp_path / "listed").symlink_to(inside)
    assert refusal(str(tmp_path / "listed"), "csv", path=f"{tmp_path}/listed/a.csv") is None


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("text", {"cleanSource": "delete"}),
        ("text", {"cleanSource": "archive", "sourceArchiveDir": "/etc"}),
        ("avro", {"avroSchemaUrl": "http://host/x"}),
        ("avro", {"avroSchema": '"int"'}),
        ("xml", {"rowValidationXSDPath": "http://host/x"}),
        ("xml", {"ROWVALIDATIONXSDPATH": "/etc/passwd"}),
        ("csv", {"basePath": "/"}),
        ("csv", {"paths": '["/etc"]'}),
        ("csv", {"compression": "java.lang.Object"}),
        ("csv", {"pathGlobFilter": "{x,../secret}"}),
        ("parquet", {"fs.s3a.endpoint": "http://host"}),
        ("json", {"mergeSchema": "true"}),
    ],
)
def test_an_option_that_is_not_listed_is_refused(kind: str, options: dict[str, str]) -> None:
    assert refusal("/data", kind, path="/data", **options) == "reader_option_forbidden"


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("csv", {"header": "true", "SEP": ";", "pathGlobFilter": "*.csv", "path": "/data"}),
        ("xml", {"rowTag": "row", "path": "/data", "maxFilesPerTrigger": "1"}),
        ("rate", {"rowsPerSecond": "5"}),
    ],
)
def test_options_of_formats_are_allowed(kind: str, options: dict[str, str]) -> None:
    assert refusal("/data", kind, **options) is None


@pytest.mark.parametrize("kind", ["kafka", "socket", "jdbc", "rate-micro-batch", "com.evil.Source"])
def test_a_format_that_is_not_of_files_is_refused(kind: str) -> None:
    assert refusal("/data", kind, path="/data") == "reader_forbidden"
    assert refusal("", "text", path="/data") == "reader_forbidden_path"
