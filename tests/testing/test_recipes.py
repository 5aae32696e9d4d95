"""The programs of docs/recipes give the results that their records state, line by line."""

from __future__ import annotations

import base64
import json
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from millrace_runtime import bytes_
from millrace_runtime.results.comparing import canonical
from millrace_runtime.testing import TopologyTestDriver

RECIPES = Path(__file__).parents[2] / "examples" / "recipes"
NAMES = sorted(path.parent.name for path in RECIPES.glob("*/job.py"))


def test_there_are_twenty_recipes_each_with_its_page() -> None:
    assert len(NAMES) == 20
    for name in NAMES:
        page = RECIPES.parents[1] / "docs" / "recipes" / f"{name}.md"
        assert f'# --8<-- "examples/recipes/{name}/job.py"' in page.read_text("utf-8")


@pytest.mark.spark
@pytest.mark.parametrize("name", NAMES)
def test_a_recipe_gives_the_stated_results(
    topology_test_driver: Callable[..., TopologyTestDriver], name: str
) -> None:
    topology = runpy.run_path(str(RECIPES / name / "job.py"))["topology"]
    test = json.loads((RECIPES / name / "tests" / "records.json").read_text("utf-8"))
    expected = test["expected"]
    driver = topology_test_driver(topology)
    found: list[str] = []
    for number, line in enumerate(test["inputs"], 1):
        give(driver, line)
        for topic in sorted(driver.produced_topic_names):
            found += [
                shown(topic, each, number) for each in driver.output_topic(topic).read_records()
            ]
    stated = [canonical(each) for each in expected["outputs"]]
    assert found == stated
    assert len(driver.drops) == expected.get("dropped", 0)
    for store, rows in expected.get("stores", {}).items():
        assert list(driver.store(store).all()) == [(row["key"], row["value"]) for row in rows]


def give(driver: TopologyTestDriver, line: dict[str, Any]) -> None:
    if "advance_wall_clock" in line:
        driver.advance_wall_clock(line["advance_wall_clock"])
    elif "value_bytes" in line:
        raw = base64.b64decode(line["value_bytes"])
        driver.input_topic(line["topic"], value=bytes_()).pipe(line["key"], raw, line["timestamp"])
    else:
        driver.input_topic(line["topic"]).pipe(line["key"], line["value"], line["timestamp"])


def shown(topic: str, record: Any, after: int) -> str:
    key, value = (
        base64.b64encode(part).decode() if isinstance(part, bytes) else part
        for part in (record.key, record.value)
    )
    at = {"timestamp": record.timestamp, "after": after}
    return canonical({"topic": topic, "key": key, "value": value, **at})
