"""The recorded answers are those that Spark gives."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from millrace_compiler import Analyzer, ExpressionRequest, compile_document

from tests.compiler.refused import REFUSED

GOLDEN = Path(__file__).parents[1] / "golden"
SCENARIOS = Path(__file__).parents[1] / "conformance" / "scenarios"


@pytest.fixture(scope="module")
def spark() -> Iterator[Analyzer]:
    from tools.cli.documents import analyzer

    with analyzer() as known:
        yield known


@pytest.mark.spark
@pytest.mark.slow
def test_spark_gives_the_recorded_answers(spark: Analyzer, analyzer: Analyzer) -> None:
    documents = [raw for raw, _ in REFUSED.values()]
    documents += [json.loads(path.read_text("utf-8")) for path in GOLDEN.glob("*/topology.json")]
    documents += [json.loads(p.read_text("utf-8"))["topology"] for p in SCENARIOS.glob("*.json")]
    for raw in documents:
        recorded = compile_document(raw, analyzer).to_json()
        assert compile_document(raw, spark).to_json() == recorded


@pytest.mark.spark
@pytest.mark.slow
def test_a_wrong_text_gets_the_same_answer_whatever_was_read_before(spark: Analyzer) -> None:
    wrong = ["value >", "value.quantity > 10 )", "a b c", "case when value", "'open", "f(,1)"]
    requests = [ExpressionRequest(text, (("value", "STRING"),)) for text in wrong]
    alone = spark.analyze(requests)
    assert [bool(each.error) for each in alone] == [True] * len(wrong)
    for before in ("value > 1 and value", "case value when 1 then 2", "a.b[1]", "select", "not"):
        spark.analyze([ExpressionRequest(before, ())])
        assert spark.analyze(list(reversed(requests))) == list(reversed(alone))
