"""A small process that outlives the launcher by moments: when the launcher dies, it clears up.

It reads a pipe whose other end only the launcher holds. The end of that pipe, whatever killed the
launcher, stops the drivers and every process group written to it. While it works it holds
<data>/run/guardian.lock, so that the next start waits for it.
"""

from __future__ import annotations

import fcntl
import signal
import sys
from pathlib import Path

from launcher import drivers, processes

#: seconds for Kafka and Redis to write what they hold
SERVICE_GRACE = 10.0


def main(folder: Path) -> int:
    """Read `+GROUP` and `-GROUP` lines until the pipe ends, then stop what is left."""
    # The terminal's Ctrl-C is the launcher's business.
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
        # Drivers first: a worker that still lives would only start them again.
        for group in groups:
            processes.signal_group(group, signal.SIGTERM)
        drivers.stop(folder / "drivers")
        processes.stop_groups(groups, SERVICE_GRACE)
        drivers.stop(folder / "drivers")
        (folder / "state.json").unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
