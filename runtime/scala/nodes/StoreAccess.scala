package org.apache.spark.sql.millrace

import java.util.{HashMap => JHashMap}

import com.fasterxml.jackson.databind.JsonNode

import org.apache.spark.sql.types._

/**
 * Python's access to a store, of a processor or, in tests, of a table. `m`: ["store", name, operation, arguments ...].
 * `keys`: the codec of the store's keys.
 */
private[millrace] abstract class StoreAccess(s: ProcessorStore, keys: Codec) {
  private val iterators = new JHashMap[Integer, Iterator[JsonNode]]()
  private var opened = 0

  final def store: ProcessorStore = s

  /** Whether values have timestamps, as those of tables do. */
  def timestamps: Boolean = false
  protected def seen: DataType = s.key
  protected def rows: Iterator[DumpRow]
  final def dump: StoreDump =
    new StoreDump(s.name, s.spec.state, s.spec.node, s.spec.named, seen, s.value, () => rows, this)
  protected def operate(op: String, m: JsonNode): JsonNode
  final def serve(op: String, m: JsonNode): JsonNode = if (op == "next") page(m.get(3).asInt) else operate(op, m)

  /** Serves a processor that only reads the store, which is a table's. */
  final def read(op: String, m: JsonNode): JsonNode = {
    require(!StoreAccess.writes(op), s"the store ${s.name} can only be read")
    serve(op, m)
  }

  /** The bytes of a key. */
  final def key(j: JsonNode): Array[Byte] = keys.encode(Wire.value(j, s.key))
  protected def keyNode(b: Array[Byte]): JsonNode = Wire.node(keys.decode(b), s.key)
  protected def value(j: JsonNode): Any = Wire.value(j, s.value)
  protected def shown(v: Any): JsonNode = Wire.node(v, s.value)
  protected def entry(e: Entry): JsonNode = if (e == null) Json.mapper.nullNode else shown(e.value)

  /** A value with its timestamp, or null. */
  protected def timed(e: Entry): JsonNode =
    if (e == null) Json.mapper.nullNode else pair(shown(e.value), number(e.timestamp))
  protected def number(n: Long): JsonNode = Json.mapper.getNodeFactory.numberNode(n)
  protected def pair(a: JsonNode, b: JsonNode): JsonNode = {
    val x = Json.mapper.createArrayNode()
    x.add(a)
    x.add(b)
    x
  }
  protected def windowed(k: Array[Byte], start: Long, end: Long): JsonNode = {
    val o = Json.mapper.createObjectNode()
    o.replace("key", keyNode(k))
    val window = o.putObject("window").put("start", start)
    if (end < 0) window.putNull("end") else window.put("end", end)
    o
  }

  /** The timestamp that a test gives to a table's row; without one -1, as a store of Kafka Streams has it. */
  protected def timestamp(m: JsonNode, at: Int): Long = if (m.hasNonNull(at)) m.get(at).asLong else StoreAccess.noTime

  /** Writes a value that a test has put into a table's store to the copies of the table on later levels. */
  protected def copied(owner: Node, key: => Any, value: Any, timestamp: Long): Unit = if (owner.copies.nonEmpty) {
    val r = new Record(key, new Change(value, null), timestamp, Headers.empty)
    owner.copies.foreach(l => l.node.process(r, l.input))
  }

  /** The first page of an iteration: `[number or null, [items]]`. Pages keep the frames of the pipe small. */
  protected def iterate(items: Iterator[JsonNode]): JsonNode = {
    opened += 1
    iterators.put(opened, items)
    page(opened)
  }
  private def page(number: Int): JsonNode = {
    val items = iterators.get(number)
    val x = Json.mapper.createArrayNode()
    val out = Json.mapper.createArrayNode()
    var n = 0
    while (items != null && n < StoreAccess.pageSize && items.hasNext) { out.add(items.next()); n += 1 }
    if (items != null && items.hasNext) x.add(number) else { iterators.remove(number); x.addNull() }
    x.add(out)
    x
  }
}

/** A node, as data, that keeps its result in a store. */
private[millrace] trait StoreOwner { def store: StoreSettings }

/** A node whose store processors read. */
private[millrace] trait ReadableStore { private[millrace] def access: StoreAccess }

private[millrace] object StoreAccess {
  private val pageSize = 500
  private val noTime = -1L
  private val writes = Set("put", "put_if_absent", "delete", "remove")

  /** Opens a store of a processor. */
  def open(s: ProcessorStore, c: TaskContext, owner: Node): StoreAccess = {
    val keys = Codec.of(s.key)
    s.spec.kind match {
      case "key_value" =>
        val store = c.store(s.spec.state, s.value, ordered = true)
        c.show(s.spec.state, new StoreView(s.name, s.spec.node, s.key, s.value, keys.decode, timed = false))
        new KeyValueAccess(s, keys, store)
      case "window" => window(s, keys, c, owner)
      case "session" =>
        val retention = s.long("retention")
        val store = new SessionTable(c, owner, StoreSettings.of(s.spec), s.value, retention, timeOrdered = false)
        store.show(Windowed.typeOf(s.key), (k, start, end) => Windowed(keys.decode(k), start, end))
        new SessionAccess(s, keys, store, owner)
      case "versioned" =>
        val store = new VersionedTable(c, owner, s.spec.state, s.value, s.long("history_retention"))
        c.show(s.spec.state, store.view(s.name, s.spec.node, s.key, s.value, keys.decode))
        new VersionedAccess(s, keys, store, owner)
      case other =>
        throw new Refused(owner.node, "store", Why("kind", s"${s.name} is a store of an unknown kind: $other"))
    }
  }

  private def window(s: ProcessorStore, keys: Codec, c: TaskContext, owner: Node): StoreAccess = {
    val size = s.long("window_size")
    val store = new KeyFirstWindows(
      c,
      owner,
      StoreSettings.of(s.spec),
      s.value,
      s.long("retention"),
      timeOrdered = false,
      duplicates = s.spec.properties.getOrElse("retain_duplicates", "false").toBoolean
    )
    store.show(
      Windowed.typeOf(s.key),
      s.value,
      (k, start) => Windowed(keys.decode(k), start, start + size),
      timed = false
    )
    new WindowAccess(s, keys, store, _ + size, owner, timestamps = false)
  }
}

/** An ordered store of rows: a processor's own, or one of a table (`timestamps`) that a processor reads. */
private[millrace] final class KeyValueAccess(
    s: ProcessorStore,
    keys: Codec,
    store: Store,
    override val timestamps: Boolean = false
) extends StoreAccess(s, keys) {
  private def bound(j: JsonNode): Array[Byte] = if (j.isNull) null else key(j)
  private def upper(j: JsonNode): Array[Byte] = if (j.isNull) null else Bytes.next(key(j))
  private def entries(it: Iterator[(Array[Byte], Entry)]): JsonNode = iterate(it.map { case (k, e) =>
    pair(keyNode(k), shown(e.value))
  })

  override protected def operate(op: String, m: JsonNode): JsonNode = op match {
    case "get" => entry(store.get(key(m.get(3))))
    case "get_with_timestamp" => timed(store.get(key(m.get(3))))
    case "put" =>
      store.put(key(m.get(3)), value(m.get(4)), 0L)
      null
    case "put_if_absent" =>
      val k = key(m.get(3))
      val old = store.get(k)
      if (old == null) store.put(k, value(m.get(4)), 0L)
      entry(old)
    case "delete" =>
      val k = key(m.get(3))
      val old = store.get(k)
      if (old != null) store.delete(k)
      entry(old)
    case "range" => entries(store.range(bound(m.get(3)), upper(m.get(4)), ascending = m.get(5).asBoolean))
    case "prefix" =>
      val p = if (m.get(4).asBoolean) m.get(3).binaryValue else key(m.get(3))
      entries(store.range(p, Bytes.after(p)))
    case "count" => number(store.size)
  }
  override protected def rows: Iterator[DumpRow] =
    store.all.map { case (k, e) => new DumpRow(keys.decode(k), e.value, null) }
}

/** A table's store in a test. Its rows have timestamps, and are not ordered: a range reads all of them. */
private[millrace] final class TableAccess(s: ProcessorStore, keys: Codec, table: KeyedTable, owner: Node)
    extends StoreAccess(s, keys) {
  override def timestamps: Boolean = true
  private def write(k: Array[Byte], v: Any, timestamp: Long): Unit = {
    table.put(k, v, timestamp)
    copied(owner, keys.decode(k), v, timestamp)
  }
  private def range(from: Array[Byte], to: Array[Byte], ascending: Boolean): JsonNode = {
    val found = table.entries.filter { case (k, _) =>
      (from == null || Bytes.compare(k, from) >= 0) && (to == null || Bytes.compare(k, to) < 0)
    }.toArray
    iterate((if (ascending) found.iterator else found.reverseIterator).map { case (k, e) =>
      pair(keyNode(k), shown(e.value))
    })
  }

  override protected def operate(op: String, m: JsonNode): JsonNode = op match {
    case "get" => entry(table.get(key(m.get(3))))
    case "get_with_timestamp" => timed(table.get(key(m.get(3))))
    case "put" =>
      write(key(m.get(3)), value(m.get(4)), timestamp(m, 5))
      null
    case "put_if_absent" =>
      val k = key(m.get(3))
      val old = table.get(k)
      if (old == null) write(k, value(m.get(4)), timestamp(m, 5))
      entry(old)
    case "delete" =>
      val k = key(m.get(3))
      val old = table.get(k)
      if (old != null) write(k, null, old.timestamp)
      entry(old)
    case "range" =>
      val (from, to) = (m.get(3), m.get(4))
      range(if (from.isNull) null else key(from), if (to.isNull) null else Bytes.next(key(to)), m.get(5).asBoolean)
    case "prefix" =>
      val p = if (m.get(4).asBoolean) m.get(3).binaryValue else key(m.get(3))
      range(p, Bytes.after(p), ascending = true)
    case "count" => number(table.entries.size)
  }
  override protected def rows: Iterator[DumpRow] =
    table.entries.map { case (k, e) => new DumpRow(keys.decode(k), e.value, e.timestamp) }
}

/** `end`: the shown end of a window that starts at a time, -1 for none. */
private[millrace] final class WindowAccess(
    s: ProcessorStore,
    keys: Codec,
    store: Windows,
    end: Long => Long,
    owner: Node,
    override val timestamps: Boolean = true
) extends StoreAccess(s, keys) {
  private def times(it: Iterator[WindowEntry]): JsonNode = iterate(
    it.map(w => pair(number(w.start), shown(w.entry.value)))
  )
  private def windows(it: Iterator[WindowEntry]): JsonNode = iterate(
    it.map(w => pair(windowed(w.key, w.start, end(w.start)), shown(w.entry.value)))
  )

  override protected def operate(op: String, m: JsonNode): JsonNode = op match {
    case "put" =>
      val (k, v, start) = (key(m.get(3)), value(m.get(4)), m.get(5).asLong)
      val at = if (timestamps) timestamp(m, 6) else 0L
      store.put(k, start, v, at)
      copied(owner, window(k, start), v, at)
      null
    case "get" => entry(store.fetch(key(m.get(3)), m.get(4).asLong))
    case "get_with_timestamp" => timed(store.fetch(key(m.get(3)), m.get(4).asLong))
    case "fetch" => times(store.fetch(key(m.get(3)), m.get(4).asLong, m.get(5).asLong, ascending = m.get(6).asBoolean))
    case "all" => windows(store.scan(Long.MinValue, Long.MaxValue))
    case "fetch_all" => windows(store.scan(m.get(3).asLong, m.get(4).asLong))
  }

  /** The windowed key as records have it: an unlimited window has no end. */
  private def window(k: Array[Byte], start: Long): Any = {
    val at = end(start)
    Windowed(keys.decode(k), start, if (at < 0) null else Long.box(at))
  }
  override protected def seen: DataType = Windowed.typeOf(s.key)
  override protected def rows: Iterator[DumpRow] = store
    .scan(Long.MinValue, Long.MaxValue)
    .map { w =>
      val at = if (timestamps) Long.box(w.entry.timestamp) else null
      new DumpRow(Windowed(keys.decode(w.key), w.start, end(w.start)), w.entry.value, at)
    }
}

private[millrace] final class SessionAccess(s: ProcessorStore, keys: Codec, store: SessionTable, owner: Node)
    extends StoreAccess(s, keys) {
  private def sessions(it: Iterator[SessionEntry]): JsonNode = iterate(
    it.map(e => pair(windowed(e.key, e.start, e.end), shown(e.value)))
  )
  private def changed(k: Array[Byte], start: Long, end: Long, value: Any): Unit =
    copied(owner, Windowed(keys.decode(k), start, end), value, end)

  override protected def operate(op: String, m: JsonNode): JsonNode = op match {
    case "put" =>
      val (k, start, end, v) = (key(m.get(3)), m.get(4).asLong, m.get(5).asLong, value(m.get(6)))
      store.put(k, start, end, v)
      changed(k, start, end, v)
      null
    case "remove" =>
      val (k, start, end) = (key(m.get(3)), m.get(4).asLong, m.get(5).asLong)
      store.remove(k, start, end)
      changed(k, start, end, null)
      null
    case "fetch" => sessions(store.find(key(m.get(3)), 0L, Long.MaxValue))
    case "find" => sessions(store.find(key(m.get(3)), m.get(4).asLong, m.get(5).asLong))
  }
  override protected def seen: DataType = Windowed.typeOf(s.key)
  override protected def rows: Iterator[DumpRow] =
    store.all.map(e => new DumpRow(Windowed(keys.decode(e.key), e.start, e.end), e.value, null))
}

private[millrace] final class VersionedAccess(s: ProcessorStore, keys: Codec, store: VersionedTable, owner: Node)
    extends StoreAccess(s, keys) {
  private def write(k: Array[Byte], v: Any, at: Long): Boolean = {
    val put = store.put(k, v, at)
    if (put != KeyedTable.Refused) copied(owner, keys.decode(k), v, at)
    put != KeyedTable.Refused
  }

  override protected def operate(op: String, m: JsonNode): JsonNode = op match {
    case "put" =>
      write(key(m.get(3)), value(m.get(4)), m.get(5).asLong)
      null
    case "get" => timed(if (m.get(4).isNull) store.get(key(m.get(3))) else store.get(key(m.get(3)), m.get(4).asLong))
    case "delete" =>
      val (k, at) = (key(m.get(3)), m.get(4).asLong)
      val old = store.get(k, at)
      if (!write(k, null, at) || old == null) Json.mapper.nullNode else shown(old.value)
  }
  override protected def rows: Iterator[DumpRow] =
    store.entries.map { case (k, e) => new DumpRow(keys.decode(k), e.value, e.timestamp) }
}
