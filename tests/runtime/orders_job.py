"""What is killed in test_kills.py: `python orders_job.py GUARANTEE --checkpoint ...`."""

import sys

from millrace_runtime import Job

from tests.runtime.jobs import orders

if __name__ == "__main__":
    guarantee = sys.argv.pop(1)
    Job.main(orders, name="orders", settings={"processing_guarantee": guarantee}, tasks=4)
