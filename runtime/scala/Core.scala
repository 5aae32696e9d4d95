package org.apache.spark.sql.millrace

import java.nio.charset.StandardCharsets.UTF_8

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, GenericArrayData, MapData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** One header. A null value is allowed, as on Kafka. */
final class Header(val key: String, val value: Array[Byte]) extends Serializable

object Headers {
  val empty: Headers = Array.empty

  /** The headers as expressions see them: MAP<STRING, BINARY>, sorted by name; of equal names, the last header. */
  def asMap(headers: Headers): MapData = {
    val sorted = new java.util.TreeMap[String, Array[Byte]]()
    headers.foreach(h => sorted.put(h.key, h.value))
    val keys = new Array[Any](sorted.size)
    val values = new Array[Any](sorted.size)
    var i = 0
    sorted.forEach { (k, v) => keys(i) = UTF8String.fromString(k); values(i) = v; i += 1 }
    new ArrayBasedMapData(new GenericArrayData(keys), new GenericArrayData(values))
  }

  def text(name: String, value: String): Header = new Header(name, if (value == null) null else value.getBytes(UTF_8))
}

/**
 * A record on its way between nodes. Key and value are Catalyst's own values (UTF8String, Long, InternalRow, ...) or
 * null; on the edges of tables the value is a [[Change]]. The timestamp is in ms. Nothing in a record is ever mutated.
 */
final class Record(val key: Any, val value: Any, val timestamp: Long, val headers: Headers) {
  def withKey(k: Any): Record = new Record(k, value, timestamp, headers)
  def withValue(v: Any): Record = new Record(key, v, timestamp, headers)
  def withTimestamp(t: Long): Record = new Record(key, value, t, headers)
  def change: Change = value.asInstanceOf[Change]
}

/**
 * An update of a table. `oldValue` is null unless a node downstream requested old values (see [[TableSource]]);
 * `isLatest` is false only for an out-of-order update of a versioned table.
 */
final class Change(val newValue: Any, val oldValue: Any, val isLatest: Boolean = true)

/**
 * Keys of windowed tables: STRUCT<key, window: STRUCT<start, end>> with the bounds in microseconds, as Spark's
 * TIMESTAMP has them.
 */
object Windowed {
  def typeOf(key: DataType): StructType = new StructType()
    .add("key", key)
    .add("window", new StructType().add("start", TimestampType).add("end", TimestampType))

  /** Bounds in ms; `end` is null for unlimited windows. */
  def apply(key: Any, start: Long, end: java.lang.Long): InternalRow =
    new GenericInternalRow(
      Array[Any](key, new GenericInternalRow(Array[Any](start * 1000L, if (end == null) null else end * 1000L)))
    )

  def key(windowed: Any, keyType: DataType): Any = windowed.asInstanceOf[InternalRow].get(0, keyType)
  def startMs(windowed: Any): Long = Math.floorDiv(windowed.asInstanceOf[InternalRow].getStruct(1, 2).getLong(0), 1000L)

  /** The end in ms, or Long.MaxValue for an unlimited window. */
  def endMs(windowed: Any): Long = {
    val w = windowed.asInstanceOf[InternalRow].getStruct(1, 2)
    if (w.isNullAt(1)) Long.MaxValue else Math.floorDiv(w.getLong(1), 1000L)
  }
}

/**
 * A window. `kind`: `time` (tumbling, hopping), `sliding`, `session`, `unlimited`; `size` (or gap, difference; of the
 * longest window), `grace`: ms. `windows`: for `time`, which knows the ends.
 */
final case class WindowSpec(kind: String, size: Long, grace: Long, windows: WindowsOf = null)

/** The type of a key. `dataType`: of the inner key; `seen`: as expressions see it. */
final case class KeyType(dataType: DataType, window: Option[WindowSpec] = None) {
  def seen: DataType = if (window.isEmpty) dataType else Windowed.typeOf(dataType)
}

/** A clock that only goes forward; -1 until it is first set. Clocks survive micro-batches and restarts. */
final class Clock(val name: String) {
  private var time = -1L
  private[millrace] var dirty = false
  def value: Long = time

  /** Returns the new maximum. */
  def advance(t: Long): Long = {
    if (t > time) { time = t; dirty = true }
    time
  }
  def set(t: Long): Unit = if (t != time) { time = t; dirty = true }
}

/**
 * A value of a store and its timestamp in ms (stores without timestamps use 0). The value belongs to the store: do not
 * mutate it.
 */
final class Entry(val value: Any, val timestamp: Long)

/**
 * A store of one task, keyed by bytes. A touched key is read from the state once and written once per micro-batch. Keys
 * are the Kafka bytes of the key ([[Codec.key]]) so that iteration has Kafka Streams' order: unsigned, lexicographic.
 * Methods other than `get`, `put`, `delete`, `all` and `size` require a store that was opened as ordered.
 *
 * A range iterates over a snapshot of its keys: put and delete are safe meanwhile, and deleted keys are skipped. A null
 * bound is open.
 */
trait Store {
  def name: String
  def get(key: Array[Byte]): Entry

  /** A null value deletes. */
  def put(key: Array[Byte], value: Any, timestamp: Long): Unit

  /** Puts the row of a key that no row has had before, which saves a lookup. The value is not null. */
  def add(key: Array[Byte], value: Any, timestamp: Long): Unit = put(key, value, timestamp)
  def delete(key: Array[Byte]): Unit

  /** Keys in [from, to). */
  def range(from: Array[Byte], to: Array[Byte], ascending: Boolean = true): Iterator[(Array[Byte], Entry)]

  /**
   * Keys in [from, to) that consist of `key` and `tail` more bytes. Costs less than `range`, which compares keys of all
   * lengths.
   */
  def rangeOf(
      key: Array[Byte],
      tail: Int,
      from: Array[Byte],
      to: Array[Byte],
      ascending: Boolean = true
  ): Iterator[(Array[Byte], Entry)]
  def all: Iterator[(Array[Byte], Entry)] = range(null, null)

  /** The smallest key in [from, to), or null. */
  def first(from: Array[Byte], to: Array[Byte]): Array[Byte]

  /** The smallest key in [from, to) that consists of `key` and `tail` more bytes, or null. */
  def firstOf(key: Array[Byte], tail: Int, from: Array[Byte], to: Array[Byte]): Array[Byte]

  /** Deletes the keys in [from, to) for which `expired` holds, without reading values. */
  def sweep(from: Array[Byte], to: Array[Byte])(expired: Array[Byte] => Boolean): Unit

  /** Deletes a row that exists and that nobody reads any more. Costs less than `delete`. */
  def expire(key: Array[Byte]): Unit = delete(key)

  /** Sets what is called when the store gives up what it has in memory. */
  def whenEvicted(notify: () => Unit): Unit = ()

  /** The number of entries. */
  def size: Long
}

/** A running schedule of punctuation. */
trait Schedule { def cancel(): Unit }

/**
 * The context of a task's nodes, one per level and task. It lives across micro-batches; its state is in Spark's state
 * store. `topic`, `partition` and `offset` are those of the current record; null and -1 in a punctuation.
 */
trait TaskContext {

  /** The id of a task, such as `1_0`: sub-topology and task index. */
  def taskId(sub: Int): String
  def topic: UTF8String
  def partition: Int
  def offset: Long

  /** Runs `body` with these as the current record's topic, partition and offset, for records that waited in a store. */
  def at(topic: UTF8String, partition: Int, offset: Long)(body: => Unit): Unit

  /** The stream time of a sub-topology's task: the highest timestamp of its records so far. */
  def streamTime(sub: Int): Clock

  /** A clock of a node or store. The name must be unique: use the id of the node or store. */
  def clock(name: String): Clock

  /** Opens a store. Call it once, in `init`. All nodes that pass the same name share the store. */
  def store(name: String, valueType: DataType, ordered: Boolean): Store

  /** A store of BIGINTs that only indexes another store: its rows are not reported as state. */
  def index(name: String, ordered: Boolean): Store

  /** The node with this physical id, or null if it is not on this level. */
  def nodeOf(id: String): Node

  /** Sets how a store's rows are shown in the task's trace. Call it after `store`. */
  def show(name: String, view: => StoreView): Unit

  /**
   * Counts one record as dropped (`dropped-records-total`). Reasons are words such as `late`, `null_key`, `null_value`;
   * `details` are times in ms that explain the reason.
   */
  def dropped(node: Node, reason: String, details: (String, Long)*): Unit

  /**
   * Calls back with the clock's time every `intervalMs` of stream time [PA4] or wall-clock time. Callable in `init` and
   * later. `start`: the time in ms from which intervals count; those that have passed are left out (KIP-1146).
   */
  def schedule(node: Node, intervalMs: Long, streamTime: Boolean, start: Option[Long] = None)(
      callback: Long => Unit
  ): Schedule

  /** Sends a row out of the task, to a sink, a repartition or a wire (see [[Family]]). */
  def emit(row: Outgoing): Unit

  /** Whether the task runs in a simulation, without Kafka. */
  def simulation: Boolean

  /** Wall-clock time in ms. In a simulation it starts at 0 and is moved only by control rows. */
  def wallClock: Long

  /**
   * The time in ms at which the input record is processed. It is determined once per record, and again the same when a
   * micro-batch is repeated; in real time, a record that is processed again has a new one. In a simulation, the wall
   * clock.
   */
  def processingTime: Long

  /** The number of the row that the task processes, at least 1: grows from row to row. */
  def turn: Long

  /** Identifies the row among all that a node ever takes, and is the same if it is processed again. */
  def origin: Long

  /** Writes a line to the log of the deployment, attributed to the node. */
  def log(node: Node, message: String): Unit

  /**
   * Notes a line about the current record in a trace; a warning goes to the log of the deployment as well, with the
   * record's place.
   */
  def noted(node: Node, level: String, message: String): Unit

  /** A rule rejects the record: its source record becomes a dead letter (`letter`), or the task stops at it. */
  def rejected(node: Node, e: Exception, timestamp: Long, letter: Boolean): Unit
}

/**
 * A row that leaves the task. `dest` is the index of the physical node that receives it, see [[Envelope]]. Rows that go
 * through a topic (`hop`) come after everything that the record causes without one: Kafka Streams would read them only
 * when the record is done.
 */
final class Outgoing(
    val dest: Int,
    val task: Int,
    val key: Array[Byte],
    val value: Array[Byte],
    val timestamp: Long,
    val headers: Headers,
    val topic: String = null,
    val partition: java.lang.Integer = null,
    val partitionKey: Array[Byte] = null,
    val fault: String = null,
    val hop: Boolean = false
)

/**
 * Where a record goes next: a child and the number of its input. `unwrap`: the child receives a table's changes as
 * plain values.
 */
final class Link(val node: Node, val input: Int, val unwrap: Boolean = false)

/**
 * A node of one task. Subclasses implement `process` and forward the results. An exception thrown by `process` is the
 * node's own processing error: it is handled by the configured handler and not seen by the parents [EH2].
 */
abstract class Node(val spec: NodeSpec) {
  val id: String = spec.id

  /** The id of the node in the document. */
  val node: String = spec.node

  /** Children of all ports in the order of insertion [PL3]. */
  private[millrace] var links: Array[Link] = Array.empty
  private[millrace] var portLinks: Map[String, Array[Link]] = Map.empty

  /** Links to nodes that hold copies of this table's lookup results, or of tables derived from it. */
  private[millrace] var mirrors: Array[Link] = Array.empty

  /** Links to the copies of this table on later levels, for tests that fill its store. */
  private[millrace] var copies: Array[Link] = Array.empty

  /** Parents by input; null for a parent on another level. */
  private[millrace] var parents: Array[Node] = Array.empty

  /** The inputs with records of another part of the same node of the document, which are not counted; may be null. */
  private[millrace] var continued: Array[Boolean] = _
  private[millrace] var received = 0L
  private[millrace] var sent = 0L

  /** Records for which an inner join found nothing on the other side. */
  private[millrace] var misses = 0L

  /** Null if latency is not measured. */
  private[millrace] var latency: LatencySensor = _
  private[millrace] var failures: Failures = _

  /** Null if the task is not traced. */
  private[millrace] var trace: Trace = _
  protected[millrace] var context: TaskContext = _

  final def start(c: TaskContext, f: Failures): Unit = { context = c; failures = f; init(c) }
  def init(c: TaskContext): Unit = ()

  /** Processes a record. `input`: the number of the parent (0: left, 1: right of a join). */
  def process(r: Record, input: Int): Unit

  /** Stores a table's update for lookups that precede its processing: see [[NodeSpec.keeps]]. */
  def remember(r: Record, input: Int): Unit = ()

  /**
   * True for sinks: a failure there is an error of the node that sent the record, whose remaining children do not get
   * it [EH2].
   */
  protected def failsParent: Boolean = false

  /** Called when the task ends on this machine. */
  def close(): Unit = ()

  /** The stores with this node's results or, of a processor, all stores that it uses: see [[StoreDump]]. */
  def dumps: Seq[StoreDump] = Nil

  /** All stores that tests can read and fill, including copies of a global table that report nothing. */
  def accessible: Seq[StoreDump] = dumps

  /** The names of other stores in the state: buffers and subscriptions, whose contents are not shown. */
  def buffers: Seq[String] = Nil

  protected final def forward(r: Record): Unit = deliver(links, r)
  protected final def forward(r: Record, port: String): Unit = deliver(portLinks.getOrElse(port, Node.nowhere), r)

  /** Notifies the mirrors that lookups under the record's key have a new result. */
  private[millrace] final def mirror(r: Record): Unit = mirrors.foreach(l => l.node.process(r, l.input))
  protected final def dropped(reason: String): Unit = context.dropped(this, reason)

  /** Notes, for a trace, why the current record goes no further, which is neither a failure nor a drop. */
  protected final def ended(reason: String): Unit = { val t = trace; if (t != null) t.ended(this, reason) }

  /** The reason why an inner join sends nothing for a record: see [[NodeReason]]. */
  private[millrace] def missReason: String = NodeReason.noMatch

  /** Counts a record for which an inner join found nothing on the other side. Kafka Streams does not count them. */
  protected final def missed(reason: String = missReason): Unit = { misses += 1; ended(reason) }

  /**
   * Drops a record as late, because its window, from `start` to `end`, is closed: the clock minus the time allowed for
   * late records is already at `closed`. All in ms.
   */
  protected final def late(start: Long, end: Long, closed: Long): Unit =
    context.dropped(this, "late", "window_start" -> start, "window_end" -> end, "closed_until" -> closed)

  private def deliver(to: Array[Link], r: Record): Unit = {
    sent += 1
    var i = 0
    while (i < to.length) {
      val l = to(i)
      l.node.receive(if (l.unwrap) r.withValue(r.change.newValue) else r, l.input)
      i += 1
    }
  }

  private[millrace] final def receive(r: Record, input: Int): Unit = {
    if (continued == null || !continued(input)) received += 1
    if (latency != null) latency.note(r.timestamp)
    val traced = trace
    if (traced != null) traced.entered(this, input, r)
    // With two calls of `process`, one for traced nodes, the JVM would inline fewer of the nodes that follow.
    try process(r, input)
    catch {
      case s: Stop => throw s
      case f: ChildFailure => failures.failed(f.node, f.failure, r.timestamp)
      case e: Exception if failsParent => throw new ChildFailure(this, e)
      case e: Exception => failures.failed(this, e, r.timestamp)
      case e: StackOverflowError =>
        failures.failed(this, new RuntimeException("the expression or the chain of steps is too deep", e), r.timestamp)
    } finally if (traced != null) traced.left()
  }
}

/** Why a record goes no further although it is not dropped. */
private[millrace] object NodeReason {

  /** A table has no row, or no row refers to it. */
  val noMatch = "no_match"

  /** The same for a record that has waited for its table. */
  val noMatchAfterWaiting = "no_match_after_waiting"

  /** No partner in a join of streams, where one may still come. */
  val noMatchYet = "no_match_yet"
}

object Node { private val nowhere = Array.empty[Link] }

/** A table whose current values can be looked up. Joins and stateless table operators read through it. */
trait TableNode extends Node {

  /** The current value of a key, or null. A table without a store of its own asks its parent. */
  def lookup(key: Any): Entry

  /** The value as of a time. Differs from `lookup(key)` only for versioned tables. */
  def lookup(key: Any, asOf: Long): Entry = lookup(key)
}

/**
 * A store's contents for queries and tests. `keyType` and `valueType`: as expressions see them; `state`: the name of
 * its rows in the state; `named`: whether the document has a node for it; without one, only its size is shown. A row's
 * `timestamp` is null if the store has no timestamps. `access` reads and writes the store.
 */
final class StoreDump(
    val name: String,
    val state: String,
    val node: String,
    val named: Boolean,
    val keyType: DataType,
    val valueType: DataType,
    val rows: () => Iterator[DumpRow],
    private[millrace] val access: StoreAccess
)
final class DumpRow(val key: Any, val value: Any, val timestamp: java.lang.Long)

/** Ends the task's micro-batch: thrown when a handler is `fail`. */
final class Stop(val fault: Fault, val letters: Seq[Outgoing] = Nil)
    extends RuntimeException(fault.message, null, false, false)

/** A failure of a sink, on its way to the node that sent the record. */
private[millrace] final class ChildFailure(val node: Node, val failure: Exception)
    extends RuntimeException(failure.getMessage, failure, false, false)

/** Handles a failed record; `timestamp` is the record's at the node, in ms. */
trait Failures { def failed(node: Node, e: Exception, timestamp: Long): Unit }

/** The reason for a failure, for messages in any language: a code, the English sentence, and the facts in it. */
final class Why private (val code: String, val message: String, val facts: Seq[(String, String)]) extends Serializable {
  def write(o: ObjectNode): ObjectNode = {
    o.put("code", code).put("message", message)
    val named = o.putObject("facts")
    facts.foreach { case (name, fact) => named.put(name, fact) }
    o
  }
  def json: String = Json.mapper.writeValueAsString(write(Json.mapper.createObjectNode()))
}
object Why {
  def apply(code: String, message: String, facts: (String, Any)*): Why =
    new Why(code, message, facts.map { case (name, fact) => name -> String.valueOf(fact) })
  def parse(j: JsonNode): Why =
    if (j == null || j.isNull) null
    else {
      val facts = j.path("facts").properties.asScala.map(e => e.getKey -> e.getValue.asText)
      apply(j.path("code").asText, j.path("message").asText, facts.toSeq: _*)
    }
}

/** An exception whose message was written by this project. */
trait Explained { def why: Why }

/** A value that does not fit the type or format that it is written as. */
final class Misfit(override val why: Why) extends IllegalArgumentException(why.message) with Explained

/**
 * A failure and the parameter that caused it, or null. Thrown by [[Expr]] and by nodes that can name the parameter.
 * `why`: null for exceptions that are not of this project.
 */
final class ParameterFailure(val parameter: String, val cause: Throwable, val why: Why = null)
    extends RuntimeException(cause.getMessage, cause, false, false)

/**
 * An invalid graph or expression, with its node and parameter. `why.code` is one of a few words, such as `expression`
 * or `type`; `cause`: the failure behind it, or null.
 */
final class Refused(val node: String, val parameter: String, val why: Why, val cause: Why = null)
    extends RuntimeException(Refused.mark + {
      val o = why.write(Json.mapper.createObjectNode().put("node", node).put("parameter", parameter))
      if (cause != null) cause.write(o.putObject("cause"))
      Json.mapper.writeValueAsString(o)
    })

/** Marks the JSON object in the message, for `refusal_of` in errors.py. */
private object Refused { val mark = "MILLRACE-REFUSED " }
