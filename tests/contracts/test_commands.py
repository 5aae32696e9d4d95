"""The commands in launcher/commands.py: usage, parsers and documentation agree with them."""

from __future__ import annotations

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import pytest

from checks.steps import environment
from cli.arguments import parser
from launcher import commands, places
from launcher.commands import COMMANDS, Command

DOCUMENTS = ("README.md", "CHANGELOG.md", "docs/**/*.md", "oracle/README.md")


def test_the_commands_and_options_in_documents_exist() -> None:
    paths = chain.from_iterable(places.REPOSITORY.glob(each) for each in DOCUMENTS)
    found = 0
    for path in paths:
        text = path.read_text(encoding="utf-8")
        for name in re.findall(r"(?:^|[`\s])\./millrace ([a-z][\w-]*)", text):
            assert name in COMMANDS, f"{path.name}: ./millrace {name}"
            found += 1
    assert found > 50


def test_the_usage_shows_each_command_with_its_help() -> None:
    text = commands.usage()
    for command in COMMANDS.values():
        line = rf"^  {command.name} [^\n]*\s+{re.escape(command.help)}$"
        assert re.search(line, text, re.MULTILINE), command.name


def test_the_options_in_the_usage_are_those_of_the_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for command in COMMANDS.values():
        if command.on_documents:
            with pytest.raises(SystemExit):
                parser().parse_args([command.name, "--help"])
            assert_options(command, capsys.readouterr().out)


@pytest.mark.slow
def test_help_of_the_other_commands_shows_their_options_and_starts_nothing() -> None:
    others = [each for each in COMMANDS.values() if not each.on_documents]
    with ThreadPoolExecutor(2) as pool:
        for command, shown in zip(others, pool.map(help_of, others), strict=True):
            assert_options(command, shown)


def help_of(command: Command) -> str:
    return subprocess.run(
        [sys.executable, "-m", "launcher.main", command.name, "--help"],
        cwd=places.REPOSITORY,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def assert_options(command: Command, shown: str) -> None:
    words = " ".join(shown.split())
    assert command.help in words, command.name
    for option in re.findall(r"--?[a-z][\w-]*", command.arguments):
        assert option in words, f"{command.name} {option}"
