"""A word count, started like a deployed job: `python word_count_job.py IN OUT --checkpoint ...`.

MILLRACE_TEST_SETTINGS holds its settings as JSON.
"""

import json
import os
import sys

from tests.runtime.jobs import word_count

if __name__ == "__main__":
    source, target = sys.argv.pop(1), sys.argv.pop(1)
    settings = json.loads(os.environ.get("MILLRACE_TEST_SETTINGS", "{}"))
    word_count(source, target, **settings).main()
