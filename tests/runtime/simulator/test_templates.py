"""The templates as the page runs them: their tests, samples and generated records."""

from __future__ import annotations

from typing import Any

import pytest
from catalog.templates import Template, templates

from cli.simulating import Warm

pytestmark = pytest.mark.spark
#: generated records of each topic
GENERATED = 150


def simulated(warm: Warm, chosen: Template, inputs: list[Any], expected: Any = None) -> Any:
    """The result of a simulation of the template."""
    from millrace_runtime.simulator.process import simulate

    request: Any = {"document": chosen.document, "inputs": inputs, "trace": 0, "expected": expected}
    answer = simulate(warm.spark, warm.analyzer, request)
    assert answer["diagnostics"] == []
    found: Any = answer["result"]
    assert found["error"] is None
    return found


@pytest.mark.parametrize("chosen", templates(), ids=lambda each: each.id)
def test_a_templates_tests_pass_and_its_samples_and_generated_records_run(
    warm: Warm, chosen: Template
) -> None:
    assert len(chosen.tests) >= 2
    for test in chosen.tests:
        result = simulated(warm, chosen, test["inputs"], test["expected"])
        assert result["differences"] == [], test["name"]
    assert simulated(warm, chosen, chosen.inputs)["output_count"] > 0
    lines = generated_lines(chosen)
    result = simulated(warm, chosen, lines)
    assert result["output_count"] > 0
    read = {node["id"] for node in chosen.document["nodes"] if node["kind"].startswith("source.")}
    assert all(result["nodes"][node]["in"] > 0 for node in read)


def generated_lines(chosen: Template) -> list[Any]:
    """Return the records of all generators, ordered by timestamp."""
    from millrace_compiler.types.generating import recipe_settings
    from records.generating import recipe_of

    topics = {
        topic
        for node in chosen.document["nodes"]
        if node["kind"].startswith("source.")
        for topic in node["params"].get("topics") or [node["params"]["topic"]]
    }
    assert topics == set(chosen.generated)
    lines = []
    for each in chosen.generators:
        recipe = recipe_of(each["topic"], recipe_settings(chosen.document, each))
        lines += [recipe.line(n, 86_400_000 + 1_000 * n) for n in range(GENERATED)]
    return sorted(lines, key=lambda line: int(line["timestamp"]))
