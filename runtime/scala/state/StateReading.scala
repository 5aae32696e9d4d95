package org.apache.spark.sql.millrace

import java.nio.charset.StandardCharsets.UTF_8
import java.util.{Arrays, Base64}

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._

/**
 * Reads a page of a store from a checkpoint (py4j). The folder is only read.
 *
 * The request is `{"path": URI of the query's folder, "operator": number of the stateful operator in it, "batch": the
 * last committed one, "sub": sub-topology, "changes": for each change of the deployment, the stores that begin empty,
 * "store": see [[StoreLayout]], "query": see [[StateQuery]]}`.
 *
 * Returns `{"rows": [{"key", "value", "timestamp", "task", and by kind "window": {"start", "end"} or "valid_from"}],
 * "next": text or null, "tasks": [{"task", "stream_time"}]}`. Keys and values are JSON as text, which preserves all
 * digits of numbers. Throws Refused with the code `key_invalid` or `query_invalid`.
 *
 * Rows are ordered by the bytes of their keys, as in a store of Kafka Streams, then by time, then by task.
 */
object StateReading {
  def read(session: SparkSession, requestJson: String): String = {
    val spark = Internals.classicSession(session)
    val j = Json.mapper.readTree(requestJson)
    val layout = StoreLayout.parse(j.get("store"))
    val query = StateQuery.parse(j.get("query"), layout)
    val location = j.get("path").asText
    OpenStates.read(spark, location, j.get("operator").asLong, j.get("batch").asLong)(page(j, layout, query, _))
  }

  /**
   * The same from the states of running tasks, beside them; null if these do not have the batch, or if it would take
   * them too long. The request also has `"ids"`: Spark's ids of the tasks' states, by task.
   */
  def live(requestJson: String): String = {
    val j = Json.mapper.readTree(requestJson)
    val layout = StoreLayout.parse(j.get("store"))
    val query = StateQuery.parse(j.get("query"), layout)
    val ids = j.get("ids").elements.asScala.map(_.asText).toIndexedSeq
    // All rows are read to find the newest ones.
    if (query.newest) null
    else
      LiveStates
        .read(j.get("path").asText, j.get("operator").asLong, j.get("batch").asLong, ids)(page(j, layout, query, _))
        .orNull
  }

  private def page(j: JsonNode, layout: StoreLayout, query: StateQuery, states: Map[Int, StateHandle]): String = {
    val gone = j.path("changes").elements.asScala.map(_.elements.asScala.map(_.asText).toSet).toIndexedSeq
    val runs = states.map { case (task, state) => task -> state.runs.groupMap(_._1)(_._2) }
    val tasks = states.map { case (task, state) => task -> Noted.read(state, runs(task)) }.filter { case (task, n) =>
      (!layout.everywhere || task == 0) && !StateChanges.drops(gone.drop(n.change.toInt).flatten.toSet, layout.rows)
    }
    val clocks = tasks.map { case (task, n) => task -> n.clocks.getOrElse("store:" + layout.rows, -1L) }
    val page = new Page(layout, query, clocks)
    val found = tasks.keys.toArray.flatMap(t => page.of(t, states(t), runs(t).getOrElse(layout.rows, Nil)))
    val sorted = found.sorted(query.order)
    val more = sorted.length > query.limit
    val shown = sorted.take(query.limit)
    val out = Json.mapper.createObjectNode()
    val rows = out.putArray("rows")
    val types = tasks.map { case (task, n) => task -> n.types.get(layout.rows).map(DataType.fromJson) }
    page.visible(shown).foreach(r => types(r.task).foreach(t => page.show(r, t, rows.addObject())))
    if (more) out.put("next", StateQuery.cursor(shown.last)) else out.putNull("next")
    val times = out.putArray("tasks")
    val sub = j.get("sub").asInt
    tasks.toSeq.sortBy(_._1).foreach { case (task, n) =>
      n.clocks.get(s"$$stream/$sub").foreach { t =>
        times.addObject().put("task", s"${sub}_$task").put("stream_time", t)
      }
    }
    Json.mapper.writeValueAsString(out)
  }
}

/**
 * The notes of a task in its state: its clocks, the types of its stores' values, and the last change that was applied
 * to it.
 */
private final case class Noted(clocks: Map[String, Long], types: Map[String, String], change: Long)
private object Noted {
  def read(state: StateHandle, runs: Map[String, Seq[Int]]): Noted = {
    def rows(store: String) = runs.getOrElse(store, Nil).flatMap(state.all(store, _))
    Noted(
      rows("$clock").map(r => new String(r.key, UTF_8) -> r.timestamp).toMap,
      rows("$types").map(r => new String(r.key, UTF_8) -> new String(r.value, UTF_8)).toMap,
      rows("$change").headOption.fold(0L)(_.timestamp)
    )
  }
}

/**
 * A row's place in its store: `time` is the start of a window, the end of a session or, negated, the time of a version;
 * `second` is a session's start.
 */
private[millrace] final class StateRow(
    val inner: Array[Byte],
    val time: Long,
    val second: Long,
    val sequence: Int,
    val task: Int,
    val value: Array[Byte],
    val timestamp: Long
)

/**
 * How the rows of a store are laid out.
 *
 *   - `rows`: their name in the state
 *   - `kind`: `table`, `versioned`, `time_first` (windows by start and key), `key_first` (by key and start) or
 *     `session`
 *   - `key`: the type of the key without its window, as Spark's JSON
 *   - `window`: of a table with windowed keys: `session`, or any other text
 *   - `size`: of windows in ms; null if they have no end
 *   - `windows`: the windows as in the document, if these know their ends; then `size` is ignored
 *   - `duplicates`: a key may have several values at one time
 *   - `retention`: in ms, or null; rows that are further behind the store's clock than this, plus one for `slack`, are
 *     not shown. Of versions: the history
 *   - `timed`: rows have timestamps
 *   - `everywhere`: each task has all rows
 */
private final case class StoreLayout(
    rows: String,
    kind: String,
    key: DataType,
    window: Option[String],
    size: java.lang.Long,
    duplicates: Boolean,
    retention: java.lang.Long,
    slack: Long,
    timed: Boolean,
    everywhere: Boolean,
    windows: Option[WindowsOf]
) {
  def windowed: Boolean = timeFirst || kind == "key_first" || session || window.nonEmpty
  def timeFirst: Boolean = kind == "time_first"
  def session: Boolean = kind == "session" || window.contains("session")
  def versioned: Boolean = kind == "versioned"

  /** The number of bytes in the key of a row besides the store's key. */
  val tail: Int = if (session) 16 else if (duplicates) 12 else if (versioned || windowed) 8 else 0

  def place(task: Int, k: Array[Byte], value: Array[Byte], timestamp: Long): StateRow = {
    val n = k.length - tail
    if (timeFirst)
      new StateRow(Arrays.copyOfRange(k, 8, k.length), Bytes.getLong(k, 0), 0L, 0, task, value, timestamp)
    else if (session)
      new StateRow(Arrays.copyOf(k, n), Bytes.getLong(k, n), Bytes.getLong(k, n + 8), 0, task, value, timestamp)
    else if (versioned)
      new StateRow(Arrays.copyOf(k, n), Bytes.getLong(k, n) - Long.MaxValue, 0L, 0, task, value, timestamp)
    else if (windowed)
      new StateRow(
        Arrays.copyOf(k, n),
        Bytes.getLong(k, n),
        0L,
        if (duplicates) Bytes.getInt(k, n + 8) else 0,
        task,
        value,
        timestamp
      )
    else new StateRow(k, 0L, 0L, 0, task, value, timestamp)
  }

  /** The time by which `newest` sorts. A time range selects by `start` instead. */
  def newest(r: StateRow): Long =
    if (versioned) -r.time else if (session) r.time else if (timed) r.timestamp else r.time
  def start(r: StateRow): Long = if (versioned) -r.time else if (session) r.second else r.time

  /** Whether retention hides a row. */
  def expired(r: StateRow, clock: Long): Boolean = !versioned && retention != null && r.time < clock - retention + slack
}
private object StoreLayout {
  def parse(j: JsonNode): StoreLayout = {
    def text(p: String) = Option(j.get(p)).filterNot(_.isNull).map(_.asText)
    def long(p: String): java.lang.Long = text(p).map(t => Long.box(t.toLong)).orNull
    StoreLayout(
      text("rows").get,
      text("kind").get,
      DataType.fromJson(j.get("key").toString),
      text("window"),
      long("size"),
      j.path("duplicates").asBoolean,
      long("retention"),
      j.path("slack").asLong(1L),
      j.path("timed").asBoolean(true),
      j.path("everywhere").asBoolean,
      Option(WindowsOf.of(j.path("windows")))
    )
  }
}

/**
 * Which rows to read, and how many. JSON; everything except `limit` is optional.
 *
 *   - `key`, `from`, `to`: keys as text, inclusive; `prefix`: of keys that are text
 *   - `from_time`, `to_time`: starts of windows or versions in ms, inclusive
 *   - `as_of`: in ms, for versions; `versions`: each version is a row
 *   - `newest`: latest time first
 *   - `after`: the `next` of the previous page
 */
private final case class StateQuery(
    lower: Array[Byte],
    upper: Array[Byte],
    fromTime: Long,
    toTime: Long,
    asOf: java.lang.Long,
    versions: Boolean,
    newest: Boolean,
    order: Ordering[StateRow],
    after: Option[StateRow],
    limit: Int,
    length: Option[Int]
) {
  def from: Array[Byte] = if (lower == null) Bytes.first else lower

  /** Whether a row is within the bounds. `upper` is exclusive; `length` is the key's, if there is only one. */
  def takes(layout: StoreLayout, r: StateRow): Boolean =
    (lower == null || Arrays
      .compareUnsigned(r.inner, lower) >= 0) && (upper == null || Arrays.compareUnsigned(r.inner, upper) < 0) && {
      val at = layout.start(r)
      at >= fromTime && at <= toTime
    }
  def follows(r: StateRow): Boolean = after.forall(order.gt(r, _))
}
private object StateQuery {
  private def bad(code: String, message: String): Nothing = throw new Refused("", "", Why(code, message))

  def parse(j: JsonNode, layout: StoreLayout): StateQuery = {
    def text(p: String) = Option(j.get(p)).filterNot(_.isNull).map(_.asText)
    val codec = Codec.of(layout.key)
    def key(p: String): Option[Array[Byte]] = text(p).map(t =>
      try codec.encode(valueOf(t, layout.key))
      catch {
        case e: BadBytes => bad("key_invalid", s"keys of this store are of type ${layout.key.sql}: ${e.getMessage}")
      }
    )
    if (text("prefix").nonEmpty && layout.key != StringType)
      bad("query_invalid", s"a prefix requires keys of type STRING, but those of this store are ${layout.key.sql}")
    if (text("as_of").nonEmpty && !layout.versioned)
      bad("query_invalid", "only versioned stores have values as of an earlier time")
    if ((text("from_time").nonEmpty || text("to_time").nonEmpty) && !layout.windowed && !layout.versioned)
      bad("query_invalid", "rows of this store have no window and cannot be selected by time")
    val newest = j.path("newest").asBoolean
    if (newest && !layout.timed && !layout.windowed)
      bad("query_invalid", "rows of this store have no time to sort them by")
    val exact = key("key")
    val prefix = text("prefix").map(_.getBytes(UTF_8))
    val lowers = (exact ++ prefix ++ key("from")).toSeq
    val uppers =
      (exact.map(Bytes.next) ++ prefix.flatMap(p => Option(Bytes.after(p))) ++ key("to").map(Bytes.next)).toSeq
    val bytes: Ordering[Array[Byte]] = (a: Array[Byte], b: Array[Byte]) => Arrays.compareUnsigned(a, b)
    val order = if (newest) new NewestFirst(layout) else new ByKey
    StateQuery(
      lowers.maxOption(bytes).orNull,
      uppers.minOption(bytes).orNull,
      text("from_time").fold(Long.MinValue)(_.toLong),
      text("to_time").fold(Long.MaxValue)(_.toLong),
      text("as_of").map(t => Long.box(t.toLong)).orNull,
      j.path("versions").asBoolean || newest,
      newest,
      order,
      text("after").map(placeOf),
      j.get("limit").asInt,
      exact.map(_.length)
    )
  }

  /** Parses a key: text as it is, other types as JSON, where values that are text in JSON need no quotes. */
  private def valueOf(text: String, t: DataType): Any =
    if (t == StringType) org.apache.spark.unsafe.types.UTF8String.fromString(text)
    else
      try Json.parse(text.getBytes(UTF_8), t)
      catch {
        case e: BadBytes =>
          try Json.parse(Json.mapper.writeValueAsBytes(text), t)
          catch { case _: BadBytes => throw e }
      }

  def cursor(r: StateRow): String = {
    val head = java.nio.ByteBuffer
      .allocate(32)
      .putLong(r.time)
      .putLong(r.second)
      .putInt(r.sequence)
      .putInt(r.task)
      .putLong(r.timestamp)
      .array
    Base64.getUrlEncoder.withoutPadding.encodeToString(head ++ r.inner)
  }
  private def placeOf(text: String): StateRow = {
    val raw =
      try Base64.getUrlDecoder.decode(text)
      catch { case _: IllegalArgumentException => Array.emptyByteArray }
    if (raw.length < 32) bad("query_invalid", "“after” is not a position in a store; use `next` of a response")
    val b = java.nio.ByteBuffer.wrap(raw)
    val (time, second, sequence, task, timestamp) = (b.getLong, b.getLong, b.getInt, b.getInt, b.getLong)
    new StateRow(Arrays.copyOfRange(raw, 32, raw.length), time, second, sequence, task, null, timestamp)
  }
}

private final class ByKey extends Ordering[StateRow] {
  override def compare(a: StateRow, b: StateRow): Int = {
    var c = Arrays.compareUnsigned(a.inner, b.inner)
    if (c == 0) c = java.lang.Long.compare(a.time, b.time)
    if (c == 0) c = java.lang.Long.compare(a.second, b.second)
    if (c == 0) c = Integer.compare(a.sequence, b.sequence)
    if (c == 0) c = Integer.compare(a.task, b.task)
    c
  }
}
private final class NewestFirst(layout: StoreLayout) extends Ordering[StateRow] {
  private val byKey = new ByKey
  override def compare(a: StateRow, b: StateRow): Int = {
    val c = java.lang.Long.compare(layout.newest(b), layout.newest(a))
    if (c == 0) byKey.compare(a, b) else c
  }
}

private object Page {

  /** The number of rows per read: the initial one, and the maximum. */
  private val fewest = 16
  private val most = 1024
}

/**
 * The first rows of each task: enough for a page and for finding out whether another one follows. Memory is bounded by
 * the page.
 */
private final class Page(layout: StoreLayout, query: StateQuery, clocks: Map[Int, Long]) {

  /** Rows of a task for the page. `lengths`: the lengths that keys of the store have in the state. */
  def of(task: Int, state: StateHandle, lengths: Seq[Int]): Iterator[StateRow] = {
    val kept = new java.util.TreeSet[StateRow](query.order)

    /** Of a versioned store: the version in the page, by key. */
    val byKey = new java.util.HashMap[Bytes, StateRow]()
    lengths.filter(n => query.length.forall(_ == n - layout.tail)).foreach { n =>
      val rows = if (layout.timeFirst) inTime(task, state, n) else inOrder(task, state, n)
      // In the order of keys, rows behind a full page cannot be part of it.
      def ended(at: StateRow) = kept.size > query.limit && Bytes.compare(at.inner, kept.last.inner) > 0
      rows.takeWhile(at => layout.timeFirst || query.newest || !ended(at)).foreach { at =>
        if (query.takes(layout, at) && !layout.expired(at, clocks(task)) && fits(kept, at)) {
          if (latestOnly) chosen(kept, byKey, at) else kept.add(at)
          if (kept.size > query.limit + 1) { val out = kept.pollLast(); byKey.remove(new Bytes(out.inner)) }
        }
      }
    }
    kept.asScala.iterator
  }

  /** Rows with keys of one length, in their order: at least those that the query may select. */
  private def inOrder(task: Int, state: StateHandle, length: Int): Iterator[StateRow] = {
    val least = if (query.newest) null else query.after.fold(Bytes.first)(_.inner)
    val from = if (least == null || Bytes.compare(least, query.from) < 0) query.from else least
    val own = length - layout.tail
    // A bound that is longer than the keys may sort before rows of the key with which it begins.
    val to =
      if (query.upper == null || query.upper.length <= own) query.upper
      else Bytes.after(Arrays.copyOf(query.upper, own))
    rows(task, state, length, from, to)(_ => null)
  }

  /** The same for rows that are ordered by time: at each time, keys that are not in the range are skipped. */
  private def inTime(task: Int, state: StateHandle, length: Int): Iterator[StateRow] = {
    def start(time: Long) = Bytes.concat(Array.emptyByteArray, time)
    val from = start(math.max(query.fromTime, 0L)) ++ query.from
    val to = if (query.toTime == Long.MaxValue) null else Bytes.after(start(query.toTime))
    rows(task, state, length, from, to) { at =>
      if (Bytes.compare(at.inner, query.from) < 0) start(at.time) ++ query.from
      else if (query.upper != null && Bytes.compare(at.inner, query.upper) >= 0) start(at.time + 1)
      else null
    }
  }

  /** Reads rows in pieces. `next`: for a row to skip, the key to continue with, else null. `to` null: to the end. */
  private def rows(task: Int, state: StateHandle, length: Int, from: Array[Byte], to: Array[Byte])(
      next: StateRow => Array[Byte]
  ): Iterator[StateRow] = {
    var size = Page.fewest
    Iterator
      .unfold(from) { at =>
        Option(at).map { _ =>
          val piece = state.read(layout.rows, length, at, if (to == null) Bytes.end else to, size)
          var go: Array[Byte] = null
          val found = piece.flatMap { r =>
            if (go != null && Bytes.compare(r.key, go) < 0) None
            else {
              val row = layout.place(task, r.key, r.value, r.timestamp); go = next(row); Option.when(go == null)(row)
            }
          }
          val rest =
            if (piece.size < size) null else Bytes.max(Bytes.next(piece.last.key), if (go == null) Bytes.first else go)
          size = if (go == null) math.min(size * 4, Page.most) else Page.fewest
          (found, rest)
        }
      }
      .flatten
  }
  private def latestOnly: Boolean = layout.versioned && !query.versions
  private def fits(kept: java.util.TreeSet[StateRow], at: StateRow): Boolean =
    if (latestOnly)
      query.after.forall(a =>
        Arrays.compareUnsigned(at.inner, a.inner) > 0 || (Arrays.equals(at.inner, a.inner) && at.task > a.task)
      )
    else query.follows(at) && (kept.size <= query.limit || query.order.lt(at, kept.last))

  /**
   * Keeps one version of each key: the newest at or before the requested time or, for a time before the history, the
   * one that [[VersionedTable.get]] would choose.
   */
  private def chosen(
      kept: java.util.TreeSet[StateRow],
      byKey: java.util.HashMap[Bytes, StateRow],
      at: StateRow
  ): Unit = {
    val inHistory = query.asOf == null || query.asOf >= clocks(at.task) - layout.retention
    if (!inHistory || query.asOf == null || -at.time <= query.asOf) {
      val k = new Bytes(at.inner)
      val before = byKey.get(k)
      if (before == null || at.time < before.time) {
        if (before != null) kept.remove(before)
        kept.add(at)
        byKey.put(k, at)
      }
    }
  }

  /** Removes answers for times before the history, and versions that were replaced before it begins. */
  def visible(rows: Array[StateRow]): Array[StateRow] =
    if (!layout.versioned) rows
    else if (latestOnly) rows.filter(r => query.asOf == null || -r.time <= query.asOf)
    else {
      val before = query.after.orNull +: rows.dropRight(1)
      rows.zip(before).collect {
        case (r, newer)
            if newer == null || !Arrays.equals(newer.inner, r.inner) || newer.task != r.task || -newer.time > clocks(
              r.task
            ) - layout.retention =>
          r
      }
    }

  private lazy val codec = Codec.of(layout.key)
  def show(r: StateRow, packed: DataType, o: => ObjectNode): Unit = {
    val row = new Packer(packed).unpack(r.value)
    val (value, t) = packed match {
      case s: StructType if layout.versioned =>
        val v = row.asInstanceOf[InternalRow]
        (if (v.isNullAt(0)) null else v.get(0, s.head.dataType), s.head.dataType)
      case other => (row, other)
    }
    if (value != null || query.versions) {
      val n = o
      def text(v: Any, t: DataType) = new String(Json.bytes(v, t), UTF_8)
      n.put("key", text(codec.decode(r.inner), layout.key))
      if (layout.windowed) {
        val w = n.putObject("window").put("start", layout.start(r))
        if (layout.session) w.put("end", r.time)
        else if (layout.windows.isDefined) w.put("end", layout.windows.get.end(r.time))
        else if (layout.size == null) w.putNull("end")
        else w.put("end", r.time + layout.size)
      }
      if (value == null) n.putNull("value") else n.put("value", text(value, t))
      if (layout.versioned) n.put("valid_from", -r.time)
      if (layout.timed) n.put("timestamp", if (layout.versioned) -r.time else r.timestamp) else n.putNull("timestamp")
      n.put("task", r.task)
    }
  }
}
