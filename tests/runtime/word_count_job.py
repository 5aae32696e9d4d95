"""A word count as a deployed job is started: `python word_count_job.py --checkpoint ...`."""

from millrace_runtime import Job

from tests.runtime.jobs import word_count

if __name__ == "__main__":
    Job.main(word_count, name="word-count", settings={"processing_handler": "fail"}, tasks=4)
