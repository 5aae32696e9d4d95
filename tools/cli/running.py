"""`run`: the compiled job on a real broker, in the foreground."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import quote

from tools.cli.compiling import compile_command
from tools.cli.documents import read_document


def run_command(arguments: argparse.Namespace) -> int:
    """Compiles into a scratch folder and runs job.py as a deployment would."""
    document = read_document(arguments.document)
    name = str(document.get("name") or "topology")
    data = Path(os.environ.get("MILLRACE_DATA") or Path.cwd() / ".millrace")
    # A name is any text; a folder's name is not.
    folder = quote(name, safe="").replace(".", "%2E")
    checkpoint = Path(arguments.checkpoint or data / "run" / "checkpoints" / folder)
    with tempfile.TemporaryDirectory(prefix="millrace-run-") as scratch:
        compiled = compile_command(
            argparse.Namespace(
                document=arguments.document,
                output=scratch,
                json=False,
                real_time=bool(arguments.real_time),
            )
        )
        if compiled != 0:
            return compiled
        command = [
            sys.executable, str(Path(scratch) / "job.py"), "--checkpoint", str(checkpoint),
            "--bootstrap-servers", arguments.bootstrap_servers,
        ]  # fmt: skip
        if arguments.available_now:
            command.append("--available-now")
        if arguments.real_time:
            command += ["--real-time", arguments.real_time]
        if arguments.master:
            command += ["--master", arguments.master]
        job = subprocess.Popen(command, cwd=scratch)
        try:
            return job.wait()
        except KeyboardInterrupt:  # the job got the signal as well and is stopping
            return job.wait(timeout=60)
