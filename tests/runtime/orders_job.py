"""What is killed in test_kills.py: `python orders_job.py PREFIX GUARANTEE --checkpoint ...`."""

import functools
import sys

from millrace_runtime import Job

from tests.runtime.jobs import orders

if __name__ == "__main__":
    topology = functools.partial(orders, prefix=sys.argv.pop(1))
    Job.main(topology, name="orders", settings={"processing_guarantee": sys.argv.pop(1)}, tasks=4)
