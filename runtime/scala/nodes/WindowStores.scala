package org.apache.spark.sql.millrace

import org.apache.spark.sql.types._

/** Properties of a store node that change what the operator's store shows. `retention` in ms, null for the default. */
final case class StoreSettings(
    name: String,
    named: Boolean,
    node: String,
    persistent: Boolean,
    retention: java.lang.Long,
    history: java.lang.Long,
    state: String
)

object StoreSettings {
  def of(s: StoreSpec): StoreSettings = StoreSettings(
    s.name,
    s.named,
    s.node,
    s.properties.getOrElse("persistent", "true").toBoolean,
    s.long("retention").map(Long.box).orNull,
    if (s.kind == "versioned") Long.box(s.long("history_retention").getOrElse(0L)) else null,
    s.state
  )

  /** Settings of a buffer without a node in the document. */
  def own(name: String, node: String, history: java.lang.Long = null): StoreSettings =
    StoreSettings(name, named = false, node, persistent = true, null, history, name)
}

/**
 * The common part of window and session stores: a clock of their own, which only their writes move, and the retention.
 *
 * Reads never see anything older than `clock - retention`, to the millisecond. Writes are refused, and counted as
 * dropped, by whole segments, as in a persistent store of Kafka Streams, whose segments are half a retention long, and
 * at least a minute.
 */
private[millrace] abstract class RetainedStore(
    c: TaskContext,
    owner: Node,
    settings: StoreSettings,
    retention: Long,
    timeOrdered: Boolean
) {
  protected val clock: Clock = c.clock("store:" + settings.state)
  private val interval = math.max(retention / 2, 60000L)

  /** The first sort criterion of entries of all keys: the segment in a persistent store, the time in one in memory. */
  protected final def part(time: Long): Long = if (settings.persistent) time / interval else time

  /** Stores of window_close are ordered by time and show one millisecond more. */
  private val slack = if (timeOrdered && settings.persistent) 0L else 1L
  private val swept: Clock = c.clock("swept:" + settings.state)

  /** The start of the earliest segment that a persistent store has not dropped. */
  protected final def liveFrom: Long = math.max(0L, clock.value - retention) / interval * interval

  /** The earliest time that reads can see. */
  final def visibleFrom: Long = clock.value - retention + slack

  /** The expiry of rows. `time` reads a row's time from the bytes of its key. */
  protected final def expiry(time: Array[Byte] => Long): Expiry = new Expiry(time, () => visibleFrom)

  /** Moves the clock to the time of a write. Returns false if the write is too late, and counts it as dropped. */
  protected final def admit(time: Long): Boolean = {
    clock.advance(time)
    val live =
      if (settings.persistent) time / interval >= (clock.value - retention) / interval
      else time > clock.value - retention
    if (!live) c.dropped(owner, "expired", "time" -> time, "kept_from" -> (clock.value - retention))
    live
  }

  /** Deletes expired entries from time to time: a sweep costs time in proportion to the store's size. */
  protected final def tidy(): Unit = {
    written += 1
    if (written >= RetainedStore.rest) {
      val (from, last) = (visibleFrom, math.max(swept.value, 0L))
      if (from - last > math.max(pace, 1L)) { written = 0; swept.set(from); sweep(last, from) }
    }
  }
  private var written = 0

  /** How far the store's time moves between two sweeps. */
  protected def pace: Long = retention / 2

  /** Deletes everything older than `before`; everything older than `done` is already deleted. */
  protected def sweep(done: Long, before: Long): Unit
}

private[millrace] object RetainedStore {

  /** The minimum number of writes between two sweeps. */
  private[millrace] val rest = 1000
  def bigEndian(v: Long): Array[Byte] = { val b = new Array[Byte](8); Bytes.putLong(b, 0, v); b }
}

/** One window of a key: start in ms, the aggregate and the highest timestamp in it. */
private[millrace] final class WindowEntry(val key: Array[Byte], val start: Long, val entry: Entry)

/** A store of windows, as processors and tests use it. */
private[millrace] trait Windows {

  /** The value of a window; null if there is none. */
  def fetch(key: Array[Byte], start: Long): Entry

  /** A null value deletes. */
  def put(key: Array[Byte], start: Long, value: Any, timestamp: Long): Unit

  /** The windows of a key that start within [from, to]. */
  def fetch(key: Array[Byte], from: Long, to: Long, ascending: Boolean): Iterator[WindowEntry]

  /** Windows of all keys that start within [from, to]: by segment, key and start, or by start and key. */
  def scan(from: Long, to: Long): Iterator[WindowEntry]
}

/** Windows of aggregates, ordered by start and key: a window is one point lookup, expiry and closing are ranges. */
private[millrace] class TimeFirstWindows(
    c: TaskContext,
    owner: Node,
    settings: StoreSettings,
    valueType: DataType,
    retention: Long,
    timeOrdered: Boolean,
    windows: WindowsOf
) extends RetainedStore(c, owner, settings, retention, timeOrdered)
    with Windows {
  private val store = c.store(settings.state, valueType, ordered = true)

  /** Sets how rows are shown. `window` makes a windowed key of the key's bytes and a start. */
  def show(key: DataType, window: (Array[Byte], Long) => Any): Unit =
    c.show(
      settings.state,
      new StoreView(
        settings.name,
        settings.node,
        key,
        valueType,
        k => window(java.util.Arrays.copyOfRange(k, 8, k.length), Bytes.getLong(k, 0)),
        expiry = expiry(Bytes.getLong(_, 0))
      )
    )

  private def at(key: Array[Byte], start: Long): Array[Byte] = {
    val k = new Array[Byte](8 + key.length)
    Bytes.putLong(k, 0, start)
    System.arraycopy(key, 0, k, 8, key.length)
    k
  }

  override def fetch(key: Array[Byte], start: Long): Entry =
    if (start < visibleFrom) null else store.get(at(key, start))

  /** Looks up each window that there may be, or goes through all rows if these are fewer. */
  override def fetch(key: Array[Byte], from: Long, to: Long, ascending: Boolean): Iterator[WindowEntry] = {
    val actual = math.max(math.max(from, visibleFrom), 0L)
    val last = math.min(to, clock.value)
    def rows: Iterator[WindowEntry] = fetchAll(actual, last).filter(w => java.util.Arrays.equals(w.key, key))
    def lookups: Iterator[WindowEntry] =
      Iterator.iterate(windows.startFrom(actual))(windows.next).takeWhile(_ <= last).flatMap { start =>
        Option(store.get(at(key, start))).map(new WindowEntry(key, start, _))
      }
    if (last < actual) Iterator.empty
    else {
      val found =
        (if (windows.step == Long.MaxValue || (last - actual) / windows.step > store.size) rows else lookups).toArray
      if (ascending) found.iterator else found.reverseIterator
    }
  }

  override def scan(from: Long, to: Long): Iterator[WindowEntry] =
    if (timeOrdered) fetchAll(from, to)
    else {
      val found = fetchAll(from, to).map(w => (part(w.start), Bytes.concat(w.key, w.start), w)).toArray
      java.util.Arrays.sort(
        found,
        (a: (Long, Array[Byte], WindowEntry), b: (Long, Array[Byte], WindowEntry)) =>
          if (a._1 == b._1) Bytes.compare(a._2, b._2) else java.lang.Long.compare(a._1, b._1)
      )
      found.iterator.map(_._3)
    }

  /** A null value deletes. */
  override def put(key: Array[Byte], start: Long, value: Any, timestamp: Long): Unit = if (admit(start)) {
    if (start >= visibleFrom) store.put(at(key, start), value, timestamp)
    tidy()
  }

  /** Windows that start within [from, to], by start and key. */
  def fetchAll(from: Long, to: Long): Iterator[WindowEntry] = {
    val actual = math.max(math.max(from, visibleFrom), 0L)
    if (to < actual) Iterator.empty
    else
      store
        .range(RetainedStore.bigEndian(actual), if (to == Long.MaxValue) null else RetainedStore.bigEndian(to + 1))
        .map { case (k, e) =>
          new WindowEntry(java.util.Arrays.copyOfRange(k, 8, k.length), Bytes.getLong(k, 0), e)
        }
  }
  def all: Iterator[WindowEntry] = fetchAll(0L, Long.MaxValue)

  override protected def sweep(done: Long, before: Long): Unit =
    store.sweep(RetainedStore.bigEndian(done), RetainedStore.bigEndian(before))(_ => true)
}

/**
 * Windows ordered by key and start, for operators that walk the windows of one key (sliding windows, joins of streams).
 * With `duplicates` a key may have several values at the same time, kept in the order of arrival. With `timeOrdered`
 * there is a second order, by start and key.
 */
private[millrace] class KeyFirstWindows(
    c: TaskContext,
    owner: Node,
    settings: StoreSettings,
    valueType: DataType,
    retention: Long,
    timeOrdered: Boolean,
    duplicates: Boolean
) extends RetainedStore(c, owner, settings, retention, timeOrdered)
    with Windows {
  private val store = c.store(settings.state, valueType, ordered = true)
  private val times = if (timeOrdered) c.index(settings.state + "$times", ordered = true) else null
  if (times != null && times.size == 0 && store.size > 0)
    store.all.foreach { case (k, _) =>
      times.put(timed(java.util.Arrays.copyOf(k, k.length - 8), Bytes.getLong(k, k.length - 8)), 0L, 0L)
    }

  /** Sets how rows are shown. `window` makes a windowed key of a key and a start; `value` is the part that is shown. */
  def show(
      key: DataType,
      shown: DataType,
      window: (Array[Byte], Long) => Any,
      value: Entry => Any = _.value,
      timed: Boolean = true
  ): Unit =
    c.show(
      settings.state,
      new StoreView(
        settings.name,
        settings.node,
        key,
        shown,
        k => window(java.util.Arrays.copyOf(k, k.length - tail), Bytes.getLong(k, k.length - tail)),
        value,
        timed,
        expiry(k => Bytes.getLong(k, k.length - tail))
      )
    )
  private val sequence = if (duplicates) c.clock("sequence:" + settings.state) else null
  private val tail = if (duplicates) 12 else 8

  private def at(key: Array[Byte], start: Long, seq: Int): Array[Byte] = {
    val k = java.util.Arrays.copyOf(key, key.length + tail)
    Bytes.putLong(k, key.length, start)
    if (duplicates) Bytes.putInt(k, key.length + 8, seq)
    k
  }
  private def timed(key: Array[Byte], start: Long): Array[Byte] = {
    val k = new Array[Byte](8 + key.length)
    Bytes.putLong(k, 0, start)
    System.arraycopy(key, 0, k, 8, key.length)
    k
  }

  /** The value of a window. Of duplicates, Kafka Streams finds the one that was put last; in memory, none. */
  override def fetch(key: Array[Byte], start: Long): Entry =
    if (start < visibleFrom || (duplicates && !settings.persistent)) null
    else store.get(at(key, start, if (duplicates) sequence.value.toInt else 0))

  /** A null value deletes. With `duplicates` it deletes nothing, but still moves the clock of a store in memory. */
  override def put(key: Array[Byte], start: Long, value: Any, timestamp: Long): Unit = if (
    duplicates && value == null
  ) {
    if (!settings.persistent) admit(start)
  } else {
    val seq = if (duplicates) { sequence.set((sequence.value + 1) & 0x7fffffffL); sequence.value.toInt }
    else 0
    if (admit(start)) {
      if (start >= visibleFrom) {
        val row = at(key, start, seq)
        if (expiring == null) store.put(row, value, timestamp)
        else {
          store.add(row, value, timestamp)
          if (start > unlisted) expiring.add(row, start)
        }
        if (times != null) if (value == null) times.delete(timed(key, start)) else times.put(timed(key, start), 0L, 0L)
      }
      tidy()
    }
  }

  override def fetch(key: Array[Byte], from: Long, to: Long, ascending: Boolean): Iterator[WindowEntry] = {
    val actual = math.max(math.max(from, visibleFrom), 0L)
    if (to < actual) Iterator.empty
    else
      store.rangeOf(key, tail, at(key, actual, 0), Bytes.next(at(key, to, Int.MaxValue)), ascending).map {
        case (k, e) =>
          new WindowEntry(key, Bytes.getLong(k, key.length), e)
      }
  }

  /** Windows of all keys that start within [from, to], by start and key; only for stores ordered by time. */
  def fetchAll(from: Long, to: Long): Iterator[WindowEntry] = {
    val actual = math.max(math.max(from, visibleFrom), 0L)
    if (to < actual) Iterator.empty
    else
      times
        .range(RetainedStore.bigEndian(actual), if (to == Long.MaxValue) null else RetainedStore.bigEndian(to + 1))
        .flatMap { case (k, _) =>
          val key = java.util.Arrays.copyOfRange(k, 8, k.length)
          val start = Bytes.getLong(k, 0)
          val e = store.get(at(key, start, 0))
          if (e == null) None else Some(new WindowEntry(key, start, e))
        }
  }

  /** Windows of all keys, by key and start. */
  def all: Iterator[WindowEntry] = {
    val from = visibleFrom
    store.all
      .map { case (k, e) =>
        new WindowEntry(java.util.Arrays.copyOf(k, k.length - tail), Bytes.getLong(k, k.length - tail), e)
      }
      .filter(_.start >= from)
  }

  override def scan(from: Long, to: Long): Iterator[WindowEntry] =
    if (timeOrdered) fetchAll(from, to)
    else all.filter(w => w.start >= from && w.start <= to).toArray.sortBy(w => part(w.start)).iterator

  /** Rows later than `unlisted`, to be deleted without a search; null if rows may be written more than once. */
  private val expiring = if (duplicates) new Expiring(math.max(1L, retention / 8)) else null

  /** The time up to which expired rows have to be searched for; -1 if there are no such rows. */
  private var unlisted = if (!duplicates) Long.MaxValue else if (store.size > 0) clock.value else -1L
  if (duplicates) store.whenEvicted { () => expiring.clear(); unlisted = clock.value }
  override protected def pace: Long = if (duplicates && unlisted < 0) retention / 8 else super.pace

  override protected def sweep(done: Long, before: Long): Unit = {
    if (expiring != null) expiring.take(before)(store.expire)
    if (unlisted >= 0) {
      store.sweep(null, null) { k =>
        val time = Bytes.getLong(k, k.length - tail)
        time < before && time <= unlisted
      }
      if (before > unlisted && expiring != null) unlisted = -1L
    }
    if (times != null) times.sweep(null, RetainedStore.bigEndian(before))(_ => true)
  }
}

/** Keys of rows by the time at which they expire, in intervals of this width in ms. */
private[millrace] final class Expiring(width: Long) {
  private val rows = new java.util.TreeMap[java.lang.Long, java.util.ArrayList[Array[Byte]]]()
  private var last = Long.MinValue
  private var lastRows: java.util.ArrayList[Array[Byte]] = _

  def add(key: Array[Byte], time: Long): Unit = {
    val interval = Math.floorDiv(time, width)
    if (lastRows == null || interval != last) {
      last = interval
      lastRows = rows.computeIfAbsent(interval, _ => new java.util.ArrayList())
    }
    lastRows.add(key)
  }

  /** Removes the intervals that end at `before` or earlier, and passes on their keys. */
  def take(before: Long)(expire: Array[Byte] => Unit): Unit =
    while (!rows.isEmpty && (rows.firstKey + 1) * width <= before) {
      rows.pollFirstEntry().getValue.forEach(key => expire(key))
      lastRows = null
    }
  def clear(): Unit = { rows.clear(); lastRows = null }
}

/** A session of a key, both ends in ms and inclusive. */
private[millrace] final class SessionEntry(val key: Array[Byte], val start: Long, val end: Long, val value: Any)

/** Sessions, ordered by key, end and start; with `timeOrdered` also by end, start and key. */
private[millrace] final class SessionTable(
    c: TaskContext,
    owner: Node,
    settings: StoreSettings,
    valueType: DataType,
    retention: Long,
    timeOrdered: Boolean
) extends RetainedStore(c, owner, settings, retention, timeOrdered = false) {
  private val store = c.store(settings.state, valueType, ordered = true)
  private val times = if (timeOrdered) c.index(settings.state + "$times", ordered = true) else null

  /** Sets how rows are shown. `session` makes a windowed key of the key's bytes, start and end. */
  def show(key: DataType, session: (Array[Byte], Long, Long) => Any): Unit = c.show(
    settings.state,
    new StoreView(
      settings.name,
      settings.node,
      key,
      valueType,
      k => {
        val n = k.length - 16
        session(java.util.Arrays.copyOf(k, n), Bytes.getLong(k, n + 8), Bytes.getLong(k, n))
      },
      timed = false,
      expiry = expiry(k => Bytes.getLong(k, k.length - 16))
    )
  )

  if (times != null && times.size == 0 && store.size > 0) store.all.foreach { case (k, _) =>
    val n = k.length - 16
    times.put(timed(java.util.Arrays.copyOf(k, n), Bytes.getLong(k, n + 8), Bytes.getLong(k, n)), 0L, 0L)
  }

  private def timed(key: Array[Byte], start: Long, end: Long): Array[Byte] = {
    val k = new Array[Byte](16 + key.length)
    Bytes.putLong(k, 0, end)
    Bytes.putLong(k, 8, start)
    System.arraycopy(key, 0, k, 16, key.length)
    k
  }

  /** Sessions of a key that end at `earliestEnd` or later and start at `latestStart` or earlier, by end. */
  def find(key: Array[Byte], earliestEnd: Long, latestStart: Long): Iterator[SessionEntry] = {
    val from = math.max(math.max(earliestEnd, visibleFrom), 0L)
    store
      .rangeOf(key, 16, Bytes.concat(key, from, 0L), Bytes.next(Bytes.concat(key, Long.MaxValue, Long.MaxValue)))
      .collect {
        case (k, e) if Bytes.getLong(k, key.length + 8) <= latestStart =>
          new SessionEntry(key, Bytes.getLong(k, key.length + 8), Bytes.getLong(k, key.length), e.value)
      }
  }

  def fetch(key: Array[Byte], start: Long, end: Long): Any =
    if (end < visibleFrom) null
    else { val e = store.get(Bytes.concat(key, end, start)); if (e == null) null else e.value }

  def put(key: Array[Byte], start: Long, end: Long, value: Any): Unit = if (admit(end)) {
    if (end >= visibleFrom || (times != null && settings.persistent)) {
      store.put(Bytes.concat(key, end, start), value, 0L)
      if (times != null)
        if (value == null) times.delete(timed(key, start, end)) else times.put(timed(key, start, end), 0L, 0L)
    }
    tidy()
  }

  def remove(key: Array[Byte], start: Long, end: Long): Unit = {
    if (settings.persistent) clock.advance(end)
    store.delete(Bytes.concat(key, end, start))
    if (times != null) times.delete(timed(key, start, end))
  }

  /**
   * Sessions of all keys that end within [from, to], by end, start and key. Retention hides sessions only in memory; a
   * persistent store drops whole segments.
   */
  def ending(from: Long, to: Long): Iterator[SessionEntry] =
    times
      .range(
        RetainedStore.bigEndian(math.max(from, if (settings.persistent) liveFrom else visibleFrom)),
        if (to == Long.MaxValue) null else RetainedStore.bigEndian(to + 1)
      )
      .flatMap { case (k, _) =>
        val (end, start) = (Bytes.getLong(k, 0), Bytes.getLong(k, 8))
        val key = java.util.Arrays.copyOfRange(k, 16, k.length)
        val e = store.get(Bytes.concat(key, end, start))
        if (e == null) None else Some(new SessionEntry(key, start, end, e.value))
      }

  def all: Iterator[SessionEntry] = {
    val from = visibleFrom
    store.all
      .map { case (k, e) =>
        val n = k.length - 16
        new SessionEntry(java.util.Arrays.copyOf(k, n), Bytes.getLong(k, n + 8), Bytes.getLong(k, n), e.value)
      }
      .filter(_.end >= from)
  }

  override protected def sweep(done: Long, before: Long): Unit = {
    // Closing sessions may still be fetched until their whole segment is gone.
    val gone = if (times == null || !settings.persistent) before else liveFrom
    store.sweep(null, null)(k => Bytes.getLong(k, k.length - 16) < gone)
    if (times != null) times.sweep(null, RetainedStore.bigEndian(gone))(_ => true)
  }
}
