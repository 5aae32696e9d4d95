"""A word count as a deployed job is started: `python word_count_job.py IN OUT --checkpoint ...`.

MILLRACE_TEST_SETTINGS holds its settings as JSON.
"""

import functools
import json
import os
import sys

from millrace_runtime import Job

from tests.runtime.jobs import word_count

if __name__ == "__main__":
    source, target = sys.argv.pop(1), sys.argv.pop(1)
    settings = json.loads(os.environ.get("MILLRACE_TEST_SETTINGS", "{}"))
    topology = functools.partial(word_count, source=source, target=target)
    Job.main(topology, name="word-count", settings=settings, tasks=4)
