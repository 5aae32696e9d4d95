package org.apache.spark.sql.millrace

import java.io.{FileNotFoundException, InputStream, OutputStream}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.{EnumSet, UUID}

import scala.util.Using

import com.fasterxml.jackson.databind.node.ObjectNode
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{
  FileAlreadyExistsException,
  CommonPathCapabilities,
  CreateFlag,
  FileContext,
  FileStatus,
  FileSystem,
  FSDataOutputStream,
  Options,
  Path
}
import org.apache.hadoop.fs.Options.CreateFileOptionKeys.FS_OPTION_CREATE_CONDITIONAL_OVERWRITE
import org.apache.spark.sql.execution.streaming.checkpointing.{
  AbstractFileContextBasedCheckpointFileManager,
  CheckpointFileManager
}

/**
 * Writes checkpoint files to an object store, where a file appears with all its content once it is closed, and not
 * before: nothing is renamed.
 *
 * A file that must not exist yet is created by one request that fails if it does (`If-None-Match` of S3), so that only
 * one of two jobs can commit a batch.
 */
class ObjectCheckpoints(path: Path, conf: Configuration)
    extends AbstractFileContextBasedCheckpointFileManager(path, conf) {
  private val fs = path.getFileSystem(conf)
  override def createAtomic(
      path: Path,
      overwriteIfPossible: Boolean
  ): CheckpointFileManager.CancellableFSDataOutputStream =
    new ObjectFile(StoredFiles.create(fs, path, overwriteIfPossible), path)
}

private final class ObjectFile(out: FSDataOutputStream, path: Path)
    extends CheckpointFileManager.CancellableFSDataOutputStream(out) {
  private var open = true
  override def close(): Unit = if (open) {
    open = false
    try out.close()
    catch {
      // S3's response if the condition of a request fails; the class is the connector's.
      case e: java.io.IOException if e.getClass.getSimpleName == "RemoteFileChangedException" =>
        throw new FileAlreadyExistsException(s"$path exists: ${e.getMessage}")
    }
  }
  override def cancel(): Unit = if (open) {
    open = false
    out.abort()
    out.close()
  }
}

/**
 * The files of a checkpoint on any of Hadoop's file systems, for Python (py4j). Places are URIs.
 *
 *   - `read(place)`: the text of a file; null if it does not exist
 *   - `write(place, text)`: replaces a file; a reader finds the old text or the new one
 *   - `begin(place, text)`: creates a file; false if it exists
 *   - `list(place)`: the entries of a folder as JSON, `[{"name", "folder", "bytes", "modified" (ms)}]`; `[]` if it does
 *     not exist
 *   - `delete(place)`: deletes a file, or a folder with everything in it
 *   - `size(place)`: the bytes of all files in a folder
 */
object StoredFiles {
  private def conf: Configuration = org.apache.spark.SparkContext.getActive.get.hadoopConfiguration
  private def fs(path: Path): FileSystem = path.getFileSystem(conf)
  private[millrace] def isObjects(fs: FileSystem, path: Path): Boolean =
    fs.hasPathCapability(path, CommonPathCapabilities.ABORTABLE_STREAM)

  private[millrace] def create(fs: FileSystem, path: Path, overwrite: Boolean): FSDataOutputStream =
    fs.createFile(path)
      .recursive()
      .overwrite(overwrite)
      .opt(FS_OPTION_CREATE_CONDITIONAL_OVERWRITE, (!overwrite).toString)
      .build()

  /** Whether Spark must write its checkpoint by [[ObjectCheckpoints]]. */
  def isObjects(place: String): Boolean = { val p = new Path(place); isObjects(fs(p), p) }

  def read(place: String): String = {
    val path = new Path(place)
    try Using.resource(fs(path).open(path): InputStream)(in => new String(in.readAllBytes(), UTF_8))
    catch { case _: FileNotFoundException => null }
  }

  def write(place: String, text: String): Unit = {
    val path = new Path(place)
    if (isObjects(fs(path), path)) fill(create(fs(path), path, overwrite = true), text)
    else {
      fs(path).mkdirs(path.getParent)
      val partial = new Path(path.getParent, s".${path.getName}.${UUID.randomUUID}.partial")
      val context = FileContext.getFileContext(path.toUri, conf)
      fill(context.create(partial, EnumSet.of(CreateFlag.CREATE), Options.CreateOpts.createParent()), text)
      context.rename(partial, path, Options.Rename.OVERWRITE)
    }
  }

  def begin(place: String, text: String): Boolean = {
    val path = new Path(place)
    try { fill(create(fs(path), path, overwrite = false), text); true }
    catch { case e: java.io.IOException if fs(path).exists(path) => false }
  }

  private def fill(out: OutputStream, text: String): Unit = Using.resource(out)(_.write(text.getBytes(UTF_8)))

  def list(place: String): String = {
    val path = new Path(place)
    val found =
      try fs(path).listStatus(path)
      catch { case _: FileNotFoundException => Array.empty[FileStatus] }
    val out = Json.mapper.createArrayNode()
    found.foreach { f =>
      val n: ObjectNode = out.addObject()
      n.put("name", f.getPath.getName)
        .put("folder", f.isDirectory)
        .put("bytes", f.getLen)
        .put("modified", f.getModificationTime)
    }
    Json.mapper.writeValueAsString(out)
  }

  def delete(place: String): Unit = { val path = new Path(place); fs(path).delete(path, true) }
  def size(place: String): Long = { val path = new Path(place); fs(path).getContentSummary(path).getLength }
}
