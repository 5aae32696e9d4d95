package org.apache.spark.sql.millrace

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode

import org.apache.spark.sql.SparkSession

/**
 * The handlers of failures, with the names of the document's settings. `functions`: those in Python, by kind of
 * failure; `modules`: the sources of the modules that Python code may import, as a JSON object by name.
 */
final case class Settings(
    processing: String,
    deserialization: String,
    production: String,
    deadLetterTopic: String,
    exactlyOnce: Boolean,
    functions: Map[String, HandlerFunction],
    modules: String
) {
  def handler(kind: String): String = kind match {
    case "deserialization" => deserialization
    case "processing" => processing
    case "production" => production
    case "dropped" => "continue" // the source's setting is `skip`
    case _ => "fail"
  }

  /** Whether a record that fails in a node can become a dead letter. */
  def deadLetters: Boolean = Settings.letters(processing) || Settings.letters(production)
}
private[millrace] object Settings {

  /** The handler that writes a dead letter and then stops. */
  val letterThenFail = "dead_letter_then_fail"

  /** The handler that asks a function in Python. */
  val function = "function"
  private val letters = Set("dead_letter", letterThenFail, function)

  /**
   * Under exactly once, Kafka Streams aborts the transaction of a record that stops it, and with it the dead letter: no
   * consumer of committed records sees it. So it is not written.
   */
  def of(s: JsonNode): Settings = {
    val exactlyOnce = s.path("processing_guarantee").asText == "exactly_once"
    def handler(kind: String) = s.path(s"${kind}_handler").asText("fail") match {
      case `letterThenFail` if exactlyOnce => "fail"
      case h => h
    }
    Settings(
      handler("processing"),
      handler("deserialization"),
      handler("production"),
      s.path("dead_letter_topic").asText(null),
      exactlyOnce,
      s.path("functions").properties.asScala.map(e => e.getKey -> HandlerFunction.parse(e.getValue)).toMap,
      if (s.path("modules").isEmpty) null else s.get("modules").toString
    )
  }
}

/**
 * The graph on the driver, with all nodes built in order. Its JSON is `{"tasks": n, "settings": {...}, "nodes": [{"id",
 * "node", "op", "sub", "level", "parents": [["id", "port"], ...], "params": {...}}]}`. Parents come before children; a
 * parent's children receive records in the order of this list.
 */
final class TaskGraph private (val spark: SparkSession, root: JsonNode) {
  private val byId = mutable.LinkedHashMap[String, NodeSpec]()
  val settings: Settings = TaskGraph.settings(root)
  val tasks: Int = root.path("tasks").asInt(1)

  /** The number of tasks of a sub-topology. */
  private[millrace] def tasksOf(sub: Int): Int = root.path("subtopologies").path(sub.toString).asInt(1)
  private val unwrapped = mutable.Map[String, Set[Int]]()
  private var offsets = settings.deadLetters // they have the offset of their record

  private val jsons = root.get("nodes").elements.asScala.toIndexedSeq
  jsons.zipWithIndex.foreach { case (j, i) =>
    val b = new Build(this, j, i)
    if (byId.contains(b.id)) b.fail("id", "duplicate", s"the physical id ${b.id} is used twice")
    val name = TaskGraph.extended(b)
    val make = TaskGraph.factories.getOrElse(name, b.fail("op", "unknown", s"there is no operator $name"))
    byId(b.id) = make(b)
    unwrapped(b.id) = b.unwrapped.toSet
  }

  /** By parent: the order in which its children receive records, where it is not that of the graph. */
  private lazy val ranks: Map[String, Map[String, Int]] = root
    .path("children")
    .properties
    .asScala
    .map(e => e.getKey -> e.getValue.elements.asScala.map(_.asText).zipWithIndex.toMap)
    .toMap
  private def rank(parent: String, child: String): Int = ranks.get(parent).flatMap(_.get(child)).getOrElse(0)
  val specs: IndexedSeq[NodeSpec] = byId.values.toIndexedSeq
  specs.foreach {
    case h: HopSpec =>
      h.receivers = specs
        .sortBy(c => rank(h.id, c.id))
        .flatMap(c => c.parents.zipWithIndex.collect { case ((h.id, _), input) => TaskGraph.dest(c.index, input) })
        .toArray
    case _ =>
  }

  /** Makes internal topics count offsets, because something reads a record's offset. */
  private[millrace] def askForOffsets(): Unit = offsets = true
  def spec(id: String): NodeSpec =
    byId.getOrElse(id, throw new Refused(id, "", Why("unknown", s"there is no node $id")))

  /** The levels that run in tasks. */
  def levels: Seq[Int] = specs.map(_.level).distinct.sorted

  /** Level `n`, with its nodes and edges. */
  private[millrace] def level(n: Int, settings: Settings): LevelSpec = new LevelSpec(
    n,
    specs.filter(_.level == n).toArray,
    specs
      .filter(s => s.level != n && specs.exists(c => c.level == n && c.parents.exists(_._1 == s.id)))
      .map(s => s.id -> s.ports)
      .toMap,
    specs
      .flatMap(s =>
        s.parents.zipWithIndex.map { case ((p, port), input) =>
          new Edge(
            p,
            port,
            s.id,
            input,
            spec(p).level,
            s.level,
            TaskGraph.dest(s.index, input),
            unwrapped(s.id)(input),
            s.reads(input),
            s.keeps(input),
            s.derived,
            spec(p) match { case h: HopSpec => h.topic; case _ => null }
          )
        }
      )
      .filter(e => e.fromLevel == n || e.toLevel == n)
      .sortBy(e => rank(e.from, e.to))
      .toArray,
    settings,
    specs
      .map(s => s.id -> s.parents.map(p => spec(p._1).node == s.node).toArray)
      .filter(_._2.contains(true))
      .toMap,
    specs.filter(s => specs.exists(c => c.node == s.node && c.parents.exists(_._1 == s.id))).map(_.id).toSet,
    n == levels.last,
    offsets
  )
}

/**
 * An edge of the graph. `topic`: the parent's, if the parent sends by key (`hop`); `unwrap`: a table's changes arrive
 * as plain values; `reads`, `keeps`, `derived`: the child's, see [[NodeSpec]].
 */
private[millrace] final class Edge(
    val from: String,
    val port: String,
    val to: String,
    val input: Int,
    val fromLevel: Int,
    val toLevel: Int,
    val dest: Int,
    val unwrap: Boolean,
    val reads: Boolean,
    val keeps: Boolean,
    val derived: Boolean,
    val topic: String
) extends Serializable {
  def hop: Boolean = topic != null
}

/**
 * Everything that the tasks of one level need, serialized into the operator. A node of the document may consist of
 * several physical ones: `continued` are the inputs of those that receive records from another one of the same node,
 * `continues` those that send records to one; such records do not count as the node's input or output. `countsOffsets`:
 * something reads offsets in internal topics.
 */
private[millrace] final class LevelSpec(
    val level: Int,
    val nodes: Array[NodeSpec],
    val foreign: Map[String, Seq[(String, Port)]],
    val edges: Array[Edge],
    val settings: Settings,
    val continued: Map[String, Array[Boolean]],
    val continues: Set[String],
    val last: Boolean,
    val countsOffsets: Boolean
) extends Serializable

object TaskGraph {
  private lazy val factories: Map[String, Build => NodeSpec] = Families.all.flatMap(_.factories).toMap

  def parse(spark: SparkSession, json: String): TaskGraph = new TaskGraph(spark, Json.mapper.readTree(json))

  private[millrace] def settings(root: JsonNode): Settings = Settings.of(root.path("settings"))

  /** The `dest` of rows for input `i` of a node: the node's index, with the input above the lower 16 bits. */
  private[millrace] def dest(index: Int, input: Int): Int = index | (input << 16)

  /** A flag in a `dest`: the input only stores this table's update, for lookups that precede its processing. */
  private[millrace] val keep: Int = 1 << 30

  /** Whether every task runs a step for all records of its topic. */
  private[millrace] def isGlobal(step: JsonNode): Boolean = globalOps(step.get("op").asText)
  private val globalOps = Set("global_table", "global_store")
  private val aggregations = Set("count", "reduce", "aggregate", "cogroup")
  private val both = Set("filter", "filter_not", "map_values")
  private def extended(b: Build): String =
    if (aggregations(b.op)) b.opt("window").map(w => s"${b.op}@${w.get("type").asText}").getOrElse {
      if (b.inputs.headOption.exists(_.isInstanceOf[GroupedPort])) s"${b.op}@table" else b.op
    }
    else if (both(b.op) && b.inputs.headOption.exists(_.isInstanceOf[TablePort])) s"${b.op}@table"
    else b.op
}
