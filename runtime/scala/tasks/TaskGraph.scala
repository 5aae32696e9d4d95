package org.apache.spark.sql.millrace

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.types.DataType

/** The types of the records that leave a port. `key.seen` and `value` are the types that expressions see. */
sealed trait Port { def key: KeyType; def value: DataType }
final case class StreamPort(key: KeyType, value: DataType) extends Port

/** A table: records carry a Change. `owner` is the node to ask for old values. */
final case class TablePort(key: KeyType, value: DataType, owner: TableSource) extends Port

/** A grouped and repartitioned table: records carry a Change under the group's key; either value may be null. */
final case class GroupedPort(key: KeyType, value: DataType) extends Port
final case class GlobalPort(key: KeyType, value: DataType, owner: NodeSpec) extends Port

/** A node that outputs a table. The driver calls these methods while the graph is built. */
trait TableSource {

  /** Requests old values in changes. `force`: materialize the table if necessary. Returns whether they will be sent. */
  def enableSendingOldValues(force: Boolean): Boolean

  /** Whether a versioned store answers lookups. */
  def versioned: Boolean = false
}

/**
 * The operator's store. `named`: the document has a store node for it, so that its contents are shown. `properties`:
 * those of the store node. `state`: the name of its rows in the state. With a store node it is the node's id, because
 * that stays when the store is renamed; further copies of a global store have names of their own.
 */
final case class StoreSpec(name: String, node: String, kind: String, named: Boolean, properties: Map[String, String]) {
  def state: String = if (named) properties.getOrElse("state", node) else name
  def long(property: String): Option[Long] = properties.get(property).map(_.toLong)
}

object StoreSpec {
  private[millrace] def apply(s: StoreSettings, kind: String): StoreSpec =
    StoreSpec(s.name, s.node, kind, s.named, Map("state" -> s.state))
}

/** A node as data: built on the driver, serialized for the tasks. */
abstract class NodeSpec(b: Build) extends Serializable {
  val id: String = b.id
  val node: String = b.node
  val op: String = b.op
  val sub: Int = b.sub
  val level: Int = b.level

  /** Parents by input: physical id and port. */
  val parents: Seq[(String, String)] = b.parentIds

  /** Index in the graph: the `dest` of rows for input 0. */
  val index: Int = b.index

  /** Output ports in their order. Empty for sinks. */
  def ports: Seq[(String, Port)]

  /** Whether an input is only looked up: its updates cause nothing by themselves. */
  def reads(input: Int): Boolean = false

  /**
   * Whether an input is also looked up: its updates cause something, and lookups may need them before they are
   * processed.
   */
  def keeps(input: Int): Boolean = false

  /** Whether the table stores nothing that could answer lookups: the current values of its parents answer them. */
  def derived: Boolean = false

  /** The parents' output ports, by input. */
  val inputs: Seq[Port] = b.inputs

  /** The functions in Python that its expressions call, or null. */
  private[millrace] val functions: FunctionSettings = b.functions

  /** The rows that the node keeps in the state. Called when the whole graph is built. */
  private[millrace] def kept: Seq[KeptRows] = Nil
  def create(): Node
}

/** A node whose output travels to tasks of a later level by the key's partition. */
abstract class HopSpec(b: Build) extends NodeSpec(b) {

  /** The name of the topic in Kafka Streams, without the application id. */
  def topic: String = b.textOpt("topic").getOrElse(id)
  val partitions: Int = b.int("partitions")
  private[millrace] var receivers: Array[Int] = Array.empty
}

/** The part of a hop that runs in a task. */
abstract class HopNode(spec: HopSpec) extends Node(spec) {
  private val port = spec.ports.head._2
  private val codec = Codec.key(port.key)
  private val changes = port.isInstanceOf[GroupedPort] || port.isInstanceOf[TablePort]
  private val packer = new Packer(if (changes) Packer.changeType(port.value) else port.value)

  /** Sends to the partition of the key's bytes (of a windowed key: the inner key's); null keys go to partition 0. */
  protected final def hop(r: Record): Unit = {
    val key = codec.encode(r.key)
    val chooses = codec match { case w: WindowedCodec if r.key != null => w.innerBytes(r.key); case _ => key }
    hopTo(r, key, Partitioner.partition(chooses, spec.partitions))
  }
  protected final def hopTo(r: Record, key: Array[Byte], partition: Int): Unit = {
    sent += 1
    val value = Packed(packer, r.value, changes)
    var i = 0
    while (i < spec.receivers.length) {
      context.emit(new Outgoing(spec.receivers(i), partition, key, value, r.timestamp, r.headers, hop = true))
      i += 1
    }
  }
}

private[millrace] object Packed {
  import org.apache.spark.sql.catalyst.InternalRow
  import org.apache.spark.sql.catalyst.expressions.GenericInternalRow

  def apply(p: Packer, v: Any, changes: Boolean): Array[Byte] = v match {
    case c: Change if changes => p.pack(new GenericInternalRow(Array[Any](c.newValue, c.oldValue, c.isLatest)))
    case _ => p.pack(v)
  }
  def unpack(p: Packer, b: Array[Byte], value: DataType, changes: Boolean): Any =
    if (!changes) p.unpack(b)
    else {
      val r = p.unpack(b).asInstanceOf[InternalRow]
      new Change(
        if (r.isNullAt(0)) null else r.get(0, value),
        if (r.isNullAt(1)) null else r.get(1, value),
        r.getBoolean(2)
      )
    }
}

/** Kafka's default partitioner. */
object Partitioner {

  /** murmur2(key) & 0x7fffffff % n; 0 for null. */
  def partition(key: Array[Byte], n: Int): Int = if (key == null) 0 else (murmur2(key) & 0x7fffffff) % n

  def murmur2(data: Array[Byte]): Int = {
    val m = 0x5bd1e995
    var h = 0x9747b28c ^ data.length
    val words = data.length >> 2
    var i = 0
    while (i < words) {
      val at = i << 2
      var k = (data(at) & 0xff) | ((data(at + 1) & 0xff) << 8) | ((data(at + 2) & 0xff) << 16) | (data(at + 3) << 24)
      k *= m
      k ^= k >>> 24
      k *= m
      h *= m
      h ^= k
      i += 1
    }
    val tail = words << 2
    val left = data.length & 3
    if (left == 3) h ^= (data(tail + 2) & 0xff) << 16
    if (left >= 2) h ^= (data(tail + 1) & 0xff) << 8
    if (left >= 1) { h ^= data(tail) & 0xff; h *= m }
    h ^= h >>> 13
    h *= m
    h ^= h >>> 15
    h
  }
}

/**
 * An operator family, an object in nodes/: maps op names to factories, `Build => NodeSpec`. On the driver the factory
 * reads its parameters, compiles its expressions and infers the types of its output ports. The NodeSpec is serialized;
 * in the task `create()` makes the Node.
 *
 * {{{
 * object Tables extends Family {
 *   override def factories = Map("to_table" -> (new ToTableSpec(_)), ...)
 * }
 *
 * final class ToTableSpec(b: Build) extends NodeSpec(b) with TableSource {
 *   private val in = b.stream(0)
 *   val store = b.store("key_value", "versioned") // the operator's own store: its name, or the node's id
 *   override val ports = Seq("out" -> TablePort(in.key, in.value, this))
 *   override def create() = new ToTableNode(this)
 * }
 * }}}
 *
 * `b` exists only in constructors (vals) and while the graph is built; in the task it is null.
 *
 * The op name is extended where one builder method means different operators:
 *
 *   - `count`, `reduce`, `aggregate`, `cogroup` with a window: `count@tumbling`, `@hopping`, `@sliding`, `@session`,
 *     `@unlimited`
 *   - the same on a grouped table (the input is a GroupedPort): `count@table`
 *   - `filter`, `filter_not`, `map_values` on a table: `filter@table`, ...
 *
 * A stream operator (to, print, peek, merge, split, process ...) whose input is a table gets the table's updates as a
 * stream; `b.stream(i)` does that.
 *
 * Hops: a spec that extends HopSpec ends the level (repartition, group_by, foreign_key_subscribe ...). Its node calls
 * `hop(...)`; the children in the JSON graph (`repartitioned`, `grouped_table`, `foreign_key_lookup` ...) are the
 * receivers and get the record at their own level, decoded by the type of the hop's port. An edge of any other node to
 * a later level is a wire: the record goes to the same task there, without any code in the node.
 */
trait Family { def factories: Map[String, Build => NodeSpec] }

/** A node while it is built: parameters, inputs, and methods that compile expressions. */
final class Build private[millrace] (val graph: TaskGraph, val json: JsonNode, val index: Int) extends Serializable {

  /** Keeps the driver's objects out of specs whose constructor parameter became a field: in the task it is null. */
  private def writeReplace(): AnyRef = null

  val id: String = json.get("id").asText
  val node: String = Option(json.get("node")).filterNot(_.isNull).map(_.asText).getOrElse(id)
  val op: String = json.get("op").asText
  val sub: Int = json.path("sub").asInt(0)
  val level: Int = json.path("level").asInt(0)
  val params: JsonNode = Option(json.get("params")).filterNot(_.isNull).getOrElse(Json.mapper.createObjectNode())

  /** The ids of the parents, each with its port. */
  val parentIds: Seq[(String, String)] =
    json.path("parents").elements.asScala.map(p => (p.get(0).asText, p.get(1).asText)).toSeq
  def spark: SparkSession = graph.spark
  def settings: Settings = graph.settings

  /** Inputs that are tables, but that `stream` takes as streams of updates. */
  private[millrace] val unwrapped = mutable.Set[Int]()

  def parent(i: Int): NodeSpec = graph.spec(parentIds(i)._1)
  lazy val inputs: Seq[Port] = parentIds.map { case (p, port) =>
    graph
      .spec(p)
      .ports
      .collectFirst { case (`port`, x) => x }
      .getOrElse(fail("", "port", s"$p has no output port $port"))
  }

  /** Input i as a stream; for a table, the stream of its updates. */
  def stream(i: Int): StreamPort = inputs(i) match {
    case s: StreamPort => s
    case TablePort(k, v, _) =>
      unwrapped += i
      StreamPort(k, v)
    case other => fail("in", "port", s"must be a stream, but is ${Build.describe(other)}")
  }
  def table(i: Int): TablePort = inputs(i) match {
    case t: TablePort => t
    case other => fail("in", "port", s"must be a table, but is ${Build.describe(other)}")
  }
  def grouped(i: Int): GroupedPort = inputs(i) match {
    case g: GroupedPort => g
    case other => fail("in", "port", s"must be a grouped table, but is ${Build.describe(other)}")
  }
  def global(i: Int): GlobalPort = inputs(i) match {
    case g: GlobalPort => g
    case other => fail("right", "port", s"must be a global table, but is ${Build.describe(other)}")
  }

  def opt(p: String): Option[JsonNode] = Option(params.get(p)).filterNot(_.isNull)
  def req(p: String): JsonNode = opt(p).getOrElse(fail(p, "missing", "is missing"))
  def text(p: String): String = req(p).asText
  def textOpt(p: String): Option[String] = opt(p).map(_.asText)
  def long(p: String): Long = req(p).asLong
  def longOpt(p: String): Option[Long] = opt(p).map(_.asLong)
  def int(p: String): Int = req(p).asInt
  def bool(p: String, default: Boolean): Boolean = opt(p).map(_.asBoolean).getOrElse(default)
  def elements(p: String): Seq[JsonNode] = opt(p).map(_.elements.asScala.toSeq).getOrElse(Nil)

  def expr(p: String, layout: Layout, expected: Option[DataType] = None): Expr = exprOf(text(p), p, layout, expected)
  def exprOf(text: String, p: String, layout: Layout, expected: Option[DataType] = None): Expr = {
    expressions += 1
    val name = s"$id/$expressions"
    val calling = if (functions == null) layout else layout.copy(callable = callable)
    val made = judged(p, "expression")(Expressions.compile(spark, text, calling, p, expected, name))
    if (layout.seesOffset(made)) graph.askForOffsets()
    made
  }
  private var expressions = 0

  /** The functions in Python that the expressions can call, or null. */
  private[millrace] lazy val functions: FunctionSettings =
    opt("functions").map(f => FunctionSettings(f.path("code").asText, f.path("file").asText(""))).orNull
  private lazy val callable = judged("returns", "type")(CalledFunctions.of(id, req("functions").get("returns")))
  def dataType(p: String): DataType = judged(p, "type")(Expressions.parseType(text(p)))
  def codec(p: String, default: Option[DataType] = None): Codec = codecOf(req(p), p, default)
  def codecOf(j: JsonNode, p: String, default: Option[DataType] = None): Codec =
    judged(p, "format")(Codec.parse(j, default))

  /**
   * The operator's own store: the one in the parameter `store` (`{"name", "node", "kind", ...}`), or an unnamed one
   * that is named after the node's id.
   */
  def store(kinds: String*): StoreSpec =
    opt("store").map(storeOf(_, kinds.head)).getOrElse(StoreSpec(id, node, kinds.head, named = false, Map.empty))
  def storeOf(j: JsonNode, default: String): StoreSpec = {
    val properties = j.properties.asScala
      .filterNot(e => e.getValue.isNull || e.getValue.isContainerNode)
      .map(e => e.getKey -> e.getValue.asText)
      .toMap
    StoreSpec(
      j.get("name").asText,
      properties.getOrElse("node", node),
      properties.getOrElse("kind", default),
      named = true,
      properties - "name" - "node" - "kind"
    )
  }

  def fail(p: String, code: String, message: String): Nothing = throw new Refused(node, p, Why(code, message))
  private def judged[T](p: String, code: String)(body: => T): T = try body
  catch {
    case e: Expressions.Invalid =>
      val found = if (e.condition == "REGISTRY") "registry" else code
      throw new Refused(node, p, Why(found, e.reason, "reason" -> e.reason), e.failure)
  }
}

private object Build {
  def describe(p: Port): String = p match {
    case _: StreamPort => "a stream"
    case _: TablePort => "a table"
    case _: GroupedPort => "a grouped table"
    case _: GlobalPort => "a global table"
  }
}

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
