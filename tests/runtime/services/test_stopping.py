"""A process that is asked to stop does so, whatever it does at that moment."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import os, signal, threading, time
from millrace_runtime.services.stopping import set_on_signals

stopping = threading.Event()
set_on_signals(stopping)
signal.signal(signal.SIGALRM, signal.getsignal(signal.SIGTERM))
signal.setitimer(signal.ITIMER_REAL, 0.0003, 0.0003)
seen, until = 0, time.monotonic() + 20
while seen < 3000 and time.monotonic() < until:
    if stopping.wait(0.00001):
        seen += 1
        stopping.clear()
signal.setitimer(signal.ITIMER_REAL, 0)
stopping.clear()
os.kill(os.getpid(), signal.SIGTERM)
print(seen > 100 and stopping.wait(10))
"""


def test_signals_at_any_moment_of_a_wait_are_noticed() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False, timeout=60
    )
    assert (ran.stdout, ran.stderr) == ("True\n", "")
