"""The examples of the operators' pages: what Kafka Streams did with them, and Spark does the same.

In Spark a third of them run; with MILLRACE_CONFORMANCE=whole all. `./millrace golden` runs Kafka
Streams again, and writes pages, pictures and catalog after it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest
from millrace_compiler.catalog.examples import FOLDER
from millrace_compiler.catalog.generate import main as write_pages
from millrace_compiler.declarations.operator import registry
from millrace_compiler.documents.json_text import text_of

WRITING = os.environ.get("MILLRACE_WRITE_GOLDENS") == "1"
KINDS = list(registry())
SHOWN = KINDS if os.environ.get("MILLRACE_CONFORMANCE") == "whole" else KINDS[::3]


def scenario(kind: str) -> Any:
    found: Any = json.loads((FOLDER / f"{kind}.json").read_text("utf-8"))
    return found


def test_every_kind_has_an_example_with_a_node_of_its_kind() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.json")) == sorted(KINDS)
    for kind in KINDS:
        assert kind in [node["kind"] for node in scenario(kind)["topology"]["nodes"]]


@pytest.mark.spark
@pytest.mark.slow
def test_golden_examples_are_what_kafka_streams_does() -> None:
    from cli.oracle import Oracle

    with Oracle() as oracle:
        for kind in KINDS:
            example = scenario(kind)
            answer = oracle.run(example)
            if WRITING:
                example["expected"] = answer
                (FOLDER / f"{kind}.json").write_text(text_of(example), "utf-8")
            else:
                assert answer == example["expected"], kind
    if WRITING:
        write_pages()


@pytest.fixture(scope="module")
def unbatched() -> Iterator[Any]:
    """A session that simulates as the page does, which shows the examples."""
    from cli.simulating import Warm

    session = Warm(unbatched=True)
    yield session
    session.close()


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.skipif(WRITING, reason="examples are being recorded, not run")
@pytest.mark.parametrize("kind", SHOWN)
def test_spark_does_with_the_example_what_its_page_shows(kind: str, unbatched: Any) -> None:
    from millrace_runtime.results.comparing import differences
    from millrace_runtime.results.cuts import Cut

    from cli.simulating import run_scenario

    example = scenario(kind)
    result = run_scenario(unbatched, example, Cut.parse("each"))
    assert differences(example, result, "each") == []
