"""The commands of ``./millrace``: names, arguments and help, which are declared only here.

Uses only the standard library, because the script prints the usage before its environment exists.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from dataclasses import dataclass

#: runs the commands on documents
CLI = "cli.main"
#: runs the commands on deployments
BACKEND = "launcher.deployments"
#: column of the help texts in the usage
COLUMN = 44


@dataclass(frozen=True)
class Command:
    """One command."""

    name: str
    #: the module whose `main(arguments)` runs it and returns the exit code; for a command on
    #: documents `MODULE:FUNCTION`, whose options are in cli/arguments.py
    runs: str
    #: in the form of the usage
    arguments: str
    help: str
    #: False if the command does not start a Java
    java: bool = True
    #: `MODULE:FUNCTION` that runs it over the API of a server
    remote: str = ""

    @property
    def module(self) -> str:
        """The module whose `main` dispatches the command."""
        return CLI if self.on_documents else self.runs

    @property
    def on_documents(self) -> bool:
        """Whether it takes a document or a program and needs no server."""
        return ":" in self.runs

    @property
    def in_wheel(self) -> bool:
        """Whether the wheel has it."""
        return self.on_documents or bool(self.remote)

    @property
    def is_light(self) -> bool:
        """Whether it runs no Node, and begins with few imports."""
        return self.on_documents or self.runs == BACKEND

    def function(self) -> Callable[[argparse.Namespace], int]:
        """Return the function of a command of the wheel; importing it may load Spark."""
        module, _, name = (self.remote or self.runs).partition(":")
        found: Callable[[argparse.Namespace], int] = getattr(importlib.import_module(module), name)
        return found


#: in the order of the usage, an empty line between two groups
GROUPS: tuple[tuple[Command, ...], ...] = (
    (
        Command(
            "up",
            "launcher.up",
            "[--port N] [--no-sample] [--cluster]",
            "Start broker, Redis, database, backend, workers and page.",
        ),
        Command("down", "launcher.control", "", "Stop everything and keep the data.", java=False),
        Command(
            "status", "launcher.control", "[--json]", "Show the state of the services.", java=False
        ),
        Command(
            "logs",
            "launcher.control",
            "[NAME] [--follow]",
            "Show the log of a service, or all of them.",
            java=False,
        ),
        Command(
            "sign-in",
            BACKEND,
            "[USER]",
            "Print a new one-time sign-in link.",
            java=False,
        ),
        Command(
            "deploy",
            BACKEND,
            "DEPLOYMENT [--to VERSION | --document DOC] [--plan]",
            "Deploy another version; show what happens to each store.",
            java=False,
            remote="cli.deploying:deploy_command",
        ),
        Command(
            "scale",
            BACKEND,
            "DEPLOYMENT [--cores N] [--memory MB]",
            "Change the threads or memory of a running deployment.",
            java=False,
        ),
        Command(
            "shadow",
            BACKEND,
            "DEPLOYMENT [--start VERSION | --compare | --cancel | --end]",
            "Run another version beside a deployment and compare their outputs.",
            java=False,
        ),
        Command(
            "old-state",
            BACKEND,
            "DEPLOYMENT [--delete STATE]",
            "List or delete old state of a deployment.",
            java=False,
        ),
        Command(
            "installation",
            BACKEND,
            "create-workspace | close | open | promote | demote …",
            "Create workspaces, close accounts, and choose admins of the installation.",
            java=False,
        ),
    ),
    (
        Command(
            "compile",
            "cli.compiling:compile_command",
            "DOC -o DIR",
            "Write the PySpark program of a topology.",
        ),
        Command(
            "document",
            "cli.documenting:document_command",
            "PROGRAM [-o DOC]",
            "Write the topology document of a program.",
        ),
        Command(
            "describe",
            "cli.compiling:describe_command",
            "DOC [--json]",
            "Show sub-topologies, tasks, stores and internal topics.",
        ),
        Command(
            "simulate",
            "cli.simulating:simulate_command",
            "DOC --inputs IN.jsonl",
            "Run a topology on input records with Spark, without Kafka.",
        ),
        Command(
            "run",
            "cli.running:run_command",
            "DOC --bootstrap-servers HOST:PORT",
            "Run a topology on a real broker, in the foreground.",
        ),
        Command(
            "conformance",
            "cli.simulating:conformance_command",
            "DIR --out RESULTS",
            "Run every scenario file of a folder in one session.",
        ),
        Command(
            "compare-state",
            "cli.changing:compare_state_command",
            "OLD_DOC NEW_DOC [--json]",
            "Show what happens to each store when NEW replaces OLD.",
        ),
        Command(
            "differ",
            "cli.results_of_versions:differ_command",
            "OLD_DOC NEW_DOC [--tests DIR]",
            "Search for the shortest input on which two versions differ.",
        ),
        Command(
            "compare-results",
            "cli.results_of_versions:differ_command",
            "OLD_DOC NEW_DOC [--tests DIR]",
            "The same as differ.",
        ),
        Command(
            "state",
            "cli.state:state_command",
            "DEPLOYMENT_OR_CHECKPOINT [STORE]",
            "Show the rows of a store, as of the last committed batch.",
        ),
        Command(
            "test-topology",
            "cli.topology_tests:test_topology_command",
            "DOC [--tests DIR]",
            "Run the tests of a topology.",
        ),
        Command(
            "verify",
            "cli.verifying:verify_command",
            "DOC --inputs IN.jsonl",
            "Compare Spark with the real Kafka Streams library.",
        ),
    ),
    (
        Command(
            "check",
            "checks.check",
            "",
            "Check format, lint, types, imports and unit tests in a minute.",
        ),
        Command(
            "test",
            "checks.test",
            "[PATH...] [-k NAME] [--long]",
            "Run all tests; the longest only with --long or by PATH.",
        ),
        Command("e2e", "checks.test", "[PATH...]", "Run the browser tests in a real Chromium."),
        Command("fmt", "checks.check", "", "Format all code."),
        Command("golden", "checks.golden", "[NAME]", "Write the golden files, for review."),
        Command(
            "api", "checks.api", "", "Generate the API description, the catalog and the types."
        ),
        Command(
            "docs",
            "checks.docs",
            "[-o DIR] [--serve]",
            "Build the documentation as a site, and check its links.",
            java=False,
        ),
        Command(
            "screens",
            "checks.screens",
            "LINK [-o DIR] [--only SCREEN]",
            "Take pictures of every screen of a running system.",
            java=False,
        ),
        Command("bench", "checks.bench", "[NAME...] [-- OPTIONS]", "Run the benchmarks."),
        Command(
            "new-operator",
            "checks.new_operator",
            "FAMILY/NAME",
            "Write the files of a new operator.",
            java=False,
        ),
        Command(
            "wheel",
            "launcher.wheel",
            "[-o DIR]",
            "Build the runtime for pip; programs run with it alone.",
        ),
        Command(
            "sbom",
            "launcher.sbom",
            "[-o FILE]",
            "Write the bill of materials of the locked packages (CycloneDX).",
            java=False,
        ),
        Command(
            "audit",
            "checks.audit",
            "[--if-reachable]",
            "Look up known vulnerabilities of the locked packages.",
            java=False,
        ),
        Command("jars", "launcher.jars_command", "[--write]", "Fetch the locked jars."),
    ),
)
COMMANDS = {command.name: command for group in GROUPS for command in group}
SETTINGS = """\
Settings by environment: MILLRACE_DATA, MILLRACE_CACHE, MILLRACE_JARS, MILLRACE_JAR_MIRROR,
JAVA_HOME, DATABASE_URL, REDIS_URL, KAFKA_BOOTSTRAP_SERVERS, SPARK_MASTER, MILLRACE_RESIDENT,
MILLRACE_SERVER, MILLRACE_TOKEN.
"""


def usage() -> str:
    """The text of ``./millrace --help``."""
    lines = ["usage: ./millrace COMMAND [ARGUMENTS]", ""]
    for group in GROUPS:
        for command in group:
            call = f"  {command.name} {command.arguments}".rstrip()
            if len(call) >= COLUMN:
                lines.append(call)
                call = ""
            lines.append(f"{call:<{COLUMN}}{command.help}")
        lines.append("")
    lines += [
        "DOC is a topology document, or a program (job.py) that makes one.",
        "./millrace COMMAND --help shows the options of a command.",
        "",
    ]
    return "\n".join(lines) + "\n" + SETTINGS


def parser(name: str) -> argparse.ArgumentParser:
    """An empty parser of a command, with its name and help."""
    return argparse.ArgumentParser(prog=f"./millrace {name}", description=COMMANDS[name].help)
