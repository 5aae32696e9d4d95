"""The options of a job, checked before Spark is started."""

from __future__ import annotations

import argparse
import math
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from millrace_compiler.connections import kafka_clients

from millrace_runtime.checkpoint import storage
from millrace_runtime.errors import MillraceError
from millrace_runtime.job import real_time, record_handlers

_HOST = re.compile(r"(?:[A-Z_]+://)?(?:\[[0-9a-fA-F:.%]+\]|[\w.-]+):(\d{1,5})")
_INTERVAL = re.compile(r"\d+ (?:milliseconds?|seconds?|minutes?|hours?|days?)")
_MASTER = re.compile(
    r"local|local\[(?:\d+|\*)(?:, ?\d+)?\]|local-cluster\[.+\]|spark://.+|k8s://.+|yarn"
)

#: variable with the seconds without records after which a job sleeps; 0: never
SLEEP = "MILLRACE_SLEEP_SECONDS"
SLEEP_SECONDS = 600.0


def add_options(p: argparse.ArgumentParser) -> None:
    """Add the options that drivers of both dialects have."""
    p.add_argument(
        "--start",
        choices=("earliest", "latest"),
        help="where the first run starts reading streams and tables (default: the setting of "
        "each source); global tables are always read from the beginning. With a checkpoint, "
        "the job continues where it stopped",
    )
    p.add_argument(
        "--begin",
        metavar="JSON",
        help='start a job that has run before from another position, once: {"reset": true} '
        'with empty stores, {"from": "earliest"}, {"from": "latest"}, {"from": '
        '"sources"}, {"from": "time", "time": MS} or {"from": "offsets", '
        '"offsets": {"TOPIC": {"PARTITION": OFFSET}}}; "id" distinguishes requests',
    )
    p.add_argument(
        "--control",
        metavar="FILE",
        help="a file that contains pause (read nothing until the file is removed) or drain (read "
        "up to the current end of the topics, then stop)",
    )
    p.add_argument(
        "--trigger",
        default="0 seconds",
        help="time between micro-batches (default: 0 seconds, with pauses of up to 200 ms while "
        "there are few records)",
    )
    p.add_argument(
        "--notes",
        metavar="DIR",
        help="a folder for copies of the notes of a checkpoint that is stored elsewhere",
    )
    p.add_argument(
        "--master", default=None, help="Spark master (default: SPARK_MASTER, or local[*])"
    )
    p.add_argument(
        "--report",
        metavar="URL",
        default=os.environ.get("MILLRACE_REPORT"),
        help="Redis for the job's reports (default: MILLRACE_REPORT)",
    )
    p.add_argument("--run", default="local", help="name of this run in reports")
    p.add_argument(
        "--kafka-config",
        metavar="FILE",
        default=os.environ.get(kafka_clients.FILE),
        help="Kafka client settings (key=value lines), such as security; "
        "default: MILLRACE_KAFKA_CONFIG, and variables MILLRACE_KAFKA_security_protocol ...",
    )
    p.add_argument(
        "--spark-config",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="Spark setting (repeatable)",
    )


def sleep_seconds() -> float:
    """Return the seconds without records after which jobs sleep; 0: never.

    Raises MillraceError `option_invalid` if the variable has another value.
    """
    text = os.environ.get(SLEEP) or str(SLEEP_SECONDS)
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < math.inf:
        raise MillraceError(
            "option_invalid", f"{SLEEP} is {text!r}, but must be a number of seconds, 0 or more."
        )
    return seconds


def checked(arguments: argparse.Namespace) -> None:
    """Raise MillraceError for invalid options or a checkpoint folder that is not writable.

    Codes: `option_missing`, `option_invalid`, `checkpoint_unwritable`.
    """
    if not arguments.bootstrap_servers:
        raise MillraceError(
            "option_missing",
            "No broker is set. Pass --bootstrap-servers HOST:PORT or set KAFKA_BOOTSTRAP_SERVERS.",
            facts={"option": "--bootstrap-servers"},
        )
    for server in arguments.bootstrap_servers.split(","):
        found = _HOST.fullmatch(server.strip())
        if not found or not 0 < int(found[1]) < 1 << 16:
            raise _invalid("--bootstrap-servers", server, "HOST:PORT, several with commas")
    for setting in arguments.spark_config:
        if not setting.partition("=")[1] or setting.startswith("="):
            raise _invalid("--spark-config", setting, "KEY=VALUE")
    if not _INTERVAL.fullmatch(arguments.trigger):
        raise _invalid("--trigger", arguments.trigger, "an interval such as “5 seconds”")
    _mode(arguments)
    if arguments.max_records < 1:
        raise _invalid("--max-records", str(arguments.max_records), "1 or more")
    if arguments.master and not _MASTER.fullmatch(arguments.master):
        raise _invalid("--master", arguments.master, "local[N], local[*], spark://HOST:PORT …")
    sleep_seconds()
    record_handlers.handlers_of(arguments)
    if arguments.kafka_config:
        _readable(arguments.kafka_config)
    storage.require_location(arguments.checkpoint)
    folder = storage.folder_of(arguments.checkpoint)
    if isinstance(folder, Path):
        _writable(folder)


def _mode(arguments: argparse.Namespace) -> None:
    if arguments.real_time:
        if arguments.available_now:
            raise MillraceError(
                "option_invalid",
                "--available-now and --real-time cannot be used together.",
            )
        real_time.batch_ms(arguments.real_time)
    if arguments.follow and (arguments.real_time or not storage.is_local(arguments.checkpoint)):
        raise MillraceError(
            "option_invalid",
            "--follow requires micro-batches and a checkpoint in a local folder.",
        )
    if arguments.copy_state and not arguments.follow:
        raise MillraceError("option_invalid", "--copy-state requires --follow.")


def _invalid(option: str, found: str, needed: str) -> MillraceError:
    return MillraceError("option_invalid", f"{option} is {found!r}, but must be {needed}.")


def _readable(file: str) -> None:
    try:
        Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise MillraceError(
            "option_invalid", f"--kafka-config: {file} cannot be read: {error.strerror}."
        ) from None
    except UnicodeDecodeError:
        raise MillraceError(
            "option_invalid", f"--kafka-config: {file} is not UTF-8 text."
        ) from None


def _writable(folder: Path) -> None:
    """Create the folder and test whether files can be written into it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as trial:
            trial.write(b"?")
            trial.flush()
    except OSError as error:
        raise MillraceError(
            "checkpoint_unwritable",
            f"The checkpoint folder {folder} is not writable: {error.strerror}. Choose another "
            "one with --checkpoint, or change its permissions.",
            facts={"folder": folder, "reason": error.strerror},
        ) from None


def kafka_options(file: str | None, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of Kafka clients. Raises MillraceError `option_invalid`."""
    try:
        return kafka_clients.settings(environment, file)
    except (ValueError, OSError) as error:
        raise MillraceError("option_invalid", str(error)) from None
