"""A job whose source topic nobody made."""

from millrace_runtime import Job, string


def topology(job: Job) -> None:
    """Passes on what never comes."""
    lines = job.read_stream("lines", topics=["nowhere-to-be-found"], key=string(), value=string())
    job.write("out", lines, topic="word-counts", key=string(), value=string())


if __name__ == "__main__":
    Job.main(topology, name="missing-topic", settings={})
