package org.apache.spark.sql.millrace

import org.apache.spark.sql.types._

/** The common part of windowed aggregations: the key type, the dump of the store, and the records that they send. */
private[millrace] abstract class WindowedAggregation(
    s: NodeSpec,
    keyType: KeyType,
    valueType: DataType,
    settings: StoreSettings,
    val sendOld: Boolean
) extends Node(s)
    with TableView
    with ReadableStore {
  protected val keys: Codec = Codec.key(keyType)

  /** The stream time of each input, and the time up to which closed windows were sent. */
  protected var clocks: Array[Clock] = _
  protected var emitted: Clock = _
  protected final def openClocks(c: TaskContext, inputs: Int): Unit = {
    clocks = Array.tabulate(inputs)(i => c.clock(s"$id:$i"))
    emitted = c.clock(s"$id:emitted")
  }
  override def isVersioned: Boolean = false
  override def readAsOf(key: Any, asOf: Long, at: Record): Entry = read(key, at)

  protected def send(r: Record, key: Any, newValue: Any, oldValue: Any, timestamp: Long): Unit =
    forward(new Record(key, new Change(newValue, if (sendOld) oldValue else null), timestamp, r.headers))

  protected final def accessed(kind: String): ProcessorStore =
    new ProcessorStore(StoreSpec(settings, kind), keyType.seen, valueType)
  override def dumps: Seq[StoreDump] = Seq(access.dump)
}

/**
 * Tumbling, hopping and unlimited windows [TW1] to [TW6]. With several inputs (a cogroup) every input has its own
 * aggregator and its own clock; they share the store.
 */
private[millrace] final class WindowAggregation(
    s: NodeSpec,
    keyType: KeyType,
    valueType: DataType,
    windows: WindowsOf,
    inputs: Array[Aggregator],
    settings: StoreSettings,
    closing: Boolean,
    sendOld: Boolean
) extends WindowedAggregation(s, keyType, valueType, settings, sendOld) {
  private var store: TimeFirstWindows = _

  /** The windows of a function in Python, or null. */
  private val custom: PythonWindows = windows match {
    case w: CustomWindows => new PythonWindows(this, w)
    case _ => null
  }

  override def init(c: TaskContext): Unit = {
    val retention =
      if (settings.retention != null) settings.retention.longValue
      else if (windows.size == Long.MaxValue) Long.MaxValue
      else windows.size + windows.grace
    store = new TimeFirstWindows(c, this, settings, valueType, retention, timeOrdered = closing, windows)
    store.show(Windowed.typeOf(keyType.seen), (key, start) => Windowed(keys.decode(key), start, shownEnd(start)))
    openClocks(c, inputs.length)
  }

  override def process(r: Record, input: Int): Unit =
    if (r.key == null) dropped("null_key")
    else {
      val time = r.timestamp
      val close = clocks(input).advance(time) - windows.grace
      val aggregator = inputs(input)
      val key = keys.encode(r.key)
      def accept(start: Long, end: Long): Unit =
        if (end > close) update(r, key, start, end, aggregator) else late(start, end, close)
      if (custom != null) {
        val found = custom.of(time)
        if (found.isEmpty) ended("no_window")
        found.foreach { case (start, end) => accept(start, end) }
      } else {
        var start = windows.first(time)
        if (start > time) ended("no_window")
        while (start <= time) {
          accept(start, windows.end(start))
          start = windows.next(start)
        }
      }
      if (closing) emitClosed(r, close)
    }

  private def update(r: Record, key: Array[Byte], start: Long, end: Long, aggregator: Aggregator): Unit = {
    val found = store.fetch(key, start)
    val old = if (found == null) aggregator.initial else found.value
    val timestamp = if (found == null) r.timestamp else math.max(r.timestamp, found.timestamp)
    val agg = aggregator.add(old, r.key, r.value, r.timestamp)
    store.put(key, start, agg, timestamp)
    if (!closing) send(r, windowed(r.key, start, end), agg, old, timestamp)
  }

  private def windowed(key: Any, start: Long, end: Long): Any =
    Windowed(key, start, if (end == Long.MaxValue) null else end)

  private def emitClosed(r: Record, close: Long): Unit = {
    val last = emitted.value
    val upper = windows.closedBy(close)
    if ((last == -1L || last < close) && upper >= 0L) {
      val lower = if (last == -1L) 0L else math.max(0L, windows.closedBy(last)) + 1L
      if (last == -1L || !windows.noneClosed(last, close)) {
        store.fetchAll(lower, upper).foreach { w =>
          send(r, windowed(keys.decode(w.key), w.start, windows.end(w.start)), w.entry.value, null, w.entry.timestamp)
        }
        emitted.set(close)
      }
    }
  }

  override def read(key: Any, at: Record): Entry =
    store.fetch(keys.encode(Windowed.key(key, keyType.seen)), Windowed.startMs(key))

  override private[millrace] lazy val access: StoreAccess =
    new WindowAccess(accessed("window"), keys, store, shownEnd, this)

  /** The shown end of a window: for an unlimited one -1, because Kafka Streams' is beyond the range of TIMESTAMP. */
  private def shownEnd(start: Long): Long = if (windows.size == Long.MaxValue) -1L else windows.end(start)
}
