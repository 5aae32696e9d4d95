package org.apache.spark.sql.millrace

import org.apache.spark.sql.types._

/**
 * Sliding windows [SL1] to [SL4]: both ends belong to a window, and a window exists only if no other one has the same
 * contents. A record updates the windows of its key that contain it, from the latest to the earliest, and opens those
 * that end with it, begin after it, or begin after the record before it.
 */
private[millrace] final class SlidingAggregation(
    s: NodeSpec,
    keyType: KeyType,
    valueType: DataType,
    difference: Long,
    grace: Long,
    inputs: Array[Aggregator],
    settings: StoreSettings,
    closing: Boolean,
    sendOld: Boolean
) extends WindowedAggregation(s, keyType, valueType, settings, sendOld) {
  private var store: KeyFirstWindows = _

  override def init(c: TaskContext): Unit = {
    val retention = if (settings.retention != null) settings.retention.longValue else 2 * difference + grace
    store = new KeyFirstWindows(c, this, settings, valueType, retention, timeOrdered = closing, duplicates = false)
    store.show(
      Windowed.typeOf(keyType.seen),
      valueType,
      (key, start) => Windowed(keys.decode(key), start, start + difference)
    )
    openClocks(c, inputs.length)
  }

  override def process(r: Record, input: Int): Unit =
    if (r.key == null) dropped("null_key")
    else if (r.value == null) dropped("null_value")
    else {
      val close = clocks(input).advance(r.timestamp) - grace
      if (r.timestamp + difference < close) late(r.timestamp, r.timestamp + difference, close)
      else if (difference == 0) // Kafka Streams accepts such a graph, but cannot create its first window
        throw new Misfit(
          Why(
            "window_without_length",
            "a sliding window with difference 0 is empty; use a difference greater than 0"
          )
        )
      else {
        val work = new Work(r, keys.encode(r.key), close, inputs(input))
        if (r.timestamp < difference) work.early()
        else {
          work.backwards()
          if (closing) emitClosed(r, close)
        }
      }
    }

  /** Updates the windows of a key for one record. */
  private final class Work(r: Record, key: Array[Byte], close: Long, aggregator: Aggregator) {
    private val time = r.timestamp
    private val starts = new java.util.HashSet[Long]()

    /**
     * Contents of the window that ends before this record, and the time of the record before this one; -1 if there is
     * none.
     */
    private var left: Entry = null
    private var previous = -1L

    /** The contents of a window that reaches beyond this record, for the window that begins right after it. */
    private var right: Entry = null
    private var leftExists = false
    private var rightExists = false

    def backwards(): Unit = {
      val windows = store.fetch(key, math.max(0L, time - 2 * difference), time + 1, ascending = false)
      var ended = false
      while (!ended && windows.hasNext) {
        val w = windows.next()
        starts.add(w.start)
        val end = w.start + difference
        if (w.start == time + 1) rightExists = true
        else if (end > time) {
          if (right == null) right = w.entry
          update(w.start, w.entry)
        } else if (end == time) {
          leftExists = true
          update(w.start, w.entry)
          if (w.entry.timestamp < time) previous = w.entry.timestamp else return
        } else {
          left = w.entry
          previous = w.entry.timestamp
          ended = true
        }
      }
      if (previous >= 0 && !starts.contains(previous + 1) && previous + 1 + difference >= time)
        update(previous + 1, fresh)
      if (!leftExists) {
        val before = if (previous >= 0 && time - difference <= previous) new Entry(left.value, time) else fresh
        update(time - difference, before)
      }
      if (!rightExists && right != null && right.timestamp > time) openRight()
    }

    /** All records before the first full window share the window that starts at 0 [SL3]. */
    def early(): Unit = {
      var combined: Entry = null
      store.fetch(key, 0L, time + 1, ascending = true).foreach { w =>
        starts.add(w.start)
        if (w.start == 0) {
          combined = w.entry
          if (w.entry.timestamp < time) previous = w.entry.timestamp
        } else if (w.start <= time) {
          right = w.entry
          update(w.start, w.entry)
        } else rightExists = true
      }
      if (right == null && combined != null && combined.timestamp > time) right = combined
      if (!rightExists && right != null && right.timestamp > time) openRight()
      if (previous >= 0 && !starts.contains(previous + 1)) update(previous + 1, fresh)
      update(0L, if (combined == null) fresh else combined)
    }

    private def fresh: Entry = new Entry(aggregator.initial, time)

    private def openRight(): Unit = {
      store.put(key, time + 1, right.value, right.timestamp)
      if (!closing) send(r, Windowed(r.key, time + 1, time + 1 + difference), right.value, null, right.timestamp)
    }

    private def update(start: Long, before: Entry): Unit =
      if (start + difference >= close) {
        val agg = aggregator.add(before.value, r.key, r.value, time)
        val timestamp = if (before.value == null) time else math.max(time, before.timestamp)
        store.put(key, start, agg, timestamp)
        if (!closing) send(r, Windowed(r.key, start, start + difference), agg, before.value, timestamp)
      } else late(start, start + difference, close)
  }

  private def emitClosed(r: Record, close: Long): Unit = {
    val last = emitted.value
    val upper = close - difference - 1
    if ((last == -1L || last < close) && upper >= 0L) {
      val lower = if (last == -1L) 0L else math.max(0L, last - difference)
      store.fetchAll(lower, upper).foreach { w =>
        send(r, Windowed(keys.decode(w.key), w.start, w.start + difference), w.entry.value, null, w.entry.timestamp)
      }
      emitted.set(close)
    }
  }

  override def read(key: Any, at: Record): Entry =
    store.fetch(keys.encode(Windowed.key(key, keyType.seen)), Windowed.startMs(key))

  override private[millrace] lazy val access: StoreAccess =
    new WindowAccess(accessed("window"), keys, store, _ + difference, this)
}
