"""Commands take programs in place of documents, and a resident process makes the next one fast."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cli import resident
from cli.main import main
from launcher import places, residents

ROOT = Path(__file__).parents[2]
PROGRAM = """
from millrace_runtime import Topology, key_value_store, long, string

topology = Topology("word-count")
lines = topology.stream("lines", key=string(), value=string())
words = lines.flat_map_values("split(value, ' ')", name="words").group_by("value")
words.count(store=key_value_store("counts")).to_stream().to("counts", value=long())
print("noise")
"""
INPUTS = [
    {"topic": "lines", "key": None, "value": "to be", "timestamp": 1},
    {"topic": "lines", "key": None, "value": "or not to be", "timestamp": 2},
]
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("programs")
    (made / "job.py").write_text(PROGRAM, encoding="utf-8")
    (made / "other.py").write_text(PROGRAM.replace('"counts")', '"totals")', 1), encoding="utf-8")
    (made / "wrong.py").write_text(
        PROGRAM.replace("split(value, ' ')", "split(valve, ' ')"), encoding="utf-8"
    )
    (made / "in.jsonl").write_text("\n".join(map(json.dumps, INPUTS)), encoding="utf-8")
    (made / "tests").mkdir()
    expected = [{"topic": "counts", "key": key, "value": n} for key, n in
                [("to", 1), ("be", 1), ("or", 1), ("not", 1), ("to", 2), ("be", 2)]]  # fmt: skip
    test = {"inputs": INPUTS, "expected": {"outputs": expected}}
    (made / "tests" / "words.json").write_text(json.dumps(test), encoding="utf-8")
    assert main(["document", str(made / "job.py"), "-o", str(made / "job.json")]) == 0
    return made


@pytest.fixture(scope="module")
def run(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Run a command with a resident process of this module's own."""
    runtime = tmp_path_factory.mktemp("runtime")

    def call(*words: str, typed: str = "", **settings: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "launcher.main", *words],
            cwd=folder, capture_output=True, text=True, check=False, input=typed,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(places.PYTHON_PATH), "CI": "",
                 "XDG_RUNTIME_DIR": str(runtime), "MILLRACE_RESIDENT": "1", **settings},
        )  # fmt: skip

    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("XDG_RUNTIME_DIR", str(runtime))
        yield call
        residents.stop(residents.living())
        assert residents.living() == []


def test_a_program_that_fails_is_named_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "job.py").write_text("import millrace_runtime\n\n1 / 0\n", encoding="utf-8")
    assert main(["describe", str(tmp_path / "job.py")]) == 2
    assert "job.py, line 3: ZeroDivisionError: division by zero" in capsys.readouterr().err
    assert main(["describe", str(tmp_path)]) == 2


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("simulate", "DOC", "--inputs", "in.jsonl"),
        ("describe", "DOC", "--json"),
        ("test-topology", "DOC"),
        ("compare-state", "DOC", "other.py"),
        ("compile", "DOC", "-o", "out", "--json"),
    ],
    ids=lambda words: words[0],
)
def test_a_program_gives_what_its_document_gives(run: Run, words: tuple[str, ...]) -> None:
    asked = [run(*(each.replace("DOC", name) for each in words)) for name in ("job.py", "job.json")]
    found = [(done.returncode, done.stdout) for done in asked]
    assert found[0] == found[1]
    assert found[0][0] == 0, asked[0].stderr
    assert found[0][1]


@pytest.mark.spark
@pytest.mark.slow
def test_the_shortest_input_on_which_two_versions_differ(run: Run, folder: Path) -> None:
    program = PROGRAM.replace("split(value, ' ')", "split(upper(value), ' ')")
    (folder / "loud.py").write_text(program, encoding="utf-8")
    done = run("differ", "job.json", "loud.py", "--tests", "tests", "--write", "x.jsonl")
    assert done.returncode == 1, done.stderr
    text = done.stdout
    assert "The versions differ after 1 record (found in 1 inputs" in text
    assert '    old  after  1  "a" = 1 at 0 ms\n    new  after  1  "A" = 1 at 0 ms' in text
    assert "10 of 10 nodes of both versions got records; 18 of 18 branches are covered." in text
    line = json.loads((folder / "x.jsonl").read_text(encoding="utf-8"))
    assert line == {"topic": "lines", "key": None, "value": "a", "timestamp": 0}

    same = run("compare-results", "job.json", "other.py", "--seconds", "1", "--json")
    assert same.returncode == 0, same.stderr
    found = json.loads(same.stdout)
    assert found["found"] is None
    assert found["inputs"] > 1
    assert found["covered"] == found["branches"]
    assert run("differ", "job.json", "wrong.py").returncode == 2
    assert "must be above 0" in run("differ", "a", "b", "--seconds", "0").stderr


@pytest.mark.spark
@pytest.mark.slow
def test_a_refused_program_names_file_line_and_node(run: Run) -> None:
    done = run("simulate", "wrong.py", "--inputs", "in.jsonl")
    assert done.returncode == 2
    assert "wrong.py, line 6: error: words." in done.stderr
    shown = run("compile", "wrong.py", "-o", "out", "--json")
    [diagnostic] = json.loads(shown.stderr.splitlines()[-1])["diagnostics"]
    assert (diagnostic["file"], diagnostic["line"]) == ("wrong.py", 6)


FAILING = """
from millrace_runtime import Processor, Topology, string
from prices import halved

topology = Topology("failing")
lines = topology.stream("lines", key=string(), value=string())


class Divide(Processor):
    def init(self, context):
        self.context = context

    def process(self, record):
        self.context.forward(record.replace(value=str(1 / len(record.value))))


def least(value):
    return min(value.split("x"), key=len)[1]


lines.process_values(Divide, name="divide").to("out")
lines.filter(lambda v: v == "b").map_values(lambda v: halved(v), returns="STRING").to("out")
lines.filter(lambda v: v == "c").map(key=least, value="value", returns={"key": "STRING"}).to("out")
"""
PRICES = "def halved(value):\n    return value[: round(len(value) / 0)]\n"


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize(
    ("value", "place"),
    [("", "(failing.py, line 14)"), ("b", "(prices.py, line 2)"), ("c", "(failing.py, line 18)")],
    ids=["processor", "module", "function of an expression"],
)
def test_a_fault_of_python_names_the_programs_line(
    run: Run, folder: Path, value: str, place: str
) -> None:
    (folder / "failing.py").write_text(FAILING, encoding="utf-8")
    (folder / "prices.py").write_text(PRICES, encoding="utf-8")
    line = {"topic": "lines", "key": "k", "value": value, "timestamp": 1}
    (folder / "fails.jsonl").write_text(json.dumps(line), encoding="utf-8")
    (folder / "fails").mkdir(exist_ok=True)
    test = {"inputs": [line], "expected": {"outputs": []}}
    (folder / "fails" / "one.json").write_text(json.dumps(test), encoding="utf-8")
    simulated = run("simulate", "failing.py", "--inputs", "fails.jsonl")
    assert simulated.returncode == 3, simulated.stderr
    assert place in json.loads(simulated.stderr.splitlines()[-1])["error"]["message"]
    tested = run("test-topology", "failing.py", "--tests", "fails")
    assert tested.returncode == 1
    assert place in tested.stdout


@pytest.mark.spark
@pytest.mark.slow
def test_a_cold_call_and_a_resident_one_print_the_same(run: Run) -> None:
    words = ("simulate", "job.py", "--inputs", "in.jsonl")
    warm = run(*words)
    [before] = residents.living()
    cold = run(*words, MILLRACE_RESIDENT="0")
    assert (warm.returncode, warm.stdout, warm.stderr) == (0, cold.stdout, cold.stderr)
    assert cold.returncode == 0
    assert residents.living() == [before]


SEEN = """
import os, sys
from millrace_runtime import Topology, string

text = sys.stdin.readline().strip()
sys.stderr.write(f"{text} {os.environ['SHOP']} {os.path.basename(os.getcwd())}\\n")
if text == "leave":
    os._exit(5)
if text == "wrong":
    raise ValueError("no shop")
topology = Topology("shop")
topology.stream("in", key=string(), value=string()).to("out")
"""


@pytest.mark.spark
@pytest.mark.slow
def test_a_program_runs_as_in_its_callers_process(run: Run, folder: Path) -> None:
    (folder / "seen.py").write_text(SEEN, encoding="utf-8")
    run("describe", "job.json")
    [before] = residents.living()
    for typed, code in (("first", 0), ("leave", 5), ("wrong", 2)):
        warm = run("describe", "seen.py", typed=typed, SHOP="anna")
        assert warm.returncode == code, warm.stderr
        assert warm.stderr.startswith(f"{typed} anna {folder.name}\n")
    cold = run("describe", "seen.py", typed=typed, SHOP="anna", MILLRACE_RESIDENT="0")
    assert (warm.returncode, warm.stdout, warm.stderr) == (
        cold.returncode, cold.stdout, cold.stderr,
    )  # fmt: skip
    assert warm.stderr.splitlines()[1] == "seen.py, line 10: ValueError: no shop"
    assert residents.living() == [before]


@pytest.mark.spark
@pytest.mark.slow
def test_the_socket_is_private_and_down_ends_the_process(run: Run) -> None:
    run("describe", "job.py")
    [found] = residents.living()
    place = residents.folder()
    assert place is not None
    assert place.stat().st_mode & 0o777 == 0o700
    assert found.socket.stat().st_mode & 0o777 == 0o600
    assert str(found.pid) in run("status").stdout
    run("down")
    assert residents.living() == []
    assert not Path(f"/proc/{found.pid}").exists()


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.alone
def test_the_next_calls_take_a_fraction_of_the_first(run: Run) -> None:
    times = []
    run("down")
    for _ in range(5):
        began = time.monotonic()
        assert run("simulate", "job.py", "--inputs", "in.jsonl").returncode == 0
        times.append(time.monotonic() - began)
    assert min(times[1:]) < times[0] / 4, times


def test_ci_and_secrets_use_no_resident_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MILLRACE_RESIDENT")
    monkeypatch.delenv("CI", raising=False)
    assert residents.enabled()
    monkeypatch.setenv("CI", "true")
    assert not residents.enabled()
    monkeypatch.delenv("CI")
    monkeypatch.setenv("MILLRACE_REGISTRY_PASSWORDS", "{}")
    assert not residents.enabled()


def test_a_folder_that_others_can_open_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    place = residents.folder()
    assert place is not None
    place.chmod(0o755)
    assert residents.folder() is None


def test_another_version_of_the_code_has_another_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first = resident.key()
    assert resident.key() == first
    monkeypatch.setenv("MILLRACE_PROCESSOR_TIMEOUT_MS", "5")
    assert resident.key() != first


@pytest.mark.spark
@pytest.mark.slow
def test_verify_runs_the_code_in_kafka_streams_and_names_lines(run: Run, folder: Path) -> None:
    (folder / "failing.py").write_text(FAILING, encoding="utf-8")
    (folder / "prices.py").write_text(PRICES, encoding="utf-8")

    def verified(*values: str) -> subprocess.CompletedProcess[str]:
        lines = [
            {"topic": "lines", "key": "k", "value": value, "timestamp": at}
            for at, value in enumerate(values)
        ]
        (folder / "verified.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
        return run("verify", "failing.py", "--inputs", "verified.jsonl")

    same = verified("axb", "xx")
    assert (same.returncode, same.stdout, same.stderr.splitlines()[-1]) == (0, "", "equal")
    stopped = verified("axb", "")
    assert stopped.returncode == 0, stopped.stderr
    told = stopped.stderr.splitlines()[-2]
    assert told.startswith("Both stop. failing.py, line 21: divide: ")
    assert told.endswith("ZeroDivisionError: division by zero (failing.py, line 14)")
    assert verified("b").stderr.splitlines()[-2].endswith("(prices.py, line 2)")


@pytest.mark.spark
@pytest.mark.slow
def test_simulate_prints_what_nodes_print_and_drop(run: Run, folder: Path) -> None:
    text = PROGRAM.replace('"word-count"', '"printing", processing_handler="continue"').replace(
        "words.count",
        'lines.peek(lambda value: print("got", value), name="look").filter('
        '"1 DIV (length(value) - 5) > 0", name="long")\nwords.count',
    )
    (folder / "printing.py").write_text(text, encoding="utf-8")
    done = run("simulate", "printing.py", "--inputs", "in.jsonl")
    assert done.returncode == 0, done.stderr
    told = done.stderr.splitlines()
    assert "INFO look (input 1): got to be" in told
    assert any(each.startswith("long: 1 record dropped (") for each in told), told


@pytest.mark.spark
@pytest.mark.slow
def test_verify_says_that_only_kafka_streams_refuses(run: Run, folder: Path) -> None:
    text = PROGRAM.replace(
        '.group_by("value")',
        '.group_by("value").windowed_by(tumbling(unit="day"), emit="window_close")',
    ).replace("key_value_store(", "window_store(")
    text = text.replace("key_value_store", "tumbling, window_store", 1)
    (folder / "days.py").write_text(text, encoding="utf-8")
    done = run("verify", "days.py", "--inputs", "in.jsonl")
    assert (done.returncode, done.stdout) == (1, "expected a refusal, but it ran\n")
    assert "Kafka Streams refuses this topology, which runs here: count: " in done.stderr
    assert "ON_WINDOW_CLOSE strategy is only supported for TimeWindows" in done.stderr


@pytest.mark.spark
@pytest.mark.slow
def test_an_error_of_an_expression_names_the_programs_line(run: Run, folder: Path) -> None:
    text = PROGRAM.replace("split(value, ' ')", "split(raise_error(value), ' ')")
    (folder / "raising.py").write_text(text, encoding="utf-8")
    done = run("simulate", "raising.py", "--inputs", "in.jsonl")
    assert done.returncode == 3, done.stderr
    error = json.loads(done.stderr.splitlines()[-1])["error"]
    assert (error["file"], error["line"], error["node"]) == ("raising.py", 6, "words")


class Terminal(io.StringIO):
    """A standard error that somebody reads."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_is_told_what_a_command_waits_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(residents, "TOLD_SECONDS", 0.1)
    monkeypatch.setattr(sys, "stderr", seen := Terminal())
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(0.5)"]) as process:
        assert residents.started(tmp_path / "none", process, "Spark") is None
    assert seen.getvalue() == "Loading Spark; the next call finds it loaded …\n"


WIDE = """
from millrace_runtime import Topology, string

topology = Topology("wide", partitions={"words": 3, "names": 2})
names = topology.table("names", key=string(), value=string())
words = topology.stream("words", key=string(), value=string())
words.select_key("value").repartition(partitions=2).join(names, joiner="right").to("named")
"""


@pytest.mark.spark
@pytest.mark.slow
def test_verify_compares_in_one_partition_and_says_so(run: Run, folder: Path) -> None:
    (folder / "wide.py").write_text(WIDE, encoding="utf-8")
    keys = [chr(ord("a") + each) for each in range(8)]
    lines = [{"topic": "names", "key": each, "value": each, "timestamp": 1} for each in keys]
    lines += [{"topic": "words", "key": "k", "value": each, "timestamp": 2} for each in keys]
    (folder / "wide.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    done = run("verify", "wide.py", "--inputs", "wide.jsonl")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Compared with one partition for each topic" in done.stderr


def test_a_process_that_ends_leaves_the_socket_of_its_successor(tmp_path: Path) -> None:
    base = tmp_path / "one"
    with residents.listen(base):
        notes = base.with_suffix(".json")
        notes.write_text(json.dumps({"pid": os.getpid() + 1}), encoding="utf-8")
        residents.forget(base)
        assert residents.connected(base.with_suffix(".sock"))
        notes.write_text(json.dumps({"pid": os.getpid()}), encoding="utf-8")
        residents.forget(base)
        assert list(tmp_path.iterdir()) == []
