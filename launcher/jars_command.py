"""``./millrace jars``: fetch and check every jar of the lock, or regenerate the lock."""

from __future__ import annotations

from launcher import commands, jars
from launcher.console import echo, megabytes


def main(arguments: list[str]) -> int:
    """Download the groups (the default), or resolve them again and write the lock file."""
    parser = commands.parser("jars")
    parser.add_argument(
        "--write", action="store_true", help="resolve again and write the lock file"
    )
    options = parser.parse_args(arguments[1:])
    if options.write:
        jars.write_lock()
        echo(f"jars: wrote {jars.LOCK.name}; review the difference before you commit it")
    # Older releases of Kafka Streams are fetched when `verify --kafka` first runs them.
    wanted = [group for group in jars.ROOTS if not group.startswith("oracle-")]
    for group, paths in jars.ensure(*wanted).items():
        size = sum(path.stat().st_size for path in paths)
        print(f"{group}: {len(paths)} jars, {megabytes(size)}, {jars.folder(group)}")
    return 0
