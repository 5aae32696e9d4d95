"""`python -m cli.answering FOLDER`: compares Kafka Streams with what Millrace found.

The folder has `scenario.json`, with what Millrace `found` for it. `progress` gets a word for what
is done now: `jars` are fetched if they are not there yet, the oracle is compiled and started
(`start`), the scenario runs (`run`). `answer.json` gets `{"differences": [a difference, …]}` or
`{"error": {"code": …, "facts": …, "message": a sentence}}`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from millrace_runtime.comparing import compared
from millrace_runtime.errors import MillraceError

from cli.oracle import Oracle
from launcher import jars

#: differences that an answer has at most
MOST_DIFFERENCES = 50


def main(folder: Path) -> int:
    """Always writes an answer; the exit code is 0."""
    scenario = json.loads((folder / "scenario.json").read_text(encoding="utf-8"))

    def progress(word: str) -> None:
        (folder / "progress").write_text(word, encoding="utf-8")

    try:
        progress("jars")
        jars.ensure("oracle")
        progress("start")
        with Oracle() as oracle:
            progress("run")
            scenario["expected"] = oracle.run(scenario)
        found = compared(scenario, scenario["found"], "each")
        answer: dict[str, Any] = {
            "differences": [each.to_json() for each in found[:MOST_DIFFERENCES]]
        }
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
