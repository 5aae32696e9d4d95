"""A small process that briefly outlives the launcher, to stop its processes.

It reads a pipe whose other end only the launcher holds. When the pipe ends, whatever killed the
launcher, it stops the drivers and every process group written to the pipe. It holds
<data>/run/guardian.lock while it runs, so that the next start waits for it.
"""

from __future__ import annotations

import fcntl
import signal
import sys
from pathlib import Path

from launcher import drivers, processes

#: seconds for Kafka and Redis to write their data
SERVICE_GRACE = 10.0


def main(folder: Path) -> int:
    """Read `+GROUP` and `-GROUP` lines until the pipe ends, then stop the remaining groups."""
    # The launcher handles the terminal's Ctrl-C.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    groups: list[int] = []
    with (folder / "guardian.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        sys.stdout.write("watching\n")
        sys.stdout.flush()
        for line in sys.stdin:
            group = int(line[1:])
            if line.startswith("+"):
                groups.append(group)
            elif group in groups:
                groups.remove(group)
        # Workers get TERM before drivers are stopped, because they would start the drivers again.
        for group in groups:
            processes.signal_group(group, signal.SIGTERM)
        drivers.stop(folder / "drivers")
        processes.stop_groups(groups, SERVICE_GRACE)
        drivers.stop(folder / "drivers")
        (folder / "state.json").unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
