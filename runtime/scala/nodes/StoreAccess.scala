package org.apache.spark.sql.millrace

import java.util.{HashMap => JHashMap}

import com.fasterxml.jackson.databind.JsonNode

import org.apache.spark.sql.types._

/** Python's access to a store. `m`: ["store", name, operation, arguments ...]. `key`: the key without its window. */
private[millrace] abstract class StoreAccess(
    val kind: String,
    val key: DataType,
    val value: DataType,
    protected val keys: Codec
) {

  /** Whether values have timestamps, as those of tables do. */
  def timestamps: Boolean = true
  private val iterators = new JHashMap[Integer, Iterator[JsonNode]]()
  private var opened = 0

  protected def operate(op: String, m: JsonNode): JsonNode
  final def serve(op: String, m: JsonNode): JsonNode = if (op == "next") page(m.get(3).asInt) else operate(op, m)

  protected def keyOf(j: JsonNode): Array[Byte] = keys.encode(Wire.value(j, key))
  protected def keyNode(b: Array[Byte]): JsonNode = Wire.node(keys.decode(b), key)
  protected def valueOf(j: JsonNode): Any = Wire.value(j, value)
  protected def shown(v: Any): JsonNode = Wire.node(v, value)
  protected def shown(e: Entry): JsonNode = if (e == null) Json.mapper.nullNode else shown(e.value)
  protected def number(n: Long): JsonNode = Json.mapper.getNodeFactory.numberNode(n)
  protected def pair(a: JsonNode, b: JsonNode): JsonNode = {
    val x = Json.mapper.createArrayNode()
    x.add(a)
    x.add(b)
    x
  }

  /** A value with its timestamp, or null. */
  protected def timed(e: Entry): JsonNode =
    if (e == null) Json.mapper.nullNode else pair(shown(e.value), number(e.timestamp))
  protected def windowed(k: Array[Byte], start: Long, end: java.lang.Long): JsonNode = {
    val o = Json.mapper.createObjectNode()
    o.replace("key", keyNode(k))
    o.putObject("window").put("start", start).put("end", end)
    o
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

private[millrace] object StoreAccess { private val pageSize = 500 }

/** A node, as data, that keeps its result in a store. */
private[millrace] trait StoreOwner { def store: StoreSettings }

/** A node whose store processors read. */
private[millrace] trait ReadableStore { private[millrace] def access: StoreAccess }

// ---- reading ----

private[millrace] class KeyValueReads(store: Store, key: DataType, value: DataType, keys: Codec)
    extends StoreAccess("key_value", key, value, keys) {
  private def bound(j: JsonNode): Array[Byte] = if (j.isNull) null else keyOf(j)
  private def upper(j: JsonNode): Array[Byte] = if (j.isNull) null else Bytes.next(keyOf(j))
  private def entries(it: Iterator[(Array[Byte], Entry)]): JsonNode = iterate(it.map { case (k, e) =>
    pair(keyNode(k), shown(e.value))
  })

  override protected def operate(op: String, m: JsonNode): JsonNode = op match {
    case "get" => shown(store.get(keyOf(m.get(3))))
    case "timed" => timed(store.get(keyOf(m.get(3))))
    case "range" => entries(store.range(bound(m.get(3)), upper(m.get(4)), ascending = m.get(5).asBoolean))
    case "prefix" =>
      val p = if (m.get(4).asBoolean) m.get(3).binaryValue else keyOf(m.get(3))
      entries(store.range(p, Bytes.after(p)))
    case "count" => number(store.size)
  }
}

/** `end` of a window: null if it has none. */
private[millrace] class WindowReads(
    store: Windows,
    key: DataType,
    value: DataType,
    keys: Codec,
    end: Long => java.lang.Long
) extends StoreAccess("window", key, value, keys) {
  private def times(it: Iterator[WindowEntry]): JsonNode = iterate(
    it.map(w => pair(number(w.start), shown(w.entry.value)))
  )
  private def windows(it: Iterator[WindowEntry]): JsonNode = iterate(
    it.map(w => pair(windowed(w.key, w.start, end(w.start)), shown(w.entry.value)))
  )

  override protected def operate(op: String, m: JsonNode): JsonNode = op match {
    case "get" => shown(store.fetch(keyOf(m.get(3)), m.get(4).asLong))
    case "timed" => timed(store.fetch(keyOf(m.get(3)), m.get(4).asLong))
    case "fetch" => times(store.fetch(keyOf(m.get(3)), m.get(4).asLong, m.get(5).asLong, m.get(6).asBoolean))
    case "all" => windows(store.scan(Long.MinValue, Long.MaxValue))
    case "fetch_all" => windows(store.scan(m.get(3).asLong, m.get(4).asLong))
  }
}

private[millrace] class SessionReads(store: SessionTable, key: DataType, value: DataType, keys: Codec)
    extends StoreAccess("session", key, value, keys) {
  private def sessions(it: Iterator[SessionEntry]): JsonNode = iterate(
    it.map(e => pair(windowed(e.key, e.start, e.end), shown(e.value)))
  )

  override protected def operate(op: String, m: JsonNode): JsonNode = op match {
    case "fetch" => sessions(store.find(keyOf(m.get(3)), 0L, Long.MaxValue))
    case "find" => sessions(store.find(keyOf(m.get(3)), m.get(4).asLong, m.get(5).asLong))
  }
}

private[millrace] class VersionedReads(store: KeyedTable, key: DataType, value: DataType, keys: Codec)
    extends StoreAccess("versioned", key, value, keys) {
  override protected def operate(op: String, m: JsonNode): JsonNode = op match {
    case "get" =>
      timed(if (m.get(4).isNull) store.get(keyOf(m.get(3))) else store.get(keyOf(m.get(3)), m.get(4).asLong))
  }
}

// ---- stores of processors ----

/** A store that a processor owns: it can also write it. */
private[millrace] trait OwnAccess extends StoreAccess {
  override def timestamps: Boolean = false
  protected def of: ProcessorStore
  protected def seen: DataType = of.key
  protected def rows: Iterator[DumpRow]
  final def dump: StoreDump =
    new StoreDump(of.name, of.spec.state, of.spec.node, of.spec.named, seen, of.value, () => rows)
}

private[millrace] object OwnAccess {
  def open(s: ProcessorStore, c: TaskContext, owner: Node): OwnAccess = s.spec.kind match {
    case "key_value" => new KeyValueAccess(s, c.store(s.spec.state, s.value, ordered = true), c)
    case "window" => new WindowAccess(s, windows(s, c, owner))
    case "session" => new SessionAccess(s, sessions(s, c, owner))
    case "versioned" =>
      new VersionedAccess(s, new VersionedTable(c, owner, s.spec.state, s.value, s.long("history_retention")), c)
    case other =>
      throw new Refused(owner.node, "store", Why("kind", s"${s.name} is a store of an unknown kind: $other"))
  }

  private def windows(s: ProcessorStore, c: TaskContext, owner: Node) = new KeyFirstWindows(
    c,
    owner,
    StoreSettings.of(s.spec),
    s.value,
    s.long("retention"),
    timeOrdered = false,
    duplicates = s.spec.properties.getOrElse("retain_duplicates", "false").toBoolean
  )
  private def sessions(s: ProcessorStore, c: TaskContext, owner: Node) =
    new SessionTable(c, owner, StoreSettings.of(s.spec), s.value, s.long("retention"), timeOrdered = false)
}

private final class KeyValueAccess(override protected val of: ProcessorStore, store: Store, c: TaskContext)
    extends KeyValueReads(store, of.key, of.value, Codec.of(of.key))
    with OwnAccess {
  c.show(of.spec.state, new StoreView(of.name, of.spec.node, of.key, of.value, keys.decode, timed = false))

  override protected def operate(op: String, m: JsonNode): JsonNode = op match {
    case "put" =>
      store.put(keyOf(m.get(3)), valueOf(m.get(4)), 0L)
      null
    case "put_if_absent" =>
      val k = keyOf(m.get(3))
      val old = store.get(k)
      if (old == null) store.put(k, valueOf(m.get(4)), 0L)
      shown(old)
    case "delete" =>
      val k = keyOf(m.get(3))
      val old = store.get(k)
      if (old != null) store.delete(k)
      shown(old)
    case _ => super.operate(op, m)
  }
  override protected def rows: Iterator[DumpRow] =
    store.all.map { case (k, e) => new DumpRow(keys.decode(k), e.value, null) }
}

private final class WindowAccess(override protected val of: ProcessorStore, store: KeyFirstWindows)
    extends WindowReads(store, of.key, of.value, Codec.of(of.key), _ + of.long("window_size"))
    with OwnAccess {
  private def end(start: Long): Long = start + of.long("window_size")
  store.show(seen, of.value, (k, start) => Windowed(keys.decode(k), start, end(start)), timed = false)

  override protected def operate(op: String, m: JsonNode): JsonNode = op match {
    case "put" =>
      store.put(keyOf(m.get(3)), m.get(5).asLong, valueOf(m.get(4)), 0L)
      null
    case _ => super.operate(op, m)
  }
  override protected def seen: DataType = Windowed.typeOf(of.key)
  override protected def rows: Iterator[DumpRow] =
    store.all.map(w => new DumpRow(Windowed(keys.decode(w.key), w.start, end(w.start)), w.entry.value, null))
}

private final class SessionAccess(override protected val of: ProcessorStore, store: SessionTable)
    extends SessionReads(store, of.key, of.value, Codec.of(of.key))
    with OwnAccess {
  store.show(seen, (k, start, end) => Windowed(keys.decode(k), start, end))

  override protected def operate(op: String, m: JsonNode): JsonNode = op match {
    case "put" =>
      store.put(keyOf(m.get(3)), m.get(4).asLong, m.get(5).asLong, valueOf(m.get(6)))
      null
    case "remove" =>
      store.remove(keyOf(m.get(3)), m.get(4).asLong, m.get(5).asLong)
      null
    case _ => super.operate(op, m)
  }
  override protected def seen: DataType = Windowed.typeOf(of.key)
  override protected def rows: Iterator[DumpRow] =
    store.all.map(e => new DumpRow(Windowed(keys.decode(e.key), e.start, e.end), e.value, null))
}

private final class VersionedAccess(override protected val of: ProcessorStore, store: VersionedTable, c: TaskContext)
    extends VersionedReads(store, of.key, of.value, Codec.of(of.key))
    with OwnAccess {
  c.show(of.spec.state, store.view(of.name, of.spec.node, of.key, of.value, keys.decode))

  override protected def operate(op: String, m: JsonNode): JsonNode = op match {
    case "put" =>
      store.put(keyOf(m.get(3)), valueOf(m.get(4)), m.get(5).asLong)
      null
    case "delete" =>
      val (k, at) = (keyOf(m.get(3)), m.get(4).asLong)
      val old = store.get(k, at)
      if (store.put(k, null, at) == KeyedTable.Refused) Json.mapper.nullNode else shown(old)
    case _ => super.operate(op, m)
  }
  override protected def rows: Iterator[DumpRow] =
    store.entries.map { case (k, e) => new DumpRow(keys.decode(k), e.value, e.timestamp) }
}
