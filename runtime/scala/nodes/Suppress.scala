package org.apache.spark.sql.millrace

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.types._

/** `suppress`: holds updates of a table back until their window closes or a time limit is reached [KT5] to [KT9]. */
private[millrace] final class SuppressSpec(b: Build) extends NodeSpec(b) with TableSpec {
  val in: TablePort = b.table(0)
  private val parent = TableSpec.of(in)
  val closing: Boolean = b.text("until") == "window_closes"

  /** How long an update waits, in ms of the clock: for windows, as long as late records may arrive. */
  val delay: Long = if (closing) parent.closingDelay else b.long("limit")
  if (closing && delay < 0) b.fail("until", "window", "window_closes needs a windowed table")
  val maxRecords: Long = b.longOpt("max_records").getOrElse(Long.MaxValue)
  val maxBytes: Long = b.longOpt("max_bytes").getOrElse(Long.MaxValue)
  val emits: Boolean = b.textOpt("when_full").getOrElse(if (closing) "fail" else "emit") == "emit"
  parent.enableSendingOldValues(force = true)
  parent.readable()
  override protected def enable(force: Boolean): Boolean = parent.enableSendingOldValues(force)
  override def readable(): Unit = parent.readable()
  override def answers: Boolean = parent.answers
  override def outputVersioned: Boolean = false
  override def history: java.lang.Long = null
  override def closingDelay: Long = parent.closingDelay
  override def keeps(input: Int): Boolean = true
  override def derived: Boolean = true
  override def ports: Seq[(String, Port)] = Seq("out" -> TablePort(in.key, in.value, this))
  override private[millrace] def kept: Seq[KeptRows] =
    KeptRows(s"$id$$buffer", in.key, skip = 8) +: KeptRows(s"$id$$places", in.key) +: super.kept
  override def create(): Node = new Suppress(this)
}

private[millrace] final class Suppress(s: SuppressSpec) extends Node(s) with TableView {
  private val input = TableInput.of(this, 0)
  private val keys = Codec.key(s.in.key)
  private val bytesOf = Codec.of(s.in.value)
  private var clock: Clock = _

  /** Updates, by the time from which they wait, and key. */
  private var buffer: Store = _
  override def buffers: Seq[String] = Seq(s"$id$$buffer")

  /** By waiting key: the time from which it waits. Later updates keep the place of their key. */
  private var places: Store = _
  private var records: Clock = _
  private var bytes: Clock = _

  override def init(c: TaskContext): Unit = {
    input.init(c)
    clock = c.clock(id)
    val row = new StructType()
      .add("prior", s.in.value)
      .add("old", s.in.value)
      .add("new", s.in.value)
      .add("origin", Origin.dataType)
    buffer = c.store(s"$id$$buffer", row, ordered = true)
    c.show(
      s"$id$$buffer",
      new StoreView(
        s"$id$$buffer",
        node,
        s.in.key.seen,
        s.in.value,
        k => keys.decode(java.util.Arrays.copyOfRange(k, 8, k.length)),
        e => field(e.value.asInstanceOf[InternalRow], 2)
      )
    )
    places = c.index(s"$id$$places", ordered = false)
    records = c.clock(s"$id:records")
    bytes = c.clock(s"$id:bytes")
    if (records.value < 0 && places.size > 0) {
      records.set(places.size)
      if (s.maxBytes != Long.MaxValue)
        bytes.set(buffer.all.map { case (at, e) =>
          size(java.util.Arrays.copyOfRange(at, 8, at.length), e.value.asInstanceOf[InternalRow])
        }.sum)
    }
  }

  override def remember(r: Record, in: Int): Unit = input.remember(r)

  override def process(r: Record, in: Int): Unit = {
    input.observe(r)
    val now = clock.advance(r.timestamp)
    put(r)
    mirror(r)
    val before = sent
    var first = buffer.first(null, null)
    while (first != null && Bytes.getLong(first, 0) <= now - s.delay) {
      send(first)
      first = buffer.first(Bytes.next(first), null)
    }
    if (crowded) {
      if (!s.emits)
        throw full(
          Why(
            "buffer_full",
            s"the buffer holds ${count(records)} records and ${count(bytes)} bytes, " +
              "more than max_records or max_bytes allow",
            "records" -> count(records),
            "bytes" -> count(bytes)
          )
        )
      while (first != null && crowded) { send(first); first = buffer.first(Bytes.next(first), null) }
    }
    if (sent == before) ended("held")
  }

  private def full(why: Why) = new ParameterFailure(null, new IllegalStateException(why.message), why)
  private def count(c: Clock): Long = math.max(0L, c.value)
  private def crowded: Boolean = count(records) > s.maxRecords || count(bytes) > s.maxBytes

  private def put(r: Record): Unit = {
    val key = keys.encode(r.key)
    val found = places.get(key)
    val time =
      if (found != null) found.value.asInstanceOf[Long] else if (s.closing) Windowed.endMs(r.key) else r.timestamp
    val at = new Array[Byte](8 + key.length)
    Bytes.putLong(at, 0, time)
    System.arraycopy(key, 0, at, 8, key.length)
    val before = if (found == null) null else buffer.get(at).value.asInstanceOf[InternalRow]
    val prior = if (before == null) r.change.oldValue else field(before, 0)
    val row = new GenericInternalRow(Array[Any](prior, r.change.oldValue, r.change.newValue, Origin.of(r, context)))
    if (found == null) { places.put(key, time, 0L); records.set(count(records) + 1) }
    if (s.maxBytes != Long.MaxValue)
      bytes.set(count(bytes) + size(key, row) - (if (before == null) 0L else size(key, before)))
    buffer.put(at, row, r.timestamp)
  }

  private def field(row: InternalRow, i: Int): Any = if (row.isNullAt(i)) null else row.get(i, s.in.value)

  /** Kafka Streams' estimate of the memory that an update takes, in bytes. */
  private def size(key: Array[Byte], row: InternalRow): Long = {
    def encoded(i: Int): Array[Byte] = bytesOf.encode(field(row, i))
    def length(b: Array[Byte]): Long = if (b == null) 0L else b.length.toLong
    val (prior, old) = (encoded(0), encoded(1))
    val origin = row.getStruct(3, 4)
    val context = 20L + (if (origin.isNullAt(0)) 0L else origin.getUTF8String(0).numChars().toLong) +
      Origin.headers(origin).map(h => h.key.length.toLong + length(h.value)).sum
    8L + key.length + length(prior) + (if (java.util.Arrays.equals(prior, old)) 0L else length(old)) + length(
      encoded(2)
    ) + context
  }

  private def send(at: Array[Byte]): Unit = {
    val e = buffer.get(at)
    val row = e.value.asInstanceOf[InternalRow]
    val key = java.util.Arrays.copyOfRange(at, 8, at.length)
    val newValue = field(row, 2)
    if (newValue != null || !s.closing) {
      val origin = row.getStruct(3, 4)
      val out = new Record(keys.decode(key), new Change(newValue, field(row, 1)), e.timestamp, Origin.headers(origin))
      Origin.during(origin, context)(forward(out))
    }
    if (s.maxBytes != Long.MaxValue) bytes.set(count(bytes) - size(key, row))
    records.set(count(records) - 1)
    places.delete(key)
    buffer.delete(at)
    mirror(new Record(keys.decode(key), null, e.timestamp, Headers.empty))
  }

  override def isVersioned: Boolean = false
  override def readAsOf(key: Any, asOf: Long, at: Record): Entry = read(key, at)

  /** The value of a key. A key that waits still has the value that was sent last [KT9]. */
  override def read(key: Any, at: Record): Entry = {
    val k = keys.encode(key)
    val place = places.get(k)
    if (place == null) input.read(key, at)
    else {
      val prior = field(
        buffer
          .get(Bytes.concat(Array.emptyByteArray, place.value.asInstanceOf[Long]) ++ k)
          .value
          .asInstanceOf[InternalRow],
        0
      )
      if (prior == null) null else new Entry(prior, -1L)
    }
  }
}

object Suppressed extends Family {
  override val factories: Map[String, Build => NodeSpec] = Map("suppress" -> (new SuppressSpec(_)))
}
