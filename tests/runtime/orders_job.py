"""The job that test_kills.py kills: `python orders_job.py PREFIX GUARANTEE --checkpoint ...`."""

import sys

from tests.runtime.jobs import orders

if __name__ == "__main__":
    prefix, guarantee = sys.argv.pop(1), sys.argv.pop(1)
    orders(prefix, processing_guarantee=guarantee).main()
