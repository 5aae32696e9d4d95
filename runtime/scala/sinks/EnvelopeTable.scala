package org.apache.spark.sql.millrace

import java.util.Collections

import org.apache.spark.sql.connector.catalog.{SupportsWrite, Table, TableCapability, TableProvider}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.write.{LogicalWriteInfo, Write, WriteBuilder}
import org.apache.spark.sql.connector.write.streaming.StreamingWrite
import org.apache.spark.sql.internal.connector.SupportsStreamingUpdateAsAppend
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** A sink that accepts the envelope's rows as they are, from streaming queries only. */
private[millrace] abstract class SinkProvider extends TableProvider {

  /** Returns, for the options of a query's writer, a function from the query's id to its write. */
  private[millrace] def write(options: java.util.Map[String, String]): String => StreamingWrite

  override def inferSchema(options: CaseInsensitiveStringMap): StructType = new StructType()
  override def getTable(
      ignored: StructType,
      partitioning: Array[Transform],
      options: java.util.Map[String, String]
  ): Table = new EnvelopeTable(write(options))
}

/** The table of such a sink. `writeOf`: from a query's id to its write. */
private[millrace] final class EnvelopeTable(val writeOf: String => StreamingWrite) extends Table with SupportsWrite {
  override def name: String = "millrace"
  override def schema: StructType = new StructType()
  override def capabilities: java.util.Set[TableCapability] = Collections.singleton(TableCapability.STREAMING_WRITE)
  // Each row is a record of its own; an update replaces nothing.
  override def newWriteBuilder(info: LogicalWriteInfo): WriteBuilder = new WriteBuilder
    with SupportsStreamingUpdateAsAppend {
    override def build(): Write = new Write { override def toStreaming: StreamingWrite = writeOf(info.queryId) }
  }
}
