package org.apache.spark.sql.execution.streaming.state

import java.io.File

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import org.apache.spark.SparkEnv
import org.apache.spark.io.CompressionCodec
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager
import org.apache.spark.sql.millrace.LocalCheckpoints

/**
 * The state of a task whose versions follow one another several times a second. Its changelogs have the bytes that
 * Spark's own provider writes, which reads them, but are made with less work: Spark describes the versions since the
 * last snapshot by reflection for each file, and writes a checksum into a second one, which each block of the
 * compression has already. Instantiated by Spark through its class name.
 */
private[sql] final class ThreadStateProvider extends RocksDBStateStoreProvider {
  override def createRocksDB(
      dfsRootDir: String,
      conf: RocksDBConf,
      localRootDir: File,
      hadoopConf: Configuration,
      loggingId: String,
      useColumnFamilies: Boolean,
      enableStateStoreCheckpointIds: Boolean,
      partitionId: Int,
      eventForwarder: Option[RocksDBEventForwarder],
      uniqueId: Option[String]
  ): RocksDB = new RocksDB(
    dfsRootDir,
    conf,
    localRootDir,
    hadoopConf,
    loggingId,
    useColumnFamilies,
    enableStateStoreCheckpointIds,
    partitionId,
    eventForwarder,
    uniqueId
  ) {
    override def createFileManager(
        dfsRootDir: String,
        localTempDir: File,
        hadoopConf: Configuration,
        codecName: String,
        loggingId: String,
        storeConf: StateStoreConf
    ): RocksDBFileManager = new ThreadStateFiles(dfsRootDir, localTempDir, hadoopConf, codecName, loggingId, storeConf)
  }
}

private final class ThreadStateFiles(
    root: String,
    localTempDir: File,
    hadoopConf: Configuration,
    codecName: String,
    loggingId: String,
    storeConf: StateStoreConf
) extends RocksDBFileManager(
      root,
      localTempDir,
      hadoopConf,
      codecName,
      loggingId,
      storeConf,
      storeConf.checkpointFileChecksumEnabled,
      Some(0)
    ) {
  private lazy val files = new LocalCheckpoints(new Path(root), hadoopConf)
  private lazy val codec = CompressionCodec.createCodec(SparkEnv.get.conf, codecName)

  override def getChangeLogWriter(
      version: Long,
      useColumnFamilies: Boolean,
      id: Option[String],
      lineage: Option[Array[LineageItem]]
  ): StateStoreChangelogWriter = (id, lineage) match {
    case (Some(own), Some(versions)) if useColumnFamilies =>
      new ThreadChangelog(files, new Path(root, s"${version}_$own.changelog"), codec, versions)
    case _ => super.getChangeLogWriter(version, useColumnFamilies, id, lineage)
  }
}

private final class ThreadChangelog(
    files: CheckpointFileManager,
    file: Path,
    codec: CompressionCodec,
    versions: Array[LineageItem]
) extends StateStoreChangelogWriterV4(files, file, codec, versions) {
  override protected def writeLineage(versions: Array[LineageItem]): Unit = {
    val text = new java.lang.StringBuilder(80 * versions.length + 2).append('[')
    versions.foreach { each =>
      if (text.length > 1) text.append(',')
      text.append("{\"version\":").append(each.version)
      text.append(",\"checkpointUniqueId\":\"").append(each.checkpointUniqueId).append("\"}")
    }
    compressedStream.writeUTF(text.append(']').toString)
  }
}
