"""The analyzer: a warm Spark session that returns the type of an expression, or its error.

    python -m millrace_runtime.analyzer --socket PATH

A local service (`millrace_services.local_services`). Every request and response is one line of
JSON. Request: `{"id", "expressions": [{"text", "columns": {"key": "STRING"}, "expects":
"BOOLEAN"}], "types": ["a INT"]}`. Response: `{"id", "expressions": [{"type", "columns", "error"}],
"types": [{"type", "error"}]}`. It prints READY once it accepts requests.

Connections are served concurrently, and each expression has a deadline. Threads of the JVM cannot
be killed: if one runs past its deadline, or the JVM has ended, the server exits with code 70 and
its supervisor restarts it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import threading
import warnings
import zipfile
from pathlib import Path
from typing import Any, TypedDict

from millrace_compiler.documents.json_text import text_of
from millrace_model.reading import read
from millrace_services.line_server import LineServer, serve

from millrace_runtime import columns
from millrace_runtime.jars import connector_jars, spark_jars
from millrace_runtime.session import session

#: milliseconds that an expression may run past its deadline, and the exit code after that
PATIENCE_MS, HUNG = 4_000, 70
_SQL = "org/apache/spark/sql"
#: packages that a driver uses and an analyzer does not, by Spark's jars
DRIVERS = {
    "janino-*.jar": ("",),
    "commons-compiler-*.jar": ("",),
    "json4s-*.jar": ("",),
    "rocksdbjni-*.jar": ("",),
    "spark-sql_*.jar": (f"{_SQL}/execution/streaming/", f"{_SQL}/execution/exchange/"),
    "spark-catalyst_*.jar": (
        f"{_SQL}/catalyst/optimizer/",
        f"{_SQL}/catalyst/encoders/",
        f"{_SQL}/catalyst/expressions/codegen/",
    ),
    "spark-sql-api_*.jar": (f"{_SQL}/catalyst/encoders/",),
}


class AnalysisRequest(TypedDict, total=False):
    """Expressions (`ExpressionRequest`) and types to read."""

    id: object
    expressions: list[dict[str, object]]
    types: list[str]


class RefusedExpression(TypedDict, total=False):
    """Why an expression is refused; see `ExpressionError`."""

    message: str
    condition: str | None
    start: int | None
    stop: int | None
    facts: dict[str, str]


class AnalyzedExpression(TypedDict, total=False):
    """The wire format of an `ExpressionResult`."""

    type: str | None
    columns: list[str]
    error: RefusedExpression | None
    warnings: list[RefusedExpression]


class AnalysisAnswer(TypedDict, total=False):
    """One result for each expression and type, in their order."""

    id: object
    expressions: list[AnalyzedExpression]
    types: list[object]


_WARM_UP: AnalysisRequest = {
    "expressions": [
        {"text": "upper(value.name) = key", "columns": {"key": "STRING", "value": "name STRING"}},
        {"text": "agg + 1", "columns": {"agg": "BIGINT"}, "expects": "BIGINT"},
    ],
    "types": ["a INT, b ARRAY<STRING>"],
}


class SparkAnalyzer:
    """Answers requests with a Spark session of this process."""

    def __init__(self, spark: Any) -> None:
        self._java = spark._jsparkSession
        self._gateway = columns.gateway(spark.sparkContext)

    def answer(self, request: AnalysisRequest) -> AnalysisAnswer:
        """Return the response to a request, with an error in the place of a faulty expression."""
        request_json = json.dumps(
            {"expressions": request.get("expressions") or [], "types": request.get("types") or []}
        )
        answer: AnalysisAnswer = json.loads(
            self._gateway.Analysis.analyze(self._java, request_json)
        )
        answer["id"] = request.get("id")
        return answer

    def overdue(self) -> int:
        """Return by how many ms the slowest expression exceeds its deadline; 0 if none does."""
        return int(self._gateway.Analysis.overdue())


def analyzer_session() -> Any:
    """Create a small session: one core, no state, no Kafka."""
    return session.create(
        "millrace-analyzer",
        master="local[1]",
        settings={"spark.driver.memory": "512m"},
        java_extra=("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:+ExitOnOutOfMemoryError"),
    )


def analyzer_server(path: str, analyzer: SparkAnalyzer) -> LineServer:
    """Return a server that handles requests of different connections concurrently."""

    def answer(request: dict[str, object]) -> dict[str, object]:
        try:
            return dict(analyzer.answer(read(AnalysisRequest, request)))
        except Exception as error:  # noqa: BLE001 - one bad request must not end the server
            first = next(iter(str(error).splitlines()), type(error).__name__)
            return {"id": request.get("id"), "error": first}

    return LineServer(path, answer)


def end_when_hung(analyzer: SparkAnalyzer, ending: threading.Event) -> None:
    """Check the JVM every second; exit this process if it hangs or does not respond.

    `ending`: set when this process ends anyway.
    """
    while not ending.wait(1.0):
        try:
            overdue = analyzer.overdue()
        except Exception as error:  # noqa: BLE001 - whatever it is, the JVM does not respond
            reason = f"the JVM does not respond ({type(error).__name__})"
        else:
            reason = f"an expression has been analyzed for {overdue / 1000:.0f} s past its deadline"
            if overdue < PATIENCE_MS:
                continue
        # A signal to both may have ended the JVM first.
        if ending.wait(0.5):
            return
        print(f"The analyzer exits and is restarted: {reason}.", file=sys.stderr, flush=True)
        os._exit(HUNG)


def preload(spark: Any) -> None:
    """Load classes that drivers need and an analyzer does not, for a class data archive."""
    find = spark._jvm.java.lang.Class.forName
    loader = spark._jvm.java.lang.ClassLoader.getSystemClassLoader()
    jars: list[tuple[Path, tuple[str, ...]]] = [(jar, ("",)) for jar in connector_jars()]
    jars += [
        (jar, packages) for name, packages in DRIVERS.items() for jar in spark_jars().glob(name)
    ]
    for jar, packages in jars:
        with zipfile.ZipFile(jar) as content:
            names = [name for name in content.namelist() if name.endswith(".class")]
        for name in names:
            # Not META-INF, module-info and package-info.
            if "-" not in name and name.startswith(packages):
                # Some need libraries that are not installed.
                with contextlib.suppress(Exception):
                    find(name.removesuffix(".class").replace("/", "."), False, loader)


def functions(spark: Any) -> list[dict[str, str]]:
    """Return the functions of Spark that an expression over one record may call."""
    allows = columns.gateway(spark.sparkContext).Functions.allows
    utilities = spark._jvm.org.apache.spark.sql.api.python.PythonSQLUtils
    found = {}
    for info in utilities.listBuiltinFunctionInfos():
        name, group = str(info.getName()), str(info.getGroup())
        if not allows(name):
            continue
        lines = str(info.getUsage()).replace("_FUNC_", name).strip().splitlines()
        text = " ".join(line.strip() for line in lines if line.strip())
        usage, dash, description = text.partition(" - ")
        if not dash:
            usage, description = name, text
        found[name] = {
            "name": name,
            "usage": usage.strip(),
            "description": description.strip(),
            "group": group.removesuffix("_funcs") or "other",
        }
    return [found[name] for name in sorted(found)]


def main(argv: list[str] | None = None) -> int:
    """Serve until a stop is requested, or write the functions to a file and exit."""
    from py4j.protocol import Py4JError

    parser = argparse.ArgumentParser(prog="python -m millrace_runtime.analyzer")
    task = parser.add_mutually_exclusive_group(required=True)
    task.add_argument("--socket", metavar="PATH", help="Unix socket to listen on")
    task.add_argument(
        "--functions", metavar="FILE", help="write Spark's functions to a JSON file, and end"
    )
    parser.add_argument(
        "--preload", action="store_true", help="load the classes of drivers as well"
    )
    arguments = parser.parse_args(argv)
    spark = analyzer_session()
    ending = threading.Event()
    try:
        if arguments.functions:
            if arguments.preload:
                preload(spark)
            Path(arguments.functions).write_text(text_of(functions(spark)), encoding="utf-8")
            return 0
        analyzer = SparkAnalyzer(spark)
        analyzer.answer(_WARM_UP)
        threading.Thread(target=end_when_hung, args=(analyzer, ending), daemon=True).start()
        if arguments.preload:
            threading.Thread(target=preload, args=(spark,), daemon=True).start()
        return serve(lambda: analyzer_server(arguments.socket, analyzer), arguments.socket)
    finally:
        ending.set()
        # The JVM may have ended by the same signal, about which PySpark would warn.
        with warnings.catch_warnings(), contextlib.suppress(Py4JError, OSError):
            warnings.simplefilter("ignore", RuntimeWarning)
            spark.stop()
