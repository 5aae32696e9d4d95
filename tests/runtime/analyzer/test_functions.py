"""What an expression may call: every function of Spark's registry, in every form of its name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from millrace_compiler import ExpressionRequest, ExpressionResult
from millrace_compiler.inference.expression_faults import functions
from millrace_compiler.isolated import Limits

from tests.runtime import hostile

pytestmark = [pytest.mark.spark, pytest.mark.slow]

COLUMNS = (("key", "STRING"), ("value", "STRING"))
#: refusals that do not depend on the arguments of a call
FORBIDDEN = {
    "FUNCTION", "IDENTIFIER_CLAUSE", "AGGREGATE", "GENERATOR", "WINDOW", "CURRENT_TIME",
    "NOT_DETERMINISTIC",
}  # fmt: skip


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    """The session of an analyzer."""
    from millrace_runtime.analyzer.analyzer import analyzer_session

    made = analyzer_session()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def analyzer(session: Any) -> Any:
    from millrace_runtime.analyzer.compiling import SessionAnalyzer

    return SessionAnalyzer(session)


@pytest.fixture(scope="module")
def registry(session: Any) -> dict[str, str]:
    """The names of Spark's functions, each with the text of a call."""
    infos = session._jvm.org.apache.spark.sql.api.python.PythonSQLUtils.listBuiltinFunctionInfos()
    found = {}
    for info in infos:
        name = str(info.getName())
        examples = str(info.getExamples()).replace("_FUNC_", name)
        calls = re.findall(rf"> SELECT ({re.escape(name)}\(.*\));", examples)
        # The arguments of a cast have a syntax of their own.
        if re.fullmatch(r"\w+", name) and name != "cast":
            found[name] = next((c for c in calls if " FROM " not in c), f"{name}(value)")
    return found


@pytest.fixture
def attacker(tmp_path: Path) -> Iterator[hostile.Listener]:
    with hostile.listening(tmp_path) as found:
        yield found


def judged(analyzer: Any, *texts: str) -> list[str]:
    """Return the type of each expression, or its error condition."""
    answers: list[ExpressionResult] = analyzer.analyze(
        [ExpressionRequest(text, COLUMNS) for text in texts]
    )
    return [each.type or f"!{each.error and each.error.condition}" for each in answers]


def allowed(session: Any) -> Any:
    from millrace_runtime import columns

    return columns.gateway(session.sparkContext).Functions


def test_every_function_of_spark_is_decided(session: Any) -> None:
    """A new version of Spark adds functions: read what they do, then add them to a list."""
    assert list(allowed(session).undecided()) == []


def test_the_page_offers_the_functions_that_are_allowed(
    session: Any, registry: dict[str, str]
) -> None:
    judge = allowed(session)
    listed = {name for name in registry if judge.allows(name)}
    assert set(functions()) - {"case", "cast"} == listed


def test_a_refused_function_is_refused_in_every_form(
    session: Any, analyzer: Any, registry: dict[str, str]
) -> None:
    """Every refused function, and a twelfth of the others (MILLRACE_CONFORMANCE=whole: all)."""
    judge = allowed(session)
    step = 1 if os.environ.get("MILLRACE_CONFORMANCE") == "whole" else 12
    harmless = [name for name in registry if judge.allows(name)]
    chosen = registry.keys() - set(harmless) | set(harmless[::step])
    different: list[tuple[str, ...]] = []
    for name in sorted(chosen):
        call = registry[name]
        arguments = call.removeprefix(name)
        same = [call, f"`{name}`{arguments}", f"{name.upper()}{arguments}", f"{call} AS `x`"]
        other = [
            f"IDENTIFIER('{name}'){arguments}",
            f"identifier /* a */ (concat('{name[:1]}', '{name[1:]}')){arguments}",
            f"system.builtin.{name}{arguments}",
            f"builtin.`{name}`{arguments}",
            f"spark_catalog.default.{name}{arguments}",
            f"transform(array(1), x -> IDENTIFIER('{name}'){arguments})",
            f"if(true, IDENTIFIER('{name}'){arguments}, NULL)",
        ]
        plain, *more = judged(analyzer, *same, *other)
        if plain.lstrip("!") in FORBIDDEN:
            different += [(name, answer) for answer in more if answer.lstrip("!") not in FORBIDDEN]
        else:
            assert judge.allows(name), name
            different += [(name, plain, each) for each in more[:3] if each != plain]
            different += [(name, each) for each in more[3:] if not each.startswith("!")]
    assert different == []


def test_a_function_of_the_session_is_judged_by_its_class(session: Any, analyzer: Any) -> None:
    session.udf.register("mine", lambda text: text)
    assert judged(analyzer, "mine(value)", "upper(mine(value))") == ["!FUNCTION", "!FUNCTION"]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("from_json(value, 'a INT', map('mode', 'FAILFAST'))", "STRUCT<a: INT>"),
        ("from_json(value, 'a INT', map('MODE', 'FAILFAST'))", "STRUCT<a: INT>"),
        ("from_csv(value, 'a INT', map('sep', ';'))", "STRUCT<a: INT>"),
        ("from_xml(value, 'a INT', map('rowTag', 'r'))", "STRUCT<a: INT>"),
        ("to_json(struct(value), map('pretty', 'true'))", "STRING"),
        ("variant_get(parse_json(value), '$.a', 'INT')", "INT"),
        ("from_json(value, schema_of_json('{\"a\": 1}'))", "STRUCT<a: BIGINT>"),
        ("from_json(value, 'a INT', map('compression', 'java.lang.Object'))", "!OPTION"),
        ("from_json(value, 'a INT', map('mode', 'FAILFAST', 'x', 'y'))", "!OPTION"),
        ("from_json(value, 'a INT', map('mode'))", "!OPTIONS_FORM"),
        ("from_json(value, 'a INT', map_from_arrays(array('a'), array('b')))", "!OPTIONS_FORM"),
        ('from_json(value, \'{"type": "struct", "fields": []}\')', "!TYPE_FORM"),
        ("from_json(value, ' \"string\"')", "!TYPE_FORM"),
        ("from_json(value, key)", "!TYPE_FORM"),
        ("mask(value, upperChar => 'Q')", "STRING"),
        ("(value = key) IS NOT UNKNOWN", "BOOLEAN"),
        ("value LIKE ANY ('a', 'b') OR value RLIKE 'c'", "BOOLEAN"),
        ("value COLLATE UNICODE_CI = key", "BOOLEAN"),
        ("timestampdiff(DAY, timestamp'2020-01-01', timestamp'2021-01-01')", "BIGINT"),
        ("date'2020-01-01' + interval '1' month - make_interval(1)", "DATE"),
    ],
)
def test_options_and_types_of_functions_are_those_of_a_list(
    analyzer: Any, text: str, answer: str
) -> None:
    assert judged(analyzer, text) == [answer]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("timestamp'now'", "!CURRENT_TIME"),
        ("timestamp '\\u006eow'", "!CURRENT_TIME"),
        ('date"today"', "!CURRENT_TIME"),
        ("timestamp_ntz' Yesterday '", "!CURRENT_TIME"),
        ("'é😀' = value AND date'tomorrow' > date'2020-01-01'", "!CURRENT_TIME"),
        ("CAST('now' AS TIMESTAMP)", "!CURRENT_TIME"),
        ("to_date('today')", "!CURRENT_TIME"),
        ("timestamp'2020-01-01' < 'now'", "!CURRENT_TIME"),
        ("localtime", "!CURRENT_TIME"),
        ("timestamp'epoch'", "TIMESTAMP"),
        ("date'2020-01-01'", "DATE"),
        ("CAST(value AS TIMESTAMP)", "TIMESTAMP"),
        ("'now' = value", "BOOLEAN"),
        ("shuffle(array(1, 2))", "!NOT_DETERMINISTIC"),
        ("uniform(0, 10, 5)", "!NOT_DETERMINISTIC"),
        ("aes_encrypt(value, 'k')", "!NOT_DETERMINISTIC"),
        ("aes_encrypt(value, 'k', 'GCM', 'DEFAULT', '')", "!NOT_DETERMINISTIC"),
        ("aes_encrypt(value, 'k', 'GCM', 'DEFAULT', 'twelve bytes')", "BINARY"),
        ("aes_encrypt(value, 'k', 'ECB')", "BINARY"),
        ("kll_sketch_merge_bigint(x'00', x'00')", "!NOT_DETERMINISTIC"),
    ],
)
def test_what_differs_when_it_is_computed_again_is_refused(
    analyzer: Any, text: str, answer: str
) -> None:
    assert judged(analyzer, text) == [answer]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("rand() + random() + randn() + rand(7)", "DOUBLE"),
        ("uuid()", "STRING"),
        ("now() - current_timestamp", "INTERVAL DAY TO SECOND"),
        ("current_date", "DATE"),
        ("localtimestamp()", "TIMESTAMP_NTZ"),
        ("unix_timestamp()", "BIGINT"),
        ("transform(array(1), x -> now())", "ARRAY<TIMESTAMP>"),
        ("transform(array(1), x -> x + rand())", "!DRAW_IN_LAMBDA"),
        ("rand(offset)", "!NOT_DETERMINISTIC"),
        ("uuid(1)", "!NOT_DETERMINISTIC"),
        ("`$seed`", "!UNRESOLVED_COLUMN.WITH_SUGGESTION"),
        ("`$now`", "!UNRESOLVED_COLUMN.WITH_SUGGESTION"),
    ],
)
def test_random_values_and_the_time_are_columns_that_no_text_can_name(
    analyzer: Any, text: str, answer: str
) -> None:
    request = ExpressionRequest(text, (*COLUMNS, ("offset", "BIGINT")))
    [found] = analyzer.analyze([request])
    assert (found.type or f"!{found.error and found.error.condition}") == answer
    if found.type:
        assert {"$seed", "$now"} & set(found.columns)


def test_expressions_of_an_attacker_are_refused_without_a_request(
    analyzer: Any, attacker: hostile.Listener
) -> None:
    texts = hostile.expressions(attacker)
    answers = dict(zip(texts, judged(analyzer, *texts.values()), strict=True))
    assert {name: answer for name, answer in answers.items() if not answer.startswith("!")} == {}
    assert attacker.received == []


def test_xml_parsers_of_a_session_read_nothing_from_outside(session: Any) -> None:
    properties = session._jvm.java.lang.System.getProperties()
    for kind in ("DTD", "Schema", "Stylesheet"):
        assert properties.getProperty(f"javax.xml.accessExternal{kind}") == ""
    executors = session.sparkContext.getConf().get("spark.executor.extraJavaOptions")
    assert "-Djavax.xml.accessExternalSchema=" in executors


def simulated(simulators: Any, document: dict[str, object], values: list[str], plain: bool) -> Any:
    lines = [{"topic": "in", "key": "k", "value": each, "timestamp": 1} for each in values]
    request = {"do": "simulate", "owner": "a", "document": document, "inputs": lines, "trace": 0}
    return simulators.simulate(request | {"plain": plain}, "a")


@pytest.fixture(scope="module")
def simulators() -> Iterator[Any]:
    from millrace_runtime.simulator.simulator import Simulators

    found = Simulators(1, Limits(seconds=120, waiting_seconds=60, output_megabytes=32))
    yield found
    found.close()


@pytest.mark.parametrize("plain", [False, True], ids=["exact", "plain"])
def test_a_simulation_runs_no_expression_of_an_attacker(
    simulators: Any, attacker: hostile.Listener, plain: bool
) -> None:
    for name, text in hostile.expressions(attacker).items():
        answer = simulated(simulators, hostile.document(text), ["<a>x</a>"], plain)
        assert answer.get("error") or answer["diagnostics"], name
        assert not (answer.get("result") or {}).get("outputs"), name
    assert attacker.received == []


@pytest.mark.parametrize("plain", [False, True], ids=["exact", "plain"])
def test_xml_of_an_attacker_reads_no_file_and_sends_no_request(
    simulators: Any, attacker: hostile.Listener, plain: bool
) -> None:
    values = hostile.documents(attacker)
    for text in hostile.XML:
        document = hostile.document(text) | {"settings": {"processing_handler": "continue"}}
        answer = simulated(simulators, document, values, plain)
        assert answer["result"]["error"] is None
        assert len(answer["result"]["outputs"]) + answer["result"]["dropped"] == len(values)
        assert "s3cret" not in str(answer)
    assert attacker.received == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("value * 2", [("value", "BIGINT", 0, 9)]),
        ("length(key) > value", [("value", "BIGINT", 0, 19)]),
        ("upper(key) = 'a' AND 1 < substr(value, 2)", [("substr(value, 2)", "BIGINT", 21, 41)]),
        ("value IN (1, 2)", [("value", "BIGINT", 6, 15)]),
        ("try_cast(value AS DOUBLE) * 2", []),
        ("value::double * 2", []),
        ("double(value) * 2", []),
        ("value || 2", []),
        ("value = key", []),
    ],
)
def test_a_text_as_a_number_gets_a_warning(
    analyzer: Any, text: str, found: list[tuple[str, str, int, int]]
) -> None:
    [answer] = analyzer.analyze([ExpressionRequest(text, COLUMNS)])
    assert answer.error is None
    assert [(w.facts["found"], w.facts["type"], w.start, w.stop) for w in answer.warnings] == found
