package org.apache.spark.sql.millrace

import java.nio.ByteBuffer
import java.nio.charset.{CharacterCodingException, StandardCharsets}
import java.util.Base64
import java.util.concurrent.ConcurrentHashMap

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode

import org.apache.spark.sql.types.DataType

/**
 * Follows the records of one task from node to node. A task without a trace only pays for one null check per record and
 * write. Calls come from the task's thread and are properly nested: what a record causes is reported between its
 * `entered` and its `left`.
 */
private[millrace] trait Trace {

  /** The trace that this node calls. */
  def of(node: Node): Trace = this

  /** A record enters an input of a node; a source has no parent. */
  def entered(node: Node, input: Int, r: Record): Unit = ()

  /** A punctuation starts; `now` is the time of its clock in ms. */
  def punctuated(node: Node, streamTime: Boolean, now: Long): Unit = ()

  /** The record or punctuation that began last is done. */
  def left(): Unit = ()

  /**
   * A record ends at the document's node: it is counted as dropped, or becomes a dead letter. `details`: times in ms
   * that explain the reason.
   */
  def dropped(node: String, reason: String, deadLetter: Boolean, details: Seq[(String, Long)]): Unit = ()

  /** The current record goes no further than this node, for a reason that is no failure. */
  def ended(node: Node, reason: String): Unit = ()

  /** A store's row was written, or deleted if the entry is null. */
  def stored(view: StoreView, key: Array[Byte], entry: Entry): Unit = ()

  /** Whether `stored` may show another one of the rows with which the task began. */
  def restoring(view: StoreView): Boolean = false

  /** A node printed a line. */
  def printed(node: Node, level: String, message: String): Unit = ()

  /**
   * The breakpoints in the code of a node or of a setting (`settings.processing_function`), and in the modules that it
   * may call: `{"lines", "modules": {name: lines}, "most": how often it may stop}`; null if there are none.
   */
  def breakpoints(place: String): JsonNode = null

  /** Code that works for a node stopped at a breakpoint: `{"line", "code", "function", "locals", "more_locals"}`. */
  def stopped(node: String, at: JsonNode): Unit = ()
}

private[millrace] object Trace {
  private val runs = new ConcurrentHashMap[String, StreamTask => Trace]()

  /** Traces a run: each of its tasks asks for its trace when it starts and when it starts a micro-batch. */
  def follow(run: String, make: StreamTask => Trace): Unit = runs.put(run, make)
  def forget(run: String): Unit = runs.remove(run)

  /** The trace of a task of the run; null if it has none. */
  def of(run: String, task: StreamTask): Trace = { val make = runs.get(run); if (make == null) null else make(task) }
}

/** How rows expire: those whose time, read from the key's bytes, is before `keptFrom` are no longer in the store. */
private[millrace] final class Expiry(val time: Array[Byte] => Long, val keptFrom: () => Long)

/**
 * How the rows of a store are shown: the type of the keys that `decode` returns for a row's bytes, and the value of an
 * entry. `expiry`: null if rows do not expire.
 */
private[millrace] final class StoreView(
    val name: String,
    val node: String,
    val keyType: DataType,
    val valueType: DataType,
    val decode: Array[Byte] => Any,
    val value: Entry => Any = _.value,
    val timed: Boolean = true,
    val expiry: Expiry = null
)

/**
 * Every step of a simulation's tasks as JSON, up to a number of steps and bytes: `{"seq", "parent": seq of what caused
 * it or null, "merge": place of the input record, "task", "stream_time": of the task in ms or null, "event", "node": of
 * the document, "at": the physical node}` and, by event:
 *
 *   - `record`: `"from": [physical node, port] or null, "input", "record": {"key", "value", "timestamp", "headers":
 *     {name: text or null}}`; an update of a table also has "old"
 *   - `punctuate`: `"clock": "stream_time" or "wall_clock", "now"`
 *   - `drop`: `"reason", "dead_letter"` and the details
 *   - `end`: `"reason"` why the record of the parent goes no further, without a failure
 *   - `store`: `"store", "row": {"key", "value", "timestamp"}`; a null value is a deletion, unless "tombstone" is true:
 *     then the version has no value. A row that expires with a write is deleted after it. Rows that the run starts with
 *     come first
 *   - `log`: `"level", "message"`
 *   - `stop`: `"line", "code": the setting if it is not the node's, "function", "locals": [{"name", "value"}],
 *     "more_locals"`
 *
 * `breakpoints`: `{place: [line]}`, where code stops `mostStops` times in all. A place is a node, a handler
 * (`settings.processing_function`) or a module (`settings.modules.prices`).
 */
private[millrace] final class FullTrace(mostSteps: Int, mostBytes: Long, breakpoints: JsonNode, mostStops: Int) {
  private val lines = new java.util.ArrayList[String]()
  private var bytes = 0L
  private var seq = 0
  private var cut = false
  private var stops = 0
  private var prints = 0

  /** The breakpoints in modules, by their names. */
  private val inModules = {
    val o = Json.mapper.createObjectNode()
    val modules = "settings.modules."
    breakpoints.properties.forEach(e =>
      if (e.getKey.startsWith(modules)) o.replace(e.getKey.stripPrefix(modules), e.getValue)
    )
    o
  }

  /** By store: the number of rows with which the run began. */
  private val restored = new java.util.HashMap[String, Integer]()
  private var restoredCut = false

  /** By task and store: the rows that may expire, in the order of their expiry. */
  private val expiring = new java.util.HashMap[(Int, String), java.util.TreeSet[ExpiringRow]]()

  /** Counts of records by physical parent, its port, physical node and input; a source has no parent. */
  private val counts = new java.util.LinkedHashMap[(String, String, String, Int), Array[Long]]()

  /**
   * `{"steps": [...], "truncated": bool, "stops_truncated": bool, "stores_truncated": whether stores had more rows at
   * the start than are shown, "counts": [[parent or null, port or null, node, input, records]]}`. All records are
   * counted, even if their steps are no longer kept.
   */
  def json: String = synchronized {
    s"""{"steps":[${String.join(
        ",",
        lines
      )}],"truncated":$cut,"stops_truncated":${stops > mostStops},"stores_truncated":$restoredCut,"counts":$counted}"""
  }

  /** The counts alone, as JSON. */
  def counted: String = synchronized {
    val all = Json.mapper.createArrayNode()
    counts.forEach { case ((parent, port, node, input), n) =>
      all.addArray().add(parent).add(port).add(node).add(input).add(n(0))
    }
    all.toString
  }

  def of(task: StreamTask): Trace = new Of(task)

  private final class Of(task: StreamTask) extends Trace {
    private val stack = new java.util.ArrayDeque[Integer]()

    override def entered(node: Node, input: Int, r: Record): Unit = {
      val from = node.spec.parents.lift(input)
      FullTrace.this.synchronized {
        counts.computeIfAbsent((from.map(_._1).orNull, from.map(_._2).orNull, node.id, input), _ => new Array[Long](1))(
          0
        ) += 1
      }
      stack.push(step("record", node.node)(record(_, node, input, from, r)))
    }

    private def record(o: ObjectNode, node: Node, input: Int, from: Option[(String, String)], r: Record): Unit = {
      place(o, node)
      from.fold[Unit](o.putNull("from")) { case (id, port) => o.putArray("from").add(id).add(port) }
      o.put("input", input)
      val port = node.spec.inputs.lift(input).getOrElse(node.spec.ports.head._2)
      content(o, port, r)
    }

    override def punctuated(node: Node, streamTime: Boolean, now: Long): Unit =
      stack.push(step("punctuate", node.node) { o =>
        place(o, node)
        o.put("clock", if (streamTime) "stream_time" else "wall_clock")
        o.put("now", now)
      })

    override def left(): Unit = stack.pop()

    override def dropped(node: String, reason: String, deadLetter: Boolean, details: Seq[(String, Long)]): Unit =
      step("drop", node) { o =>
        o.put("reason", reason)
        o.put("dead_letter", deadLetter)
        details.foreach { case (name, time) => o.put(name, time) }
      }

    override def ended(node: Node, reason: String): Unit = step("end", node.node)(_.put("reason", reason))

    override def stored(view: StoreView, key: Array[Byte], entry: Entry): Unit = {
      written(view, key, entry)
      if (view.expiry != null) FullTrace.this.synchronized {
        val rows = expiring.computeIfAbsent((task.index, view.name), _ => new java.util.TreeSet[ExpiringRow]())
        val row = new ExpiringRow(view.expiry.time(key), key)
        if (entry == null) rows.remove(row) else rows.add(row)
        val from = view.expiry.keptFrom()
        while (!rows.isEmpty && (cut || rows.first.time < from)) {
          val gone = rows.pollFirst()
          if (!cut) written(view, gone.key, null)
        }
      }
    }

    override def restoring(view: StoreView): Boolean = FullTrace.this.synchronized {
      val n = restored.merge(view.name, 1, (a, b) => a + b)
      if (n > FullTrace.mostRestored) restoredCut = true
      n <= FullTrace.mostRestored
    }

    override def printed(node: Node, level: String, message: String): Unit = FullTrace.this.synchronized {
      prints += 1
      if (prints <= FullTrace.mostPrints) step("log", node.node) { o =>
        o.put("level", level)
        o.put("message", FullTrace.brief(message))
      }
    }

    override def breakpoints(place: String): JsonNode = {
      val at = FullTrace.this.breakpoints.path(place)
      if (at.isEmpty && inModules.isEmpty) null
      else {
        // One stop more than is kept shows that there were more.
        val o = Json.mapper.createObjectNode().put("most", mostStops + 1)
        o.replace("lines", if (at.isEmpty) Json.mapper.createArrayNode() else at)
        o.replace("modules", inModules)
        o
      }
    }

    override def stopped(node: String, at: JsonNode): Unit = FullTrace.this.synchronized {
      stops += 1
      if (stops <= mostStops) step("stop", node)(o => at.properties.forEach(e => o.replace(e.getKey, e.getValue)))
    }

    private def written(view: StoreView, key: Array[Byte], entry: Entry): Unit = step("store", view.node) { o =>
      o.put("store", view.name)
      val row = o.putObject("row")
      row.replace("key", Json.node(view.decode(key), view.keyType))
      val value = if (entry == null) null else view.value(entry)
      row.replace("value", if (value == null) Json.mapper.nullNode else Json.node(value, view.valueType))
      if (entry != null && value == null) row.put("tombstone", true)
      if (entry == null || !view.timed) row.putNull("timestamp")
      else row.put("timestamp", math.max(entry.timestamp, -1L - entry.timestamp)) // negative: a mark of a version
    }

    private def place(o: ObjectNode, node: Node): Unit = {
      o.put("at", node.id)
      o.put("task", task.taskId(node.spec.sub))
      val time = task.streamTime(node.spec.sub).value
      if (time < 0) o.putNull("stream_time") else o.put("stream_time", time)
    }

    private def content(o: ObjectNode, port: Port, r: Record): Unit = {
      val shown = o.putObject("record")
      shown.replace("key", Json.node(r.key, port.key.seen))
      r.value match {
        case c: Change =>
          shown.replace("value", Json.node(c.newValue, port.value))
          shown.replace("old", Json.node(c.oldValue, port.value))
        case v => shown.replace("value", Json.node(v, port.value))
      }
      shown.put("timestamp", r.timestamp)
      val headers = shown.putObject("headers")
      r.headers.foreach(h => headers.put(h.key, FullTrace.text(h.value)))
    }

    private def step(event: String, node: String)(fill: ObjectNode => Unit): Int = FullTrace.this.synchronized {
      val number = seq
      seq += 1
      if (!cut) {
        val o = Json.mapper.createObjectNode()
        o.put("seq", number)
        val parent = stack.peek()
        if (parent == null) o.putNull("parent") else o.put("parent", parent)
        o.put("merge", task.merge)
        o.put("event", event)
        o.put("node", node)
        fill(o)
        val line = Json.mapper.writeValueAsString(o)
        if (lines.size >= mostSteps || bytes + line.length > mostBytes) cut = true
        else { lines.add(line); bytes += line.length }
      }
      number
    }
  }
}

/** A row of a store, by the time at which it expires. */
private final class ExpiringRow(val time: Long, val key: Array[Byte]) extends Comparable[ExpiringRow] {
  override def compareTo(o: ExpiringRow): Int = if (time != o.time) time.compare(o.time) else Bytes.compare(key, o.key)
}

private object FullTrace {

  /** The number of log lines that are kept as steps, and of characters of each. */
  private val mostPrints = 2000
  private val longestPrint = 1000

  /** The number of rows of each store that are shown before the first record. */
  private val mostRestored = 500
  private def brief(message: String): String =
    if (message.length <= longestPrint) message else s"${message.take(longestPrint)} ... (${message.length} characters)"

  /** A header as text, or as base64 if it is not UTF-8. */
  def text(b: Array[Byte]): String =
    if (b == null) null
    else
      try StandardCharsets.UTF_8.newDecoder.decode(ByteBuffer.wrap(b)).toString
      catch { case _: CharacterCodingException => Base64.getEncoder.encodeToString(b) }
}
