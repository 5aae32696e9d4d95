"""``./millrace docs``: build the documentation as a site, or serve it while writing."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

import mkdocs.commands.build
import mkdocs.commands.serve
from mkdocs.config import load_config
from mkdocs.exceptions import Abort, MkDocsException

from launcher import commands, places
from launcher.console import Problem, echo

SETTINGS = places.REPOSITORY / "mkdocs.yml"
PORT = 8123


def main(arguments: list[str]) -> int:
    """Build the site; every broken link is an error. With `--serve`, serve it until interrupted."""
    parser = commands.parser("docs")
    one = parser.add_mutually_exclusive_group()
    one.add_argument(
        "-o", "--output", metavar="DIR", help="folder of the site (default: .millrace/docs)"
    )
    one.add_argument(
        "--serve",
        nargs="?",
        type=int,
        const=PORT,
        metavar="PORT",
        help=f"serve the site on 127.0.0.1 and build it again after each change (default: {PORT})",
    )
    options = parser.parse_args(arguments[1:])
    logging.basicConfig(level=logging.WARNING, format="docs: %(message)s")
    # Relative to where the command was called; paths in mkdocs.yml are relative to the repository.
    called_from = Path(os.environ.get("MILLRACE_CALLED_FROM", "."))
    output = called_from / options.output if options.output else None
    if options.serve is not None:
        serve(options.serve)
    else:
        echo(f"docs: {build(output) / 'index.html'}")
    return 0


def build(output: Path | None = None, **settings: Any) -> Path:
    """Build the site and return its folder; `settings` replace those of mkdocs.yml.

    Raises Problem if a page has a fault, after all faults were logged as warnings, and for a folder
    that contains anything but a site, because a build deletes its contents.
    """
    if output is not None and output.exists() and not _of_a_site(output):
        raise Problem(f"{output} is not empty and has no site. Name an empty or a new folder.")
    try:
        config = load_config(str(SETTINGS), site_dir=output and str(output.absolute()), **settings)
        mkdocs.commands.build.build(config)
    except Abort as aborted:
        raise Problem(f"The site has faults, listed above: {aborted}") from None
    except MkDocsException as error:
        raise Problem(f"The site could not be built: {error}") from None
    return Path(config.site_dir)


def _of_a_site(folder: Path) -> bool:
    """Whether a build may replace the contents of a folder: an earlier site, or nothing."""
    return folder.is_dir() and (
        (folder / "search" / "search_index.json").is_file() or not any(folder.iterdir())
    )


def serve(port: int) -> None:
    """Serve the site until interrupted, and build it again after each change; faults are logged."""
    address = f"127.0.0.1:{port}"
    echo(f"docs: http://{address}")
    try:
        mkdocs.commands.serve.serve(str(SETTINGS), dev_addr=address, strict=False)
    except (OSError, MkDocsException) as error:
        raise Problem(f"{address} cannot serve the site: {error}. Try --serve PORT.") from None
