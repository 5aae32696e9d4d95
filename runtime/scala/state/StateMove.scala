package org.apache.spark.sql.millrace

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode

import org.apache.spark.sql.{classic, Encoders, Row, SparkSession}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.streaming._
import org.apache.spark.sql.types._
import org.apache.spark.util.LongAccumulator

/**
 * Writes a new checkpoint from an old one, for a graph with other levels, tasks or sources (py4j). [[Placement]]
 * decides what belongs where.
 *
 *   - `move(spark, graph, move)`: runs one batch without records that gives each task of the graph the rows and clocks
 *     that belong to it now. `move` is `{"from", "to": folders of queries, "batch": the last one completed in "from",
 *     "old": the checkpoint's notes about the job that wrote it, "partitions": shuffle partitions of the graph,
 *     "changes": as "state_changes" of StreamTasks.attach}`. Returns `{"rows": {name in the state: number}}`. Throws
 *     Refused if the state cannot be moved. The old checkpoint is only read
 *   - `progress()`: of the running move, `{"phase": "reading", "writing" or "checking", "rows": written so far}`;
 *     executors report at the end of each Spark task
 */
object StateMove {
  private[millrace] val schema: StructType = new StructType()
    .add("task", IntegerType, nullable = false)
    .add("store", StringType, nullable = false)
    .add("key", BinaryType, nullable = false)
    .add("value", BinaryType)
    .add("timestamp", LongType, nullable = false)

  @volatile private var phase = "reading"
  @volatile private var rowsWritten: LongAccumulator = _

  def progress(): String = {
    val n = rowsWritten
    Json.mapper.writeValueAsString(
      Json.mapper.createObjectNode().put("phase", phase).put("rows", if (n == null) 0L else n.sum)
    )
  }

  def move(session: SparkSession, graphJson: String, moveJson: String): String = {
    val spark = Internals.classicSession(session)
    phase = "reading"
    val counted = spark.sparkContext.longAccumulator
    rowsWritten = counted
    val j = Json.mapper.readTree(moveJson)
    val graph = TaskGraph.parse(spark, graphJson)
    val from = new OldState(spark, j.get("from").asText, j.get("batch").asLong, j.get("old"))
    val placement = new Placement(
      graph,
      Json.mapper.readTree(graphJson),
      from,
      j.get("partitions").asInt,
      StateChanges.parse(j.path("changes"), spark)
    )
    val mode = OutputMode.Update()
    val to = j.get("to").asText
    val written = graph.levels.map(level => level -> rowsOf(spark, from, placement, level))
    val nothing = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load().where("value < 0")
    // The optimizer must not take the columns for constants.
    var rows = nothing
      .selectExpr(s"from_json(CAST(value AS STRING), '${Envelope.schema.toDDL}') AS envelope")
      .select("envelope.*")
      .asInstanceOf[classic.Dataset[Row]]
    written.foreach { case (_, state) =>
      rows = Internals
        .ordered(rows, placement.partitions)
        .groupBy("task")
        .as[Int, InternalRow](Encoders.scalaInt, Internals.encoder(Envelope.schema))
        .transformWithState(
          new MovedState(counted),
          TimeMode.None(),
          mode,
          state.groupBy("task").as[Int, InternalRow](Encoders.scalaInt, Internals.encoder(schema))
        )(Internals.encoder(Envelope.schema), Internals.encoder(schema))
        .toDF()
        .asInstanceOf[classic.Dataset[Row]]
    }
    val query = rows.writeStream
      .format("noop")
      .outputMode(mode)
      .option("checkpointLocation", to)
      .trigger(Trigger.AvailableNow())
      .start()
    phase = "writing"
    try query.awaitTermination()
    finally query.stop()
    phase = "checking"
    read(spark, graph, to, written)
  }

  /** The rows for the tasks of a level. */
  private def rowsOf(
      spark: classic.SparkSession,
      from: OldState,
      placement: Placement,
      level: Int
  ): classic.Dataset[Row] = {
    val notes = spark.createDataFrame(placement.notes(level).asJava, schema)
    placement.rules(level).groupBy(_.fromLevel).foldLeft(notes) { case (all, (old, rules)) =>
      val moving = rules.toArray
      all.union(spark.createDataFrame(from.rows(old).rdd.mapPartitions(new MovingRows(moving).of(_)), schema))
    }
  }

  /** Reads the new checkpoint back and checks that it has the same number of rows in each store as were written. */
  private def read(
      spark: classic.SparkSession,
      graph: TaskGraph,
      to: String,
      written: Seq[(Int, classic.Dataset[Row])]
  ): String = {
    val out = Json.mapper.createObjectNode()
    val counts = out.putObject("rows")
    written.foreach { case (level, rows) =>
      def counted(d: org.apache.spark.sql.Dataset[Row]) =
        d.groupBy("store").count().collect().map(r => r.getString(0) -> r.getLong(1)).toMap
      val (sent, found) =
        (counted(rows), counted(OldState.read(spark, to, graph.levels.size - 1 - graph.levels.indexOf(level), 0L)))
      if (sent != found)
        throw new Refused(
          "",
          "",
          Why(
            "state_not_moved",
            s"the new checkpoint has $found rows on level $level, but $sent were written",
            "level" -> level,
            "found" -> found.values.sum,
            "written" -> sent.values.sum
          )
        )
      found.foreach { case (name, n) => if (!name.startsWith("$")) counts.put(name, counts.path(name).asLong(0L) + n) }
    }
    Json.mapper.writeValueAsString(out)
  }
}

/** Writes the rows for a task into its state. */
private[millrace] final class MovedState(written: LongAccumulator)
    extends StatefulProcessorWithInitialState[Int, InternalRow, InternalRow, InternalRow] {
  @transient private var map: MapState[InternalRow, InternalRow] = _
  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit =
    map = LevelProcessor.open(getHandle)
  override def handleInitialState(salt: Int, row: InternalRow, timers: TimerValues): Unit = {
    map.updateValue(
      new GenericInternalRow(Array[Any](row.getUTF8String(1), row.getBinary(2))),
      new GenericInternalRow(Array[Any](row.getBinary(3), row.getLong(4)))
    )
    written.add(1L)
  }
  override def handleInputRows(salt: Int, rows: Iterator[InternalRow], timers: TimerValues): Iterator[InternalRow] =
    Iterator.empty
}

/** The rows that move to one level, with their new tasks. */
private[millrace] final class MovingRows(rules: Array[MoveRule]) extends Serializable {
  def of(rows: Iterator[Row]): Iterator[Row] = {
    val byName = rules.groupBy(_.from).map { case (name, rs) => name -> rs.map(_.begin()) }
    rows.flatMap { r =>
      byName
        .getOrElse(r.getString(1), Array.empty[MoveRule#Work])
        .flatMap(_.moved(r.getInt(0), r.getAs[Array[Byte]](2), r.getAs[Array[Byte]](3), r.getLong(4)))
    }
  }
}

/** The old checkpoint of a move: its levels, and the notes of their tasks. */
private[millrace] final class OldState(
    spark: classic.SparkSession,
    location: String,
    batch: Long,
    val notes: JsonNode
) {
  val nodes: Seq[JsonNode] = notes.path("nodes").elements.asScala.toSeq
  val levels: Seq[Int] = nodes.filter(n => n.get("op").asText != "sink").map(_.path("level").asInt).distinct.sorted
  val partitions: Int = notes.get("tasks").asInt

  /** The rows of a level: partition_id, store, key, value, timestamp. */
  def rows(level: Int): classic.Dataset[Row] =
    OldState.read(spark, location, levels.size - 1 - levels.indexOf(level), batch)

  /** Notes of tasks about themselves, by level and task, name and key. */
  val noted: Map[(Int, Int), Map[(String, String), (Array[Byte], Long)]] = levels
    .flatMap { level =>
      rows(level).where("store in ('$clock', '$token', '$change', '$types')").collect().toSeq.map { r =>
        (level, r.getInt(0)) -> ((r.getString(1), new String(r.getAs[Array[Byte]](2), "UTF-8")) -> ((
          r.getAs[Array[Byte]](3),
          r.getLong(4)
        )))
      }
    }
    .groupMap(_._1)(_._2)
    .map { case (k, v) => k -> v.toMap }

  private def stores(n: JsonNode): Seq[JsonNode] =
    (Option(n.path("params").get("store")).toSeq ++ n.path("params").path("stores").elements.asScala).filter(_.isObject)
  private val owners: Map[String, JsonNode] = nodes.flatMap { n =>
    (n.get("id").asText -> n) +: stores(n).map(s => s.get("node").asText -> n)
  }.toMap

  /** The node to which rows or a clock of this name belong. */
  def owner(name: String): Option[JsonNode] = owners.get(name).orElse(owners.get(name.takeWhile(_ != '$')))
  def sub(n: JsonNode): Int = n.path("sub").asInt
  def levelOf(n: JsonNode): Int = n.path("level").asInt

  /**
   * The number of tasks of a sub-topology. If a checkpoint does not contain it, it is that of one of its stores, or
   * else [[partitions]].
   */
  def tasks(sub: Int): Int = Option(notes.path("subtopologies").get(sub.toString))
    .map(_.asInt)
    .orElse {
      val ids =
        nodes.filter(this.sub(_) == sub).flatMap(n => n.get("id").asText +: stores(n).map(_.get("node").asText)).toSet
      notes
        .path("state")
        .path("stores")
        .elements
        .asScala
        .find(s => ids(s.get("id").asText) && s.path("tasks").isNumber)
        .map(_.get("tasks").asInt)
    }
    .getOrElse(partitions)

  /** Names of the stores that tasks have opened. */
  lazy val known: Set[String] = noted.values
    .flatMap(_.keys)
    .collect { case ("$types", name) => name; case ("$clock", c) if c.startsWith("$rows/") => c.drop(6) }
    .toSet
}

private[millrace] object OldState {
  def read(spark: classic.SparkSession, location: String, operator: Int, batch: Long): classic.Dataset[Row] =
    spark.read
      .format("statestore")
      .option("path", location)
      .option("operatorId", operator.toLong)
      .option("stateVarName", "stores")
      .option("batchId", batch)
      .load()
      .selectExpr(
        "partition_id",
        "user_map_key.store as store",
        "user_map_key.key as key",
        "user_map_value.value as value",
        "user_map_value.timestamp as timestamp"
      )
      .asInstanceOf[classic.Dataset[Row]]

  /**
   * How records of a sub-topology are assigned to tasks: by the operator's bytes of the key, after a repartition, or by
   * those of the source's format.
   */
  def scheme(nodes: Seq[JsonNode], sub: Int): String = {
    val mine = nodes.filter(_.path("sub").asInt == sub)
    val others = nodes
      .filter(n => n.path("sub").asInt != sub && !TaskGraph.isGlobal(n))
      .map(_.get("id").asText)
      .toSet
    if (mine.exists(_.path("parents").elements.asScala.exists(p => others(p.get(0).asText)))) "operator"
    else
      mine
        .filter(n => Set("stream", "table")(n.get("op").asText))
        .map(_.path("params").path("key").path("format").asText)
        .distinct
        .sorted
        .mkString(",")
  }
}
