package org.apache.spark.sql.millrace

import java.net.URI
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path, RawLocalFileSystem}
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager

/**
 * The local file system for checkpoints, without a process per file. Hadoop's own runs `chmod` for each new file and
 * folder, which takes some ten milliseconds, several times per micro-batch. Here a file has the permissions of the
 * process's umask.
 */
class LocalFiles extends RawLocalFileSystem {
  override def setPermission(path: Path, permission: FsPermission): Unit = ()
}

/**
 * Writes the checkpoint files of a job whose checkpoint is a local folder: under another name first and then renamed,
 * which POSIX does atomically.
 */
class LocalCheckpoints(path: Path, conf: Configuration) extends FileSystemBasedCheckpointFileManager(path, conf) {
  override protected val fs: FileSystem = { val f = new LocalFiles; f.initialize(URI.create("file:///"), conf); f }
}
