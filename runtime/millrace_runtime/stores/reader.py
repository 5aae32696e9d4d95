"""The process that reads stores from checkpoints: `python -m millrace_runtime.stores.reader`.

It reads requests from standard input and writes responses to standard output, as the processes that
simulate do, and runs no code of a document. A request has `do` and `checkpoint` (a folder), and for

- `read_state`: `store` and `query` (`millrace_runtime.stores.reading`)
- `read_batches`: nothing else (`millrace_runtime.stores.task_states`)
- `read_task_states`: `batch` and `tasks`
- `kept_sizes`: `names` of folders that versions left → `bytes` by name, if the folder exists
- `delete_kept`: `names` of such folders
"""

from __future__ import annotations

import os
import signal
import sys

from millrace_model.reads import ReadRequest
from millrace_model.simulations import Answered
from millrace_services import frames
from pyspark.sql import SparkSession

from millrace_runtime.checkpoint import storage
from millrace_runtime.checkpoint.checkpoint import notes_of
from millrace_runtime.checkpoint.moving import waiting
from millrace_runtime.checkpoint.storage import StorageError, StoredPath
from millrace_runtime.errors import MillraceError
from millrace_runtime.jars import storage_jars_there
from millrace_runtime.job.explaining import explain
from millrace_runtime.session.simulation import simulation_session
from millrace_runtime.stores.reading import StateQuery, read_state
from millrace_runtime.stores.task_states import read_batches, read_task_states


def answer(spark: SparkSession, request: ReadRequest) -> Answered:
    """Return a frame with a page of a store, batches or states of tasks, or with the error."""
    try:
        return {"answer": _read(spark, request)}
    except (MillraceError, StorageError) as error:
        return {"answer": {"error": explain(error).as_dict()}}


def _read(spark: SparkSession, request: ReadRequest) -> object:
    location = request["checkpoint"]
    match request["do"]:
        case "read_batches":
            return read_batches(location)
        case "read_task_states":
            return read_task_states(spark, location, request["batch"], request["tasks"])
        case "kept_sizes":
            return {"bytes": {each.name: storage.size(each) for each in _kept(request)}}
        case "delete_kept":
            for each in _kept(request):
                storage.remove_folder(each)
            return {}
        case _:
            return read_state(spark, location, request["store"], StateQuery(**request["query"]))


def _kept(request: ReadRequest) -> list[StoredPath]:
    """Return the folders of a request that exist, were left by versions and are not used."""
    folder = StoredPath(request["checkpoint"])
    notes, moved = notes_of(str(folder)), waiting(folder) or {}
    used = {
        notes.get("stream", "stream"),
        moved.get("stream"),
        moved["base"]["stream"] if "base" in moved else None,
    }
    left = {each["stream"] for each in notes.get("kept", [])} - used
    return [
        folder / name for name in sorted(left & {*request["names"]}) if (folder / name).is_dir()
    ]


def _storage() -> str:
    """Return where checkpoints may be besides folders: S3 if a job of this machine has used it."""
    return "s3a://" if storage_jars_there() else "hdfs://"


def main() -> int:
    """Handle requests until standard input ends."""
    requests = sys.stdin.buffer
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Other output must not end up between the responses.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    spark = simulation_session(small=True, storage=_storage())
    answers.write(frames.encode({"answer": {}}))
    answers.flush()
    while (request := frames.read(requests)) is not None:
        answers.write(frames.encode(answer(spark, request)))
        answers.flush()
    spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
