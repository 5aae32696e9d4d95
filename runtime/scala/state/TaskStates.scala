package org.apache.spark.sql.millrace

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream, EOFException}
import java.util.Base64
import java.util.zip.{DeflaterOutputStream, InflaterInputStream}

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.functions.col

/**
 * The state of tasks in a checkpoint, for a simulation that starts with it (py4j). The folder is only read.
 *
 * The request is `{"path": URI of the query's folder, "batch": a committed one, "operators": {"<level>": number of the
 * stateful operator}, "tasks": their indexes, null for all, "most_rows", "most_bytes"}`. Returns `{"rows": number of
 * rows without clocks and notes, "wall_clock": ms, 0 if it is not used, "state": text that [[Simulation.begin]]
 * takes}`. Throws Refused with the code `state_too_large`.
 */
object TaskStates {
  def read(session: SparkSession, requestJson: String): String = {
    val spark = Internals.classicSession(session)
    val j = Json.mapper.readTree(requestJson)
    val (mostRows, mostBytes) = (j.get("most_rows").asLong, j.get("most_bytes").asLong)
    val tasks = Option(j.get("tasks")).filterNot(_.isNull).map(_.elements.asScala.map(_.asInt).toSeq)
    val bytes = new ByteArrayOutputStream()
    val out = new DataOutputStream(new DeflaterOutputStream(bytes))
    var rows, size, wallClock = 0L
    j.get("operators").properties.asScala.foreach { e =>
      val level = e.getKey.toInt
      val state = OldState.read(spark, j.get("path").asText, e.getValue.asInt, j.get("batch").asLong)
      val chosen = tasks.fold(state)(t => state.where(col("partition_id").isin(t: _*)))
      val bounded = new BoundedRows(mostRows, mostBytes)
      chosen.rdd.mapPartitions(bounded.of(_)).toLocalIterator.foreach { r =>
        val (store, key, value) = (r.getString(1), r.getAs[Array[Byte]](2), r.getAs[Array[Byte]](3))
        if (!store.startsWith("$")) rows += 1
        else if (new String(key, "UTF-8") == StreamTask.wall) wallClock = Math.max(wallClock, r.getLong(4))
        size += BoundedRows.size(r)
        if (rows > mostRows || size > mostBytes)
          throw new Refused(
            "",
            "",
            Why("state_too_large", s"the stores of these tasks have more than $mostRows rows or ${mostBytes >> 20} MB")
          )
        out.writeInt(level)
        out.writeInt(r.getInt(0))
        out.writeUTF(store)
        out.writeInt(key.length)
        out.write(key)
        out.writeInt(value.length)
        out.write(value)
        out.writeLong(r.getLong(4))
      }
    }
    out.close()
    val answer = Json.mapper.createObjectNode().put("rows", rows).put("wall_clock", wallClock)
    Json.mapper.writeValueAsString(answer.put("state", Base64.getEncoder.encodeToString(bytes.toByteArray)))
  }

  /** Parses states, by level and index of the task. */
  private[millrace] def parse(text: String): Map[(Int, Int), HeldState] = {
    val in = new DataInputStream(new InflaterInputStream(new ByteArrayInputStream(Base64.getDecoder.decode(text))))
    val found = mutable.Map[(Int, Int), HeldState]()
    def bytes(): Array[Byte] = in.readNBytes(in.readInt())
    def level(): Int =
      try in.readInt()
      catch { case _: EOFException => -1 }
    Iterator.continually(level()).takeWhile(_ >= 0).foreach { l =>
      val state = found.getOrElseUpdate((l, in.readInt()), new HeldState)
      state.put(in.readUTF(), bytes(), bytes(), in.readLong())
    }
    found.toMap
  }
}

/** Limits the rows of a partition to those that show that there are too many. */
private final class BoundedRows(mostRows: Long, mostBytes: Long) extends Serializable {
  def of(rows: Iterator[Row]): Iterator[Row] = {
    var (count, size) = (0L, 0L)
    rows.takeWhile { r =>
      val go = count <= mostRows && size <= mostBytes
      count += 1
      size += BoundedRows.size(r)
      go
    }
  }
}
private object BoundedRows {
  def size(r: Row): Long = 20L + r.getAs[Array[Byte]](2).length + r.getAs[Array[Byte]](3).length
}
