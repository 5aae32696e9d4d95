"""Locations of checkpoints are those of known file systems, written in one way."""

from __future__ import annotations

import pytest
from millrace_compiler.connections import locations


@pytest.mark.parametrize(
    "location",
    [
        "s3a://bucket/x", "s3a://bucket/x/", "s3a://bucket", "hdfs://host:8020/a/b",
        "viewfs://cluster/a", "abfss://box@account.dfs.core.windows.net/a", "gs://bucket/a.b/c-d",
    ],
)  # fmt: skip
def test_a_uri_of_a_known_file_system_is_a_location(location: str) -> None:
    assert locations.problem_of_uri(location) is None
    assert locations.problem_of(location) is None


@pytest.mark.parametrize(
    ("location", "says"),
    [
        ("http://host/x", "scheme http"),
        ("https://host/x", "scheme https"),
        ("ftp://host/x", "scheme ftp"),
        ("har://hdfs-host/x", "scheme har"),
        ("S3A://bucket/x", "scheme S3A"),
        ("jar:file:///x", "not"),
        ("file://../../x", "file"),
        ("file://host/x", "file"),
        ("file:///a/../../etc", "file"),
        ("s3a://../x", "no valid bucket"),
        ("s3a://key:secret@bucket/x", "no valid bucket"),
        ("s3a://bucket/../x", "“..”"),
        ("s3a://bucket/./x", "“..”"),
        ("s3a://bucket//x", "empty part"),
        ("s3a://bucket/%2e%2e/x", "percent"),
        ("s3a://bucket/{a,b}", "wildcard"),
        ("s3a://bucket/a b", "space"),
        ("s3a://bucket/x?y=1", "query"),
        ("s3a:///x", "no valid bucket"),
        ("s3a://bucket/a\\..\\b", "percent"),
        ("", "not"),
    ],
)
def test_any_other_location_is_refused_with_what_is_wrong(location: str, says: str) -> None:
    problem = locations.problem_of_uri(location)
    assert problem is not None
    assert says in problem or location.startswith("file")


def test_a_folder_of_this_machine_has_an_absolute_path() -> None:
    for good in ("/data/x", "data/x", "../x", "file:///data/x"):
        assert locations.problem_of(good) is None
    for bad in ("file://../../x", "file://host/x", "file:///a/../x", "file:///a%20b", "jar:x", ""):
        assert locations.problem_of(bad) is not None
