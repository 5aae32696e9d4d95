"""``./millrace test`` and ``e2e``: run all tests, with their set-up, and print one total."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path

from checks import chromium
from checks.check import FAST
from checks.steps import environment
from launcher import archive, commands, jars, node, places
from launcher.console import echo
from launcher.up import build_operator

#: options of pytest, and files or folders
Selection = tuple[Sequence[str], Sequence[str]]
#: pytest's exit code when a selection is empty
NOTHING_COLLECTED = 5
#: files named at the end, those that took the longest
SLOWEST = 25
#: folders whose tests with services run after those in the browser, while the others still run
AFTER_BROWSER = ("runtime/driver", "runtime/processor")
#: how a failed test is repeated, if it is the only one: alone, with the same random numbers
AGAIN = ("-n", "0", "--last-failed", "--lfnf=none", "--randomly-seed=last")


@dataclass
class Sum:
    """The numbers of tests that passed, failed or were skipped, and the seconds of each file."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    #: those that failed once and passed when they were repeated, which count as passed
    unsteady: list[str] = field(default_factory=list)

    def add(self, other: Sum) -> None:
        """Add the numbers of another runner."""
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.failures += other.failures
        self.unsteady += other.unsteady
        for name, seconds in other.seconds.items():
            self.seconds[name] = self.seconds.get(name, 0.0) + seconds

    def repeated(self, again: Sum) -> None:
        """Take what the failed tests gave when they were repeated in place of their failures."""
        if again.passed + again.failed != self.failed:
            return
        self.passed += again.passed
        self.failed = again.failed
        self.unsteady = [name for name in self.failures if name not in again.failures]
        self.failures = again.failures


def main(arguments: list[str]) -> int:
    """Run all tests, or those in the paths; the last line is `N passed, N failed`."""
    parser = commands.parser(arguments[0])
    parser.add_argument("paths", nargs="*", help="files or folders of tests (default: all)")
    parser.add_argument("-k", default=None, help="only tests whose name matches, as with pytest -k")
    parser.add_argument("--long", action="store_true", help="also run the longest tests")
    options = parser.parse_args(arguments[1:])
    began = time.monotonic()
    paths = [from_caller(path) for path in options.paths]
    if arguments[0] == "e2e":
        paths = paths or [str(places.REPOSITORY / "tests" / "e2e")]
    python_paths = [path for path in paths if not _of_the_page(path)]
    page_paths = [path for path in paths if _of_the_page(path)]
    total = Sum()
    with ThreadPoolExecutor(2) as pool:
        java = pool.submit(prepare_java) if not paths or python_paths else None
        node.ensure_packages()
        page = pool.submit(vitest, page_paths) if not paths or page_paths else None
        if java is not None:
            prepare_browser(python_paths)
            java.result()
            total.add(python(python_paths, options.k, options.long))
        if page is not None:
            total.add(page.result())
    if not paths:
        slowest = sorted(total.seconds, key=lambda name: -total.seconds[name])[:SLOWEST]
        for name in slowest:
            echo(f"test: {total.seconds[name]:5.0f} s {name}")
    for name in total.unsteady:
        echo(f"test: failed, and passed when it was repeated: {name}")
    echo(f"test: {total.skipped} skipped, {time.monotonic() - began:.0f} s")
    print(f"{total.passed} passed, {total.failed} failed", flush=True)
    return 0 if total.failed == 0 and total.passed > 0 else 1


def python(paths: Sequence[str], name: str | None, long: bool) -> Sum:
    """Run the tests in Python: the fast ones, those with services, then those that run alone."""
    total = Sum()
    named = ["-k", name] if name else []
    total.add(pytest("fast tests", [([*named, "-m", FAST, "-n", "2"], paths)]))
    chosen = f"not ({FAST})" + ("" if long or paths else " and not long")
    without_browser = [*named, "-m", f"{chosen} and not alone and not browser"]
    # One more than processors: many of these tests wait, for a driver or a record.
    workers = ["-n", "3", "--dist", "loadfile"]
    in_browser = [*named, "-m", f"{chosen} and not alone and browser"]
    services = "tests with services and in the browser"
    if paths:
        lanes = [[([*without_browser, *workers], paths)], [(in_browser, paths)]]
    else:
        later = [str(places.REPOSITORY / "tests" / folder) for folder in AFTER_BROWSER]
        ignored = [f"--ignore={folder}" for folder in later]
        lanes = [
            [([*without_browser, *workers, *ignored], paths)],
            [(in_browser, naming("browser")), (without_browser, later)],
        ]
    total.add(pytest(services, *lanes))
    alone = [*named, "-m", f"{chosen} and alone"]
    total.add(pytest("tests with services, one at a time", [(alone, paths or naming("alone"))]))
    return total


def naming(mark: str) -> list[str]:
    """Return the files that name a mark: to collect all tests for the few takes many seconds."""
    files = sorted((places.REPOSITORY / "tests").rglob("test_*.py"))
    names = (f"mark.{mark}", "OWN_SYSTEM")
    return [str(each) for each in files if any(name in each.read_text() for name in names)]


def prepare_java() -> None:
    """Prepare what the tests need of Java: jars, operator and archive. May raise Problem."""
    jars.ensure("broker", "connector", "oracle")
    build_operator()
    archive_classes()


def prepare_browser(paths: Sequence[str]) -> None:
    """Build the page and find a browser, if there are journeys among the paths."""
    if not paths or any("e2e" in path for path in paths):
        node.build_page()
        found, reason = chromium.ensure()
        if found:
            os.environ["MILLRACE_CHROMIUM"] = found
        else:
            echo(f"test: the journeys will be skipped; {reason}")
            os.environ["MILLRACE_NO_CHROMIUM"] = reason


def archive_classes() -> None:
    """Have Spark's classes archived, which halves what each start of Spark in the tests costs."""
    classes = archive.spark()
    if classes.ready() or not (options := classes.use_or_make()):
        return
    with tempfile.TemporaryDirectory(prefix="millrace-test-") as folder:
        # Its Java writes the archive after it has ended, and until then keeps the pipe open.
        subprocess.run(
            [
                *(sys.executable, "-m", "millrace_runtime.analyzer", "--preload"),
                *("--functions", str(Path(folder) / "functions.json")),
            ],
            env={**environment(), **archive.with_options(options)},
            capture_output=True,
            check=False,
        )
    os.environ.update(archive.with_options(classes.use()))


def pytest(name: str, *lanes: Sequence[Selection]) -> Sum:
    """Run pytest for each selection: the lanes at the same time, the selections of one in order.

    If a single test failed, it is repeated when nothing else runs, and named at the end if it then
    passes: it depends on what runs beside it, which is a fault to be found.

    The browser's tests need a process of their own: Playwright leaves an event loop running in it,
    in which Django refuses queries.
    """
    echo(f"test: {name}")
    with tempfile.TemporaryDirectory(prefix="millrace-test-") as folder:
        kept = (Path(folder) / str(number) for number in count())
        runs = [
            [
                (each, [f"--junitxml={each}.xml", "-o", f"cache_dir={each}", *options, *paths])
                for (options, paths), each in zip(lane, kept, strict=False)
            ]
            for lane in lanes
        ]
        total = Sum()
        codes = run_pytest([[run for _, run in lane] for lane in runs])
        for (each, run), code in zip(chain(*runs), chain(*codes), strict=True):
            report = Path(f"{each}.xml")
            result = read_junit(report, code)
            if len(result.failures) == result.failed == 1:
                echo(f"test: again, alone: {', '.join(result.failures)}")
                report.unlink()
                [[again]] = run_pytest([[[*run, *AGAIN]]])
                result.repeated(read_junit(report, again))
            total.add(result)
    return total


def run_pytest(lanes: Sequence[Sequence[Sequence[str]]]) -> list[list[int]]:
    """Exit codes of pytest for each list of arguments, the lanes run at the same time.

    After an interrupt, wait until their brokers and servers have stopped.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    running: dict[int, subprocess.Popen[bytes]] = {}
    codes: list[list[int]] = [[] for _ in lanes]
    try:
        while any(len(found) < len(lane) for found, lane in zip(codes, lanes, strict=True)):
            for number, lane in enumerate(lanes):
                if number not in running and len(codes[number]) < len(lane):
                    running[number] = start_pytest(lane[len(codes[number])])
                elif number in running and (code := running[number].poll()) is not None:
                    codes[number].append(code)
                    del running[number]
            time.sleep(0.05)
    except KeyboardInterrupt:
        for process in running.values():
            process.send_signal(signal.SIGTERM)
        for process in running.values():
            process.wait()
        raise
    return codes


def start_pytest(arguments: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start pytest; what it prints goes to standard error."""
    return subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", "--durations=20", "--durations-min=10", *arguments],
        cwd=places.REPOSITORY,
        env=environment(),
        stdout=sys.stderr,
    )


def read_junit(report: Path, code: int) -> Sum:
    """Read a JUnit file; an error during set-up counts as a failure, and so does another code."""
    result = Sum()
    if not report.exists():
        result.failed = 0 if code in {0, NOTHING_COLLECTED} else 1
        return result
    root = ET.parse(report).getroot()  # noqa: S314
    for case in root.iter("testcase"):
        name = case.get("classname", "")
        result.seconds[name] = result.seconds.get(name, 0.0) + float(case.get("time", "0"))
        if case.find("failure") is not None or case.find("error") is not None:
            result.failures.append(f"{name}::{case.get('name')}")
    for suite in root.iter("testsuite"):
        figures = {
            key: int(suite.get(key, "0")) for key in ("tests", "failures", "errors", "skipped")
        }
        bad = figures["failures"] + figures["errors"]
        result.add(Sum(figures["tests"] - bad - figures["skipped"], bad, figures["skipped"]))
    if code not in {0, NOTHING_COLLECTED} and result.failed == 0:
        result.failed = 1  # it ended without a failed test
    return result


def vitest(paths: Sequence[str]) -> Sum:
    """Run the page's own tests."""
    echo("test: the page")
    with tempfile.TemporaryDirectory(prefix="millrace-test-") as folder:
        report = Path(folder) / "report.json"
        done = subprocess.run(
            ["npx", "vitest", "run", "--reporter=default", "--reporter=json",
             f"--outputFile.json={report}", "--passWithNoTests", *paths],
            cwd=places.FRONTEND,
            stdout=sys.stderr,
            check=False,
        )  # fmt: skip
        if not report.exists():
            return Sum(failed=0 if done.returncode == 0 else 1)
        content = json.loads(report.read_text(encoding="utf-8"))
    result = Sum(
        content["numPassedTests"],
        content["numFailedTests"],
        content["numPendingTests"] + content["numTodoTests"],
    )
    if done.returncode != 0 and result.failed == 0:
        # A file that could not be loaded has no failed test to count.
        result.failed = max(1, content["numFailedTestSuites"])
    return result


def from_caller(path: str) -> str:
    """Resolve a path relative to the folder in which ./millrace was called."""
    called_from = Path(os.environ.get("MILLRACE_CALLED_FROM", "."))
    return str((called_from / path).resolve())


def _of_the_page(path: str) -> bool:
    return Path(path).is_relative_to(places.FRONTEND)
