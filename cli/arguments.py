"""Options of the commands on documents, in a function `NAME_options` for each command.

The commands themselves are declared in launcher/commands.py.
"""

from __future__ import annotations

import argparse

from millrace_compiler.state import plan_text

from launcher.commands import COMMANDS

#: of the values of a topology's parameters
ENVIRONMENTS = ("dev", "test", "prod")
#: of a search for a difference
MOST_SECONDS = 3_600


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands. Names and help come from launcher/commands.py."""
    made = argparse.ArgumentParser(prog="millrace", description="Kafka Streams on Spark.")
    parsers = made.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in COMMANDS.values():
        if command.in_wheel:
            options = globals()[f"{command.name.replace('-', '_')}_options"]
            options(parsers.add_parser(command.name, help=command.help, description=command.help))
    return made


def deploy_options(p: argparse.ArgumentParser) -> None:
    """Options of `deploy` over a server's API; those without it are the backend's."""
    p.add_argument(
        "deployment", metavar="DEPLOYMENT", type=plan_text.deployment_number, help="its number"
    )
    plan_text.add_options(p)


def compile_options(p: argparse.ArgumentParser) -> None:
    """Options of `compile`."""
    p.add_argument("document", metavar="DOC", help="a topology document or a program (job.py)")
    p.add_argument("-o", "--output", required=True, metavar="DIR", help="output folder")
    p.add_argument("--json", action="store_true", help="print diagnostics as JSON")
    p.add_argument(
        "--real-time",
        action="store_true",
        help="also refuse topologies that cannot run in real-time mode",
    )
    _dialect(p)
    _kubernetes(p)
    _environment(p)


def _kubernetes(p: argparse.ArgumentParser) -> None:
    """The profile of kubernetes.yaml."""
    group = p.add_argument_group("kubernetes.yaml", "how the job runs on Kubernetes")
    group.add_argument("--name", help="name of all objects (default: the topology's)")
    group.add_argument("--image", default="", help="image of the pods (default: NAME:latest)")
    group.add_argument("--namespace", default="default", help="namespace (default: default)")
    group.add_argument(
        "--bootstrap-servers", default="kafka:9092", metavar="HOST:PORT", help="Kafka brokers"
    )
    group.add_argument(
        "--executors",
        type=int,
        default=0,
        help="pods that run tasks, in addition to the driver's (default: 0, the driver runs them)",
    )
    group.add_argument(
        "--cores", type=int, default=2, help="cores of each pod that runs tasks (default: 2)"
    )
    group.add_argument(
        "--memory-mb",
        type=int,
        default=1024,
        help="heap of each pod that runs tasks (default: 1024)",
    )
    group.add_argument(
        "--checkpoint", default="", metavar="URI", help="s3a://BUCKET/FOLDER (default: a volume)"
    )
    group.add_argument(
        "--volume", default="10Gi", metavar="SIZE", help="size of the volume (default: 10Gi)"
    )
    group.add_argument("--storage-class", default="", help="storage class of the volume")
    group.add_argument(
        "--secret", default="", help="Secret with variables for all pods, such as credentials"
    )


def document_options(p: argparse.ArgumentParser) -> None:
    """Options of `document`."""
    p.add_argument("program", metavar="PROGRAM", help="a job.py, or the folder that contains it")
    p.add_argument("-o", "--output", metavar="DOC", help="output file (default: standard output)")


def describe_options(p: argparse.ArgumentParser) -> None:
    """Options of `describe`."""
    p.add_argument("document", metavar="DOC", help="a topology document or a program (job.py)")
    p.add_argument("--json", action="store_true", help="as JSON")
    p.add_argument(
        "--guarantees",
        action="store_true",
        help="also show how each node runs and what it guarantees",
    )
    _environment(p)


def simulate_options(p: argparse.ArgumentParser) -> None:
    """Options of `simulate`."""
    p.add_argument("document", metavar="DOC", help="a topology document or a program (job.py)")
    p.add_argument(
        "--inputs", required=True, metavar="IN.jsonl", help="JSON lines, one for each record"
    )
    p.add_argument("--output", metavar="OUT.jsonl", help="output file (default: standard output)")
    _cutting(p)
    _dialect(p)
    _environment(p)
    _doubles(p)


def _doubles(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--doubles",
        action="store_true",
        help="run the document's doubles (drawing.doubles) in place of their nodes",
    )


def conformance_options(p: argparse.ArgumentParser) -> None:
    """Options of `conformance`."""
    p.add_argument("folder", metavar="DIR", help="the scenario files")
    p.add_argument(
        "--out", required=True, metavar="RESULTS", help="output folder for one ID.json each"
    )
    p.add_argument("--only", metavar="ID,ID", help="only these scenarios")
    p.add_argument(
        "--parallel",
        type=int,
        default=2,
        choices=(1, 2),
        help="number of concurrent scenarios (default: 2)",
    )
    _cutting(p)
    _dialect(p)


def _dialect(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--dialect",
        choices=("exact", "plain"),
        default="exact",
        help="exact: Kafka Streams' results; plain: ordinary Structured Streaming that imports "
        "nothing but pyspark (default: exact)",
    )


def _cutting(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--cut",
        default="each",
        metavar="each|all|random:SEED",
        help="micro-batches: one for each line, as few as possible, or random (default: each)",
    )
    p.add_argument("--restart-each", action="store_true", help="restart after every micro-batch")


def run_options(p: argparse.ArgumentParser) -> None:
    """Options of `run`."""
    p.add_argument("document", metavar="DOC", help="a topology document or a program (job.py)")
    p.add_argument("--bootstrap-servers", required=True, metavar="HOST:PORT")
    trigger = p.add_mutually_exclusive_group()
    trigger.add_argument(
        "--available-now", action="store_true", help="process all available records, then stop"
    )
    trigger.add_argument(
        "--real-time",
        metavar="DURATION",
        help="process each record when it arrives, and save state and offsets at this interval, "
        "such as '10 seconds' (default: micro-batches)",
    )
    p.add_argument(
        "--master", metavar="URL", help="Spark master (default: SPARK_MASTER, or this machine)"
    )
    p.add_argument(
        "--checkpoint",
        metavar="PLACE",
        help="folder or URI, such as s3a://BUCKET/FOLDER, for offsets and state (default: a folder "
        "by the topology's name)",
    )
    p.add_argument(
        "--decide",
        action="append",
        default=[],
        metavar="STORE=reset|drop|convert:EXPRESSION",
        help="what to do with a store of the checkpoint that this version cannot read; the "
        "expression computes new values from `old` (repeatable)",
    )
    _dialect(p)
    _environment(p)


def compare_state_options(p: argparse.ArgumentParser) -> None:
    """Options of `compare-state`."""
    p.add_argument("old", metavar="OLD_DOC", help="document of the running topology")
    p.add_argument("new", metavar="NEW_DOC", help="document of the topology that replaces it")
    p.add_argument("--json", action="store_true", help="as JSON")
    _environment(p)


def differ_options(p: argparse.ArgumentParser) -> None:
    """Options of `differ`."""
    p.add_argument("old", metavar="OLD_DOC", help="a topology document or a program (job.py)")
    p.add_argument("new", metavar="NEW_DOC", help="the version to compare with it")
    p.add_argument(
        "--seconds",
        type=_seconds,
        default=30.0,
        help="maximum duration of the search (default: 30)",
    )
    p.add_argument("--tests", metavar="DIR", help="begin with the inputs of these tests")
    p.add_argument("--inputs", metavar="IN.jsonl", help="begin with these input lines")
    p.add_argument("--seed", type=int, default=0, help="of the random inputs (default: 0)")
    p.add_argument("--write", metavar="OUT.jsonl", help="write the found input, for `simulate`")
    p.add_argument("--line", action="store_true", help="as one line of Markdown")
    p.add_argument("--json", action="store_true", help="as JSON")
    _environment(p)


compare_results_options = differ_options


def _environment(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--environment",
        choices=ENVIRONMENTS,
        help="use the values of this environment for the topology's parameters (default: that in "
        "MILLRACE_ENVIRONMENT, or the parameters' defaults)",
    )


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value <= MOST_SECONDS:
        raise argparse.ArgumentTypeError(f"must be above 0 and at most {MOST_SECONDS:,.0f}")
    return value


def state_options(p: argparse.ArgumentParser) -> None:
    """Options of `state`."""
    p.add_argument(
        "checkpoint",
        metavar="DEPLOYMENT_OR_CHECKPOINT",
        help="number of a deployment of this installation, or a job's checkpoint folder or URI",
    )
    p.add_argument(
        "store",
        nargs="?",
        metavar="STORE",
        help="id or name of the store; if omitted, all stores are listed",
    )
    p.add_argument(
        "--key", metavar="KEY", help="rows of one key: plain text for STRING keys, JSON for others"
    )
    p.add_argument("--from", dest="start", metavar="KEY", help="the first key of a range")
    p.add_argument("--to", dest="end", metavar="KEY", help="the last key of a range")
    p.add_argument("--prefix", metavar="TEXT", help="keys with this prefix")
    times = "as milliseconds or ISO 8601"
    p.add_argument(
        "--from-time", metavar="TIME", help=f"windows that start at this time or later, {times}"
    )
    p.add_argument("--to-time", metavar="TIME", help="windows that start at this time or earlier")
    p.add_argument("--as-of", metavar="TIME", help="values of a versioned store at this time")
    p.add_argument(
        "--versions", action="store_true", help="all versions of a versioned store, one per row"
    )
    p.add_argument("--newest", action="store_true", help="latest first, instead of by key")
    p.add_argument("--after", metavar="TOKEN", help="`next` of the previous page")
    p.add_argument(
        "--limit",
        type=int,
        default=100,
        metavar="N",
        help="number of rows, at most 1000 (default: 100)",
    )
    p.add_argument("--json", action="store_true", help="as JSON")


def test_topology_options(p: argparse.ArgumentParser) -> None:
    """Options of `test-topology`."""
    p.add_argument("document", metavar="DOC", help="a topology document or a program (job.py)")
    p.add_argument(
        "--tests",
        metavar="DIR",
        help="folder of the tests, *.json (default: tests beside the document)",
    )
    p.add_argument("--json", action="store_true", help="print results as JSON")
    _environment(p)
    _doubles(p)


def verify_options(p: argparse.ArgumentParser) -> None:
    """Options of `verify`."""
    p.add_argument(
        "document", nargs="?", metavar="DOC", help="a topology document or a program (job.py)"
    )
    p.add_argument("--inputs", metavar="IN.jsonl", help="JSON lines, one for each record")
    p.add_argument("--random", type=int, metavar="N", help="verify N random topologies instead")
    p.add_argument(
        "--seed", type=int, default=1, metavar="S", help="seed of the first one (default: 1)"
    )
    p.add_argument(
        "--first", type=int, default=0, metavar="K", help="number of the first one (default: 0)"
    )
    p.add_argument(
        "--wide", action="store_true", help="topologies with more kinds and parameters: W1-0000"
    )
    p.add_argument(
        "--times",
        type=int,
        default=1,
        metavar="N",
        help="durations and timestamps of random topologies N times as long (default: 1)",
    )
    p.add_argument(
        "--pack",
        type=int,
        default=24,
        metavar="N",
        help="number of topologies in one query (default: 24)",
    )
    p.add_argument(
        "--unbatched",
        action="store_true",
        help="without Spark's micro-batches, which is much faster",
    )
    p.add_argument(
        "--describe",
        action="store_true",
        help="only compare both descriptions of the topology; run nothing",
    )
    p.add_argument(
        "--program",
        action="store_true",
        help="only check that the program of a document converts back to the document; run nothing",
    )
    p.add_argument("--keep", metavar="DIR", help="folder for scenarios that differ")
    p.add_argument(
        "--kafka",
        action="append",
        metavar="RELEASE",
        help="compare releases of Kafka Streams, such as 4.0 and 4.4, instead of Spark",
    )
    p.add_argument("--recorded", metavar="DIR", help="with --kafka: the scenarios in a folder")
    _cutting(p)
    _dialect(p)
    _environment(p)
