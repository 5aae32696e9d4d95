"""The options of `compile` that size kubernetes.yaml."""

from __future__ import annotations

import pytest
from millrace_compiler.export.kubernetes import Profile, ProfileError

from cli.arguments import parser
from cli.compiling import profile_of


def given(*options: str) -> Profile:
    return profile_of(parser().parse_args(["compile", "doc.json", "-o", "x", *options]), "Orders")


def test_every_option_is_in_the_profile() -> None:
    options = {
        "--name": "a", "--image": "r/a:1", "--namespace": "n", "--bootstrap-servers": "k:1",
        "--executors": 3, "--cores": 4, "--memory-mb": 2048, "--checkpoint": "s3a://b/x",
        "--volume": "1Gi", "--storage-class": "fast", "--secret": "s",
    }  # fmt: skip
    found = given(*(str(part) for pair in options.items() for part in pair))
    for option, value in options.items():
        assert getattr(found, option.removeprefix("--").replace("-", "_")) == value


def test_without_options_it_is_one_pod_named_after_the_topology() -> None:
    assert given() == Profile("orders")


def test_no_cores_are_refused() -> None:
    with pytest.raises(ProfileError, match="1 core"):
        given("--cores", "0")
