"""`python -m cli.answering FOLDER`: compare Kafka Streams with the results of Millrace.

The folder has `scenario.json`, with Millrace's results in `found`. The file `progress` contains the
current step: `jars` (download them if they are missing), `start` (compile and start the oracle) or
`run` (run the scenario). `answer.json` receives `{"differences": [a difference, …]}` or `{"error":
{"code": …, "facts": …, "message": a sentence}}`.
"""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path

from millrace_model.scenarios import Answer, Scenario
from millrace_runtime.errors import MillraceError
from millrace_runtime.results.comparing import compared

from cli.oracle import Oracle
from launcher import jars

#: maximum number of differences in an answer
MOST_DIFFERENCES = 50


def main(folder: Path) -> int:
    """Write an answer in any case, and return exit code 0."""
    scenario: Scenario = json.loads((folder / "scenario.json").read_text(encoding="utf-8"))

    def progress(word: str) -> None:
        (folder / "progress").write_text(word, encoding="utf-8")

    # The answer does not wait for the end of the JVM.
    with contextlib.ExitStack() as running:
        try:
            progress("jars")
            jars.ensure("oracle")
            progress("start")
            oracle = running.enter_context(Oracle(archive=True))
            progress("run")
            scenario["expected"] = oracle.run(scenario)
            found = compared(scenario, scenario["found"], "each")
            answer: Answer = {"differences": [each.to_json() for each in found[:MOST_DIFFERENCES]]}
        except MillraceError as error:
            answer = {"error": {"code": error.code, "facts": error.facts, "message": error.message}}
        except Exception as error:  # noqa: BLE001 - whatever it is, the answer says so
            reason = f"{type(error).__name__}: {error}"
            answer = {
                "error": {"code": "streams_failed", "facts": {"reason": reason}, "message": reason}
            }
        partial = folder / "answer.partial"
        partial.write_text(json.dumps(answer, ensure_ascii=False), encoding="utf-8")
        partial.rename(folder / "answer.json")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
