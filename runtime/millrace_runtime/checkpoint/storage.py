"""Files of checkpoints outside of local folders: in an object store or another Hadoop file system.

`folder_of` returns a `pathlib.Path` for a local folder and a `StoredPath` for others, which has
the methods of `Path` with which checkpoints are read and written.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypedDict

from millrace_compiler.connections import locations

from millrace_runtime.errors import MillraceError
from millrace_runtime.session.java_exceptions import is_caused_by


class StorageError(OSError):
    """A file system outside of this machine does not respond, or refuses a request.

    `unsupported`: whether Spark has no class for this file system.
    """

    def __init__(self, message: str, *, unsupported: bool = False) -> None:
        super().__init__(message)
        self.unsupported = unsupported


class Entry(TypedDict):
    """An entry of a folder; ``modified``: in ms."""

    name: str
    folder: bool
    bytes: int
    modified: int


OBJECT_CHECKPOINTS = "org.apache.spark.sql.millrace.ObjectCheckpoints"
_NO_FILE_SYSTEM = ("UnsupportedFileSystemException", "ClassNotFoundException")
FILE_MANAGER = "spark.sql.streaming.checkpointFileManagerClass"
LOCAL = {
    # A start replays the changes since the last snapshot of the state, a file for each micro-batch.
    # With Spark's default of 60 seconds, that took longer than everything else.
    "spark.sql.streaming.stateStore.maintenanceInterval": "10s",
}
S3 = {
    # Upload files of the state like all others: the asynchronous client of Amazon's SDK, which this
    # setting would enable, requires another version of Netty than Spark's.
    "spark.hadoop.fs.s3a.optimized.copy.from.local.enabled": "false",
    # With Hadoop's defaults, an outage of the store is noticed only after many minutes. A running
    # driver has lost its lease long before, and a start is retried as an outage.
    "spark.hadoop.fs.s3a.attempts.maximum": "2",
    "spark.hadoop.fs.s3a.retry.limit": "4",
    "spark.hadoop.fs.s3a.connection.establish.timeout": "5s",
    "spark.hadoop.fs.s3a.connection.timeout": "20s",
}
#: environment variables with the address and credentials of S3: Spark itself reads those of
#: Amazon's tools, and `spark_settings` reads the region
S3_ENVIRONMENT = (
    "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL",
    "AWS_REGION",
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class StoredPath:
    """A file or folder with a URI. Methods work like those of `Path`, and raise OSError as well."""

    uri: str

    def __truediv__(self, name: str) -> StoredPath:
        return StoredPath(f"{self.uri.rstrip('/')}/{name}")

    def __str__(self) -> str:
        return self.uri

    @property
    def name(self) -> str:
        """The last part of the URI."""
        return self.uri.rstrip("/").rpartition("/")[2]

    @property
    def parent(self) -> StoredPath:
        """The folder that contains it."""
        return StoredPath(self.uri.rstrip("/").rpartition("/")[0])

    def with_name(self, name: str) -> StoredPath:
        """Return another file of the same folder."""
        return self.parent / name

    def absolute(self) -> StoredPath:
        """Return itself: a URI is absolute."""
        return self

    def as_uri(self) -> str:
        """Return the URI."""
        return self.uri

    def read_text(self, encoding: str = "utf-8") -> str:
        """Return the text of a file. Raises FileNotFoundError."""
        del encoding
        found = _ask("read", self.uri)
        if found is None:
            raise FileNotFoundError(self.uri)
        return str(found)

    def write_text(self, text: str, encoding: str = "utf-8") -> None:
        """Replace a file atomically: a reader finds either the old or the new text."""
        del encoding
        _ask("write", self.uri, text)

    def begin(self, text: str) -> bool:
        """Create a file; return False if it already exists."""
        return bool(_ask("begin", self.uri, text))

    def unlink(self, *, missing_ok: bool = False) -> None:
        """Delete a file."""
        if not missing_ok and not self.exists():
            raise FileNotFoundError(self.uri)
        _ask("delete", self.uri)

    def mkdir(self, *, parents: bool = False, exist_ok: bool = False) -> None:
        """Do nothing: a folder exists as soon as it contains a file."""

    def exists(self) -> bool:
        """Whether there is such a file, or such a folder with files."""
        return self.is_file() or self.is_dir()

    def is_file(self) -> bool:
        """Whether there is such a file."""
        return self._entry(folder=False) is not None

    def is_dir(self) -> bool:
        """Whether there is such a folder."""
        return self._entry(folder=True) is not None

    def modified(self) -> float:
        """Return when a file was written, in seconds since the epoch. Raises FileNotFoundError."""
        found = self._entry(folder=False)
        if found is None:
            raise FileNotFoundError(self.uri)
        return float(found["modified"]) / 1000

    def glob(self, pattern: str) -> Iterator[StoredPath]:
        """Yield files and folders whose path segments match those of a pattern, without `**`."""
        first, _, rest = pattern.partition("/")
        for entry in self._list():
            if fnmatch.fnmatchcase(entry["name"], first):
                found = self / entry["name"]
                if not rest:
                    yield found
                elif entry["folder"]:
                    yield from found.glob(rest)

    def _list(self) -> list[Entry]:
        found: list[Entry] = json.loads(_ask("list", self.uri))
        return found

    def _entry(self, *, folder: bool) -> Entry | None:
        return next(
            (
                each
                for each in self.parent._list()
                if each["name"] == self.name and each["folder"] is folder
            ),
            None,
        )


Place = Path | StoredPath


def matching(folder: Place, pattern: str) -> list[Place]:
    """Return files and folders in a folder whose path segments match those of a pattern."""
    return list(folder.glob(pattern))


def names(folder: Place) -> list[str]:
    """Return the names of the files and folders in a folder; none if it does not exist."""
    if isinstance(folder, StoredPath):
        return [each.name for each in folder.glob("*")]
    try:
        with os.scandir(folder) as entries:
            return [each.name for each in entries]
    except (FileNotFoundError, NotADirectoryError):
        return []


def is_local(location: str) -> bool:
    """Whether a checkpoint location is a folder of this machine."""
    return "://" not in location or location.startswith("file://")


def folder_of(location: str) -> Place:
    """Return the folder of a checkpoint location."""
    if is_local(location):
        return Path(location.removeprefix("file://"))
    return StoredPath(location)


def write_whole(file: Place, text: str) -> None:
    """Replace a file atomically: a reader finds either the old or the new text."""
    if isinstance(file, StoredPath):
        file.write_text(text)
        return
    with tempfile.NamedTemporaryFile(
        "w", dir=file.parent, delete=False, encoding="utf-8", prefix=f".{file.name}."
    ) as partial:
        partial.write(text)
    Path(partial.name).replace(file)


def remove_folder(folder: Place) -> None:
    """Delete a folder and its content, as far as possible."""
    if isinstance(folder, StoredPath):
        _ask("delete", folder.uri)
    else:
        shutil.rmtree(folder, ignore_errors=True)


def size(folder: StoredPath) -> int:
    """Return the total size of all files in a folder, in bytes."""
    return int(_ask("size", folder.uri))


def modified(file: Place) -> float:
    """Return when a file was written, in seconds since the epoch. Raises OSError."""
    return file.modified() if isinstance(file, StoredPath) else file.stat().st_mtime


def spark_settings(location: str) -> dict[str, str]:
    """Return the settings with which a session writes checkpoint files to a location."""
    from millrace_runtime.session.session import LOCAL_CHECKPOINTS

    if is_local(location):
        return {FILE_MANAGER: LOCAL_CHECKPOINTS, **LOCAL}
    if location.startswith("s3a://"):
        return {FILE_MANAGER: OBJECT_CHECKPOINTS, **S3, **_s3_address(os.environ)}
    return {}


def _s3_address(environment: Mapping[str, str]) -> dict[str, str]:
    """Return region and path style: stores at AWS_ENDPOINT_URL have no host for each bucket."""
    region = environment.get("AWS_REGION")
    if not environment.get("AWS_ENDPOINT_URL"):
        return {"spark.hadoop.fs.s3a.endpoint.region": region} if region else {}
    return {
        "spark.hadoop.fs.s3a.path.style.access": "true",
        "spark.hadoop.fs.s3a.endpoint.region": region or "us-east-1",
    }


def require_location(location: str) -> None:
    """Raise MillraceError `option_invalid` for a location that is neither a path nor a URI.

    Secrets belong in Hadoop's own configuration.
    """
    problem = locations.problem_of(location)
    if problem is not None:
        raise MillraceError(
            "option_invalid",
            f"--checkpoint is {location!r}, which {problem}. Use a folder or a URI such as "
            "s3a://BUCKET/FOLDER or hdfs://HOST:PORT/FOLDER, without a user or password.",
        )


def require_reachable(location: str) -> None:
    """Check access to a location that is not local, before anything is read or written.

    Raises MillraceError `storage_unsupported` if Spark does not support the file system, and
    `storage_unreachable` if it does not respond or refuses.
    """
    if is_local(location):
        return
    try:
        folder_of(location).exists()
        # Listing raises an error if access fails; a missing folder merely has no entries.
        StoredPath(location)._list()
    except StorageError as error:
        scheme = location.partition("://")[0]
        if error.unsupported:
            raise MillraceError(
                "storage_unsupported",
                f"Spark has no file system for {scheme}://. Put its Hadoop connector on the class "
                "path (spark.driver.extraClassPath, spark.executor.extraClassPath), or use "
                "s3a://, hdfs:// or a folder.",
                facts={"scheme": scheme},
            ) from None
        raise MillraceError(
            "storage_unreachable",
            f"The checkpoint location {location} cannot be read: {error}. Check the address, the "
            "permissions and the settings in core-site.xml of HADOOP_CONF_DIR.",
            facts={"location": location, "reason": error},
        ) from None


def _ask(method: str, *arguments: Any) -> Any:
    """Call a method of StoredFiles. Raises StorageError with Hadoop's message."""
    from py4j.protocol import Py4JJavaError

    from millrace_runtime import columns

    try:
        return getattr(columns.gateway().StoredFiles, method)(*arguments)
    except Py4JJavaError as error:
        java = error.java_exception
        text = f"{java.getClass().getSimpleName()}: {java.getMessage()}"
        unsupported = is_caused_by(error, *_NO_FILE_SYSTEM)
        raise StorageError(text.splitlines()[0][:300], unsupported=unsupported) from None
