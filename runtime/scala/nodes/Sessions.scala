package org.apache.spark.sql.millrace

import org.apache.spark.sql.types._

/**
 * Sessions [SE1] to [SE5]: a record joins all sessions of its key that are no further away than the gap. The sessions
 * that it absorbs are withdrawn, earliest end first, then the new one is sent; both have the session's end as their
 * timestamp and no headers, because a session is not a single record.
 */
private[millrace] final class SessionAggregation(
    s: NodeSpec,
    keyType: KeyType,
    valueType: DataType,
    gap: Long,
    grace: Long,
    inputs: Array[Aggregator],
    settings: StoreSettings,
    closing: Boolean,
    sendOld: Boolean
) extends WindowedAggregation(s, keyType, valueType, settings, sendOld) {
  private var store: SessionTable = _

  override def init(c: TaskContext): Unit = {
    val retention = if (settings.retention != null) settings.retention.longValue else gap + grace
    store = new SessionTable(c, this, settings, valueType, retention, timeOrdered = closing)
    store.show(Windowed.typeOf(keyType.seen), (key, start, end) => Windowed(keys.decode(key), start, end))
    openClocks(c, inputs.length)
  }

  override def process(r: Record, input: Int): Unit =
    if (r.key == null) dropped("null_key")
    else {
      val time = r.timestamp
      val aggregator = inputs(input)
      val close = clocks(input).advance(time) - grace - gap
      val key = keys.encode(r.key)
      var agg = aggregator.initial
      var start = time
      var end = time
      val absorbed = store.find(key, time - gap, time + gap).toArray
      absorbed.foreach { a =>
        agg = aggregator.merge(r.key, agg, a.value)
        start = math.min(start, a.start)
        end = math.max(end, a.end)
      }
      if (end < close) late(start, end, close)
      else {
        if (start != time || end != time) absorbed.foreach { a =>
          store.remove(key, a.start, a.end)
          if (!closing) update(r.key, a.start, a.end, null, a.value)
        }
        agg = aggregator.add(agg, r.key, r.value, time)
        store.put(key, start, end, agg)
        if (!closing) update(r.key, start, end, agg, null)
      }
      if (closing) emitClosed(r, close)
    }

  private def update(key: Any, start: Long, end: Long, newValue: Any, oldValue: Any): Unit =
    forward(
      new Record(Windowed(key, start, end), new Change(newValue, if (sendOld) oldValue else null), end, Headers.empty)
    )

  private def emitClosed(r: Record, close: Long): Unit = {
    val last = emitted.value
    val upper = close - 1
    if ((last == -1L || last < close) && upper >= 0L) {
      val lower = math.max(0L, last)
      if (upper >= lower) {
        store
          .ending(lower, upper)
          .foreach(a => send(r, Windowed(keys.decode(a.key), a.start, a.end), a.value, null, a.end))
        emitted.set(close)
      }
    }
  }

  override def read(key: Any, at: Record): Entry = {
    val end = Windowed.endMs(key)
    val v = store.fetch(keys.encode(Windowed.key(key, keyType.seen)), Windowed.startMs(key), end)
    if (v == null) null else new Entry(v, end)
  }

  override private[millrace] lazy val access: StoreAccess = new SessionAccess(accessed("session"), keys, store, this)
}
