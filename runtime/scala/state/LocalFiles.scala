package org.apache.spark.sql.millrace

import java.io.{BufferedOutputStream, FileNotFoundException, FileOutputStream, OutputStream}
import java.net.URI
import java.nio.file.{Files, FileSystemException, Paths, StandardCopyOption}
import java.nio.file.attribute.PosixFilePermissions
import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileAlreadyExistsException, FileSystem, LocalFileSystem, Path, RawLocalFileSystem}
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.CancellableFSDataOutputStream
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
  override def createAtomic(path: Path, overwriteIfPossible: Boolean): CancellableFSDataOutputStream =
    new LocalFile(Paths.get(path.toUri.getPath), overwriteIfPossible)
}

/** A file that exists when it is closed: before that, it has another name. */
private final class LocalFile(file: java.nio.file.Path, overwrite: Boolean, hidden: java.nio.file.Path)
    extends CancellableFSDataOutputStream(new BufferedOutputStream(LocalFile.create(hidden), LocalFile.buffer)) {
  def this(file: java.nio.file.Path, overwrite: Boolean) =
    this(file, overwrite, file.resolveSibling(s".${file.getFileName}.${UUID.randomUUID}.tmp"))
  private var open = true

  override def close(): Unit = if (open) {
    open = false
    try {
      super.close()
      if (!overwrite && Files.exists(file)) throw new FileAlreadyExistsException(s"$file exists already")
      Files.move(hidden, file, StandardCopyOption.ATOMIC_MOVE)
    } catch { case e: Throwable => Files.deleteIfExists(hidden); throw e }
  }
  override def cancel(): Unit = if (open) {
    open = false
    try super.close()
    finally Files.deleteIfExists(hidden)
  }
}
private object LocalFile {
  val buffer: Int = 1 << 16

  /** Not a channel, which an interruption of the thread would close. */
  def create(file: java.nio.file.Path): OutputStream =
    try new FileOutputStream(file.toFile)
    catch {
      case _: FileNotFoundException if !Files.exists(file.getParent) =>
        Files.createDirectories(file.getParent)
        new FileOutputStream(file.toFile)
    }
}
