package org.apache.spark.sql.millrace

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import org.apache.spark.sql.{Column, Dataset, Row}
import org.apache.spark.sql.functions._

/**
 * Rows of the [[Envelope]] for the source nodes of stream tasks (py4j). The records have the columns of Spark's Kafka
 * source (topic, partition, offset, timestamp, key, value, headers) and `merge`. A reading is JSON: `{"dest": the
 * node's index, "tasks": of its sub-topology, "topics": [name], "pattern": text or null, "everywhere": bool}`; a global
 * table is read `everywhere`, by every task.
 *
 *   - `of(records, topics, pattern)`: the records of these topics; `topics` is a JSON array
 *   - `addressed(records, readings, n, batched)`: one row per record, source node that reads it, and task that receives
 *     it; `readings` is a JSON array, n the number of shuffle partitions; `batched`: a record's processing time is the
 *     time of its micro-batch, which Spark keeps in the checkpoint
 *   - `addressedTo(records, reading, n, batched)`: one row per record, for the only node that reads it, regardless of
 *     the topic
 *   - `ticks(control, n)`: each control row, once for each task
 */
object SourceRows {
  def of(records: Dataset[Row], topics: String, pattern: String): Dataset[Row] =
    records.where(takes(names(Json.mapper.readTree(topics)), Option(pattern)))

  def addressed(records: Dataset[Row], readings: String, n: Int, batched: Boolean): Dataset[Row] = {
    val all = Json.mapper.readTree(readings).elements.asScala.toSeq
    all match {
      case Seq(only) if !only.get("everywhere").asBoolean => addressedTo(records, only, n, batched)
      case several if eachForOne(several) =>
        // One row for each record: arrays of rows, as below, are a large part of what a record of a join costs.
        def of(value: JsonNode => Column): Column =
          several.init.foldRight(value(several.last))((r, other) =>
            when(takes(names(r.get("topics")), None), value(r)).otherwise(other)
          )
        val tasks = if (several.map(_.get("tasks").asInt).distinct.size == 1) task(several.head) else of(task)
        val rows = records.where(takes(several.flatMap(r => names(r.get("topics"))), None))
        envelope(rows, n, tasks, of(r => lit(r.get("dest").asInt)), takenAt(batched))
      case _ =>
        val targets = all.map { r =>
          val tasks = if (r.get("everywhere").asBoolean) array((0 until n).map(lit(_)): _*) else array(task(r))
          val entries = transform(tasks, t => struct(t.as("task"), lit(r.get("dest").asInt).as("dest")))
          when(takes(names(r.get("topics")), Option(r.get("pattern").textValue)), entries).otherwise(array())
        }
        val rows = records.select(col("*"), inline(concat(targets: _*)).as(Seq("_task", "_dest")))
        envelope(rows, n, col("_task"), col("_dest"), takenAt(batched))
    }
  }

  /** Whether each record is for one task of one source node: all topics are named, and none is read twice. */
  private def eachForOne(readings: Seq[JsonNode]): Boolean = {
    val topics = readings.flatMap(r => names(r.get("topics")))
    topics.distinct.size == topics.size &&
    readings.forall(r => !r.get("everywhere").asBoolean && r.get("pattern").textValue == null)
  }

  def addressedTo(records: Dataset[Row], reading: String, n: Int, batched: Boolean): Dataset[Row] =
    addressedTo(records, Json.mapper.readTree(reading), n, batched)
  private def addressedTo(records: Dataset[Row], reading: JsonNode, n: Int, batched: Boolean): Dataset[Row] =
    envelope(records, n, task(reading), lit(reading.get("dest").asInt), takenAt(batched))

  /** In a streaming query, Spark replaces the function by the time of the micro-batch. */
  private def takenAt(batched: Boolean): Column =
    if (batched) Internals.column(SameCode(Internals.expression(unix_millis(current_timestamp())))) else lit(null)

  def ticks(control: Dataset[Row], n: Int): Dataset[Row] =
    if (n == 1) envelope(control, 1, lit(0), lit(Envelope.CONTROL), unix_millis(col("timestamp")))
    else {
      val rows = control.select(col("*"), explode(array((0 until n).map(lit(_)): _*)).as("_task"))
      envelope(rows, n, col("_task"), lit(Envelope.CONTROL), unix_millis(col("timestamp")))
    }

  private def task(reading: JsonNode): Column = col("partition") % lit(reading.get("tasks").asInt)

  private def names(topics: JsonNode): Seq[String] = topics.elements.asScala.map(_.asText).toSeq

  private def takes(topics: Seq[String], pattern: Option[String]): Column = {
    val named = if (topics.isEmpty) lit(false) else col("topic").isin(topics: _*)
    pattern.fold(named)(p => named || col("topic").rlike(s"^(?:$p)$$"))
  }

  private def envelope(records: Dataset[Row], n: Int, task: Column, dest: Column, taken: Column): Dataset[Row] = {
    val made = Map(
      "task" -> Columns.salt(task, n),
      "dest" -> dest,
      "path" -> lit(Array.empty[Byte]),
      "timestamp" -> unix_millis(col("timestamp")),
      "arrived" -> unix_millis(col("timestamp")),
      "taken" -> taken
    )
    val kept = Set("merge", "topic", "partition", "offset", "key", "value", "headers")
    records.select(Envelope.schema.fields.toIndexedSeq.map { f =>
      made.getOrElse(f.name, if (kept(f.name)) col(f.name) else lit(null)).cast(f.dataType).as(f.name)
    }: _*)
  }
}
