"""Random topologies: a seed keeps its meaning, and the wide generator covers every kind."""

from __future__ import annotations

import hashlib
import json

import pytest
from millrace_compiler.declarations.operator import registry

from oracle import fuzz


@pytest.mark.parametrize(
    ("wide", "known"), [(False, "1a863c89c4055fd7"), (True, "f9c6f96f1fda0807")]
)
def test_a_seed_means_the_same_topologies_for_ever(wide: bool, known: str) -> None:
    """A generator that draws differently must be a new one, with its own letter."""
    digest = hashlib.sha256()
    for seed in (1, 11):
        for number in range(60):
            digest.update(json.dumps(fuzz.scenario(seed, number, wide=wide)).encode())
    assert digest.hexdigest()[:16] == known


def test_a_wide_seed_gives_the_same_topology_again() -> None:
    assert fuzz.scenario(5, 7, wide=True) == fuzz.scenario(5, 7, wide=True)
    assert fuzz.scenario(5, 7, wide=True)["id"] == "X5-0007"


def test_the_wider_generator_draws_every_kind_of_node() -> None:
    drawn = {
        node["kind"]
        for number in range(300)
        for node in fuzz.scenario(1, number, wide=True)["topology"]["nodes"]
    }
    # The class of a global store is Python, and the oracle has no twin of one.
    assert drawn == set(registry()) - {"source.global_store"}


def test_times_are_as_often_as_long_and_a_millisecond_off_at_most() -> None:
    for number in range(40):
        short = fuzz.scenario(5, number, wide=True)
        long = fuzz.scenario(5, number, wide=True, times=1000)
        assert long["id"] == f"X5x1000-{number:04d}"
        assert long["topology"]["edges"] == short["topology"]["edges"]
        for one, other in zip(short["inputs"], long["inputs"], strict=True):
            assert abs(other.get("timestamp", 0) - 1000 * one.get("timestamp", 0)) <= 1
    suppressed = fuzz.scenario(3, 5, wide=True, times=1000)["topology"]["nodes"]
    assert {"until": "time_limit", "limit": 2000} in [node["params"] for node in suppressed]
