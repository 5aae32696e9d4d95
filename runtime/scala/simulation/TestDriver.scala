package org.apache.spark.sql.millrace

import java.util.Base64

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{DataType, StringType}
import org.apache.spark.unsafe.types.UTF8String

/**
 * The tasks of a topology in this JVM, for tests that send single records and look at the results (py4j). Records go
 * through the tasks of a deployment; a call is one micro-batch. Keys, values and stores are JSON in the form that
 * processors use ([[Wire]]).
 *
 *   - `feed(lines)`: processes records, in the form of [[Simulation.add]]; records of the topic `$control` go to all
 *     tasks. Returns `{"rows": [...], "drops": [{"node", "reason", "count"}], "logs": [{"level", "node", "message"}],
 *     "nodes": [[node, records in, records out]]}`. Rows are in the order in which they reach the topics: `{"dest",
 *     "merge": of the record that caused it, "topic", "partition", "timestamp", "headers": [[name, base64]],
 *     "key_bytes", "value_bytes", "partition_key": base64}`. If a record stopped a task, the last row has the dest -1
 *     and its "fault"
 *   - `play(lines)`: the same, but each record is a micro-batch of its own, and the first that stops a task is the last
 *   - `mark()`: begins a step; `undo()`: ends the tasks, and restores their stores and clocks at the begin of the step
 *   - `failure()`: the fault of a node that did not start, or null
 *   - `stores()`: `[{"name", "kind", "named", "tasks", "global", "types": {"key", "value"}}]`
 *   - `store(name, task, message)`: an operation on a store ([[StoreAccess]]): `{"answer", "drops", "logs"}`
 *   - `partition(name, key)`: the task of a store that has a key, by Kafka's partitioner
 *   - `sink(dest)`: `{"key", "value"}`, the types that a sink writes; null for JSON
 *   - `read(dest, part, bytes)`, `TestDriver.decode(format, bytes)`: a key or value as JSON; bytes are base64
 *   - `close()`: ends the tasks; returns the log lines of their end
 */
final class TestDriver private[millrace] (
    graph: TaskGraph,
    settings: Settings,
    options: TaskOptions,
    readings: Seq[SourceReading],
    wallClock: Long,
    statistics: RunAccumulator
) {
  import TestDriver._
  private val levels = graph.levels.map(graph.level(_, settings))
  private val reports = mutable.ArrayBuffer[TaskReport]()
  private val states = new HeldStates(
    fresh = () => { val s = new HeldState; ProcessorStateManager.note(s, StreamTask.wall, wallClock); s }
  )
  private val chain = new TaskChain(levels, options, t => reports += t.report(), states)
  private val sinks: Map[Int, TopicSinkSpec] = graph.specs.collect { case s: TopicSinkSpec => s.index -> s }.toMap

  /** Starts the first task of each level: its nodes know their stores, and failures of `init` show at once. */
  private val first: Seq[(LevelSpec, StreamTask)] = levels.map(l => l -> chain.task(l.level, 0))

  private final class Home(val level: Int, val node: Node, val access: StoreAccess) {
    val global: Boolean = node.isInstanceOf[GlobalTable]
    val tasks: Int = if (global) options.partitions else graph.tasksOf(node.spec.sub)
  }
  private val homes: Map[String, Seq[Home]] = first
    .flatMap { case (l, task) => task.nodes.flatMap(n => n.accessible.map(d => new Home(l.level, n, d.access))) }
    .groupBy(_.access.store.name)

  def failure(): String = first.map(_._2.failure).find(_ != null).map(_.json).orNull

  def mark(): Unit = states.mark()
  def undo(): Unit = { chain.rewind(); states.undo(); reports.clear() }

  def feed(lines: String): String = answered(processed(Simulation.parse(lines).flatMap(addressed)))

  def play(lines: String): String = {
    val records = Simulation.parse(lines).iterator
    val out = mutable.ArrayBuffer[Simulation.Out]()
    while (records.hasNext && !out.exists(_.fault != null)) out ++= processed(addressed(records.next()))
    answered(out)
  }

  private def processed(rows: Seq[InternalRow]): Seq[Simulation.Out] =
    Simulation
      .ordered(chain.run(rows.toArray).flatMap(r => SinkRow.met(SinkRow.of(r), settings, statistics)))
      .toIndexedSeq

  private def answered(out: Iterable[Simulation.Out]): String = {
    val answer = figures()
    val rows = answer.putArray("rows")
    out.foreach(o => describe(o, rows.addObject()))
    Json.mapper.writeValueAsString(answer)
  }

  /** One row for each source node that reads the record, and each task that takes it. */
  private def addressed(r: InternalRow): Seq[InternalRow] = {
    val record = new SourceRecord(
      r.getUTF8String(at("topic")).toString,
      r.getInt(at("partition")),
      r.getLong(at("offset")),
      Math.floorDiv(r.getLong(at("timestamp")), 1000L),
      Envelope.binary(r, at("key")),
      Envelope.binary(r, at("value")),
      Envelope.headers(r.getArray(at("headers"))),
      r.getLong(at("merge"))
    )
    if (record.topic == "$control") (0 until options.partitions).map(record.row(Envelope.CONTROL, _, options))
    else readings.flatMap(_.rows(record, options))
  }

  private def describe(o: Simulation.Out, row: ObjectNode): Unit = {
    row.put("dest", o.dest)
    row.put("merge", o.merge)
    row.put("topic", o.outTopic)
    row.put("partition", o.outPartition)
    row.put("timestamp", o.timestamp)
    row.put("key_bytes", base64(o.key))
    row.put("value_bytes", base64(o.value))
    row.put("partition_key", base64(o.partitionKey))
    row.put("fault", o.fault)
    val headers = row.putArray("headers")
    o.headers.foreach { case (k, v) => headers.addArray().add(k).add(base64(v)) }
  }

  /** Drops and log lines since the last call. */
  private def figures(): ObjectNode = {
    val answer = Json.mapper.createObjectNode()
    val drops = answer.putArray("drops")
    val logs = answer.putArray("logs")
    val nodes = answer.putArray("nodes")
    reports.foreach { r =>
      r.nodes.toSeq.sortBy(_._1).foreach { case (node, c) => nodes.addArray().add(node).add(c.in).add(c.out) }
      r.drops.toSeq.sortBy(_._1).foreach { case ((node, reason), n) =>
        drops.addObject().put("node", node).put("reason", reason).put("count", n)
      }
      r.nodes.toSeq.sortBy(_._1).foreach { case (node, c) =>
        if (c.dead > 0) drops.addObject().put("node", node).put("reason", "dead_letter").put("count", c.dead)
      }
      r.logs.foreach(l => logs.addObject().put("level", l.level).put("node", l.node).put("message", l.message))
    }
    reports.clear()
    answer
  }

  // ---- stores ----

  def stores(): String = {
    val answer = Json.mapper.createArrayNode()
    homes.toSeq.sortBy(_._1).foreach { case (name, found) =>
      val home = found.head
      val store = home.access.store
      val o = answer.addObject()
      o.put("name", name)
      o.put("kind", store.spec.kind).put("headers", store.headers)
      o.put("node", home.node.node)
      o.put("named", store.spec.named)
      o.put("table", !home.node.isInstanceOf[PythonNode])
      o.put("tasks", home.tasks)
      o.put("global", home.global)
      o.replace("types", types(store.key, store.value))
    }
    Json.mapper.writeValueAsString(answer)
  }

  def store(name: String, task: Int, message: String): String = {
    val m = Json.mapper.readTree(message)
    val home = homes(name)
    // A global table has a copy on each level that reads it; other stores have one place.
    val places = if (home.head.global) home else home.take(1)
    var served: JsonNode = null
    places.foreach { h =>
      chain.between(h.level, task, place) { t =>
        val access = t.nodes.iterator.filter(_.id == h.node.id).flatMap(_.accessible).map(_.access)
        served = access.find(_.store.name == name).get.serve(m.get(2).asText, m)
      }
    }
    val answer = figures()
    answer.replace("answer", if (served == null) Json.mapper.nullNode else served)
    Json.mapper.writeValueAsString(answer)
  }

  def partition(name: String, key: String): Int = {
    val home = homes(name).head
    if (home.global) 0 else Partitioner.partition(home.access.key(Json.mapper.readTree(key)), home.tasks)
  }

  // ---- values ----

  def sink(dest: Int): String = {
    val answer = Json.mapper.createObjectNode()
    Seq("key" -> sinks(dest).keyCodec, "value" -> sinks(dest).valueCodec).foreach { case (part, codec) =>
      if (codec.format == "json") answer.putNull(part)
      else answer.replace(part, Json.mapper.readTree(codec.dataType.json))
    }
    Json.mapper.writeValueAsString(answer)
  }
  def read(dest: Int, part: String, bytes: String): String = {
    val s = sinks(dest)
    decoded(if (part == "key") s.keyCodec else s.valueCodec, bytes)
  }

  def close(): String = {
    chain.restart()
    chain.takeClosed().foreach { l =>
      val r = new TaskReport(0, 0); r.log(l); reports += r
    }
    Json.mapper.writeValueAsString(figures())
  }
}

object TestDriver {

  /** The columns of [[Simulation.sourceSchema]]. */
  private val at: Map[String, Int] = Simulation.sourceSchema.fieldNames.zipWithIndex.toMap

  /** The place of rows that a test causes between two records. */
  private val place: InternalRow = Envelope.row(
    new Outgoing(Envelope.CONTROL, 0, null, null, -1L, Headers.empty),
    null,
    0,
    0L,
    UTF8String.fromString("$control"),
    0,
    0L,
    Array.emptyByteArray,
    -1L
  )

  /**
   * `graph` and `options`: see [[StreamTasks]]; `readings`: a JSON array, see [[SourceRows]]; `wallClock`: the wall
   * clock at the start, in ms.
   */
  def open(session: SparkSession, graph: String, options: String, readings: String, wallClock: Long): TestDriver = {
    val spark = Internals.classicSession(session)
    val j = Json.mapper.readTree(options)
    val parsed = TaskGraph.parse(spark, graph)
    val made = StreamTasks.optionsOf(spark, j)
    new TestDriver(
      parsed,
      parsed.settings,
      made,
      SourceReading.parse(readings),
      wallClock,
      Reports.of(spark, made.run)
    )
  }

  /** The type of a format. */
  def typeOf(format: String): String = Columns.codec(format, Some(StringType)).dataType.json

  /** The bytes, in base64, of a value in a format. */
  def encode(format: String, value: String): String = {
    val codec = Columns.codec(format, Some(StringType))
    base64(codec.encode(Wire.value(Json.mapper.readTree(value), codec.dataType)))
  }
  def decode(format: String, bytes: String): String = decoded(Columns.codec(format, Some(StringType)), bytes)

  private def decoded(codec: Codec, bytes: String): String =
    Json.mapper.writeValueAsString(Wire.node(codec.decode(Base64.getDecoder.decode(bytes)), codec.dataType))

  private def types(key: DataType, value: DataType): ObjectNode = {
    val o = Json.mapper.createObjectNode()
    o.replace("key", Json.mapper.readTree(key.json))
    o.replace("value", Json.mapper.readTree(value.json))
    o
  }
  private def base64(b: Array[Byte]): String = if (b == null) null else Base64.getEncoder.encodeToString(b)
}
