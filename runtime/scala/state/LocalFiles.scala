package org.apache.spark.sql.millrace

import java.net.URI
import java.nio.file.{Files, FileSystemException, Paths}
import java.nio.file.attribute.PosixFilePermissions

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, LocalFileSystem, Path, RawLocalFileSystem}
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
 * The local file system for everything else, such as snapshots of state stores: Java sets permissions, no process.
 *
 * RocksDB never changes a table once it is written. Where its folder and the checkpoint are on one disk, a table in
 * both is one file with two names, so that a snapshot and a restart copy nothing.
 */
class PosixFiles
    extends LocalFileSystem(new RawLocalFileSystem {
      override def setPermission(path: Path, permission: FsPermission): Unit = {
        val symbols =
          permission.getUserAction.SYMBOL + permission.getGroupAction.SYMBOL + permission.getOtherAction.SYMBOL
        Files.setPosixFilePermissions(Paths.get(pathToFile(path).getPath), PosixFilePermissions.fromString(symbols))
      }
    }) {
  override def copyFromLocalFile(delSrc: Boolean, src: Path, dst: Path): Unit =
    if (delSrc || !linked(src, dst)) super.copyFromLocalFile(delSrc, src, dst)
  override def copyToLocalFile(delSrc: Boolean, src: Path, dst: Path): Unit =
    if (delSrc || !linked(src, dst)) super.copyToLocalFile(delSrc, src, dst)

  private def linked(from: Path, to: Path): Boolean = from.getName.endsWith(".sst") && to.getName.endsWith(".sst") && {
    val target = pathToFile(to).toPath
    // Without this, a copy would change what another name of the file has.
    Files.deleteIfExists(target)
    try { Files.createDirectories(target.getParent); Files.createLink(target, pathToFile(from).toPath); true }
    catch { case _: UnsupportedOperationException | _: FileSystemException => false }
  }
}

object PosixFiles {

  /** Makes it the local file system of this JVM, which Hadoop has once in its cache. */
  def use(conf: Configuration): Unit = if (Files.getFileStore(Paths.get("/")).supportsFileAttributeView("posix")) {
    val own = new Configuration(conf)
    own.setClassLoader(getClass.getClassLoader)
    own.set("fs.file.impl", classOf[PosixFiles].getName)
    FileSystem.getLocal(own).close()
    FileSystem.getLocal(own)
  }
}

/**
 * Writes the checkpoint files of a job whose checkpoint is a local folder: under another name first and then renamed,
 * which POSIX does atomically.
 */
class LocalCheckpoints(path: Path, conf: Configuration) extends FileSystemBasedCheckpointFileManager(path, conf) {
  override protected val fs: FileSystem = { val f = new LocalFiles; f.initialize(URI.create("file:///"), conf); f }
}
