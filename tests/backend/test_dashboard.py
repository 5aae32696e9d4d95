"""The Grafana dashboard and Prometheus rules in docs/grafana use the names in /api/metrics."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from deployments import reconciling
from deployments.models import Deployment
from prometheus_client.parser import text_string_to_metric_families

from .conftest import Client, People
from .test_runtime import progress, report

FOLDER = Path(__file__).parents[2] / "docs" / "grafana"
DASHBOARD = json.loads((FOLDER / "millrace.json").read_text(encoding="utf-8"))
RULES = yaml.safe_load((FOLDER / "alerts.yml").read_text(encoding="utf-8"))
#: keywords and functions of PromQL and Grafana in expressions
WORDS = {
    *("sum", "max", "by", "and", "on", "rate", "increase", "time", "label_values"),
    *("h", "m", "s", "histogram_quantile"),
}
#: columns of Grafana's grid
COLUMNS = 24


def expressions() -> list[str]:
    """Every expression of the dashboard, of its variables and of the rules."""
    panels = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
    variables = [each["definition"] for each in DASHBOARD["templating"]["list"]]
    rules = [rule["expr"] for group in RULES["groups"] for rule in group["rules"]]
    return [*panels, *variables, *rules]


def names_in(expression: str) -> set[str]:
    """Names of metrics and labels in an expression."""
    bare = re.sub(r'"[^"]*"|\[[^\]]*\]|\$\w+', " ", expression)
    return set(re.findall(r"[a-zA-Z_]\w*", bare)) - WORDS


@pytest.fixture
def reported(deployment: Deployment, people: People, client_of: Client) -> dict[str, set[str]]:
    """The labels of each metric that /api/metrics returns."""
    reconciling.begin_run(deployment.pk, 1, "here", "boot/1", 1)
    now = int(time.time() * 1000)
    report(f"{deployment.pk}-1", progress(now - 3_000, 100), progress(now - 500, 350))
    answer: Any = client_of(people.viewer).get("/api/metrics")
    found: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(answer.content.decode()):
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    return found


def test_every_name_in_an_expression_is_a_metric_or_one_of_its_labels(
    reported: dict[str, set[str]],
) -> None:
    for expression in expressions():
        names = names_in(expression)
        metrics = names & set(reported)
        assert metrics, expression
        labels = set().union(*(reported[metric] for metric in metrics))
        assert names - metrics <= labels, (expression, names - metrics - labels)


def test_the_dashboard_shows_every_metric(reported: dict[str, set[str]]) -> None:
    shown = set().union(*(names_in(each) for each in expressions()))
    assert {name for name in reported if not name.endswith("_created")} <= shown


def test_legends_name_labels_that_their_expressions_keep(reported: dict[str, set[str]]) -> None:
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            kept = re.search(r"by \(([^)]*)\)", target["expr"])
            labels = (
                set(kept.group(1).split(", "))
                if kept
                else set().union(
                    *(reported[name] for name in names_in(target["expr"]) & set(reported))
                )
            )
            assert set(re.findall(r"{{(\w+)}}", target["legendFormat"])) <= labels


def test_the_dashboard_has_the_shape_that_grafana_imports() -> None:
    assert DASHBOARD["id"] is None, "Grafana gives it one"
    assert DASHBOARD["schemaVersion"] >= 36
    (source,) = DASHBOARD["__inputs"]
    assert (source["type"], source["pluginId"]) == ("datasource", "prometheus")
    wanted = {"type": "prometheus", "uid": f"${{{source['name']}}}"}
    panels = DASHBOARD["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert max(x for x, _ in cells) < COLUMNS
        assert not cells & taken, f"{panel['title']} lies on another panel"
        taken |= cells
        assert panel["type"] in {each["id"] for each in DASHBOARD["__requires"]}
        assert panel["datasource"] == wanted
        assert all(target["datasource"] == wanted for target in panel["targets"])
        assert {"defaults", "overrides"} <= set(panel["fieldConfig"])
    names = [each["name"] for each in DASHBOARD["templating"]["list"]]
    used = set().union(*(re.findall(r"\$(\w+)", each) for each in expressions()))
    assert used == {*names, "__rate_interval"}


def test_the_rules_have_the_shape_that_prometheus_reads() -> None:
    for group in RULES["groups"]:
        names = [rule["alert"] for rule in group["rules"]]
        assert len(set(names)) == len(names)
        for rule in group["rules"]:
            assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
            assert re.fullmatch(r"\d+[smh]", rule.get("for", "1m"))
            assert rule["annotations"]["summary"]
