package org.apache.spark.sql.millrace

import java.util.{HashMap => JHashMap}

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}

import org.apache.spark.sql.types._

/** The processor API in Python [PA1]..[PA8]: `process`, `process_values`. */
private[millrace] object Processors extends Family {
  override val factories: Map[String, Build => NodeSpec] =
    Map("process" -> (new PythonSpec(_)), "process_values" -> (new PythonSpec(_)))
}

/** A store that a processor may use. Times in ms. */
private[millrace] final class ProcessorStore(val spec: StoreSpec, val key: DataType, val value: DataType)
    extends Serializable {
  def name: String = spec.name
  def long(p: String): Long = spec.long(p).getOrElse(0L)
}

private[millrace] final class PythonSpec(b: Build) extends NodeSpec(b) {
  private val ins = parents.indices.map(b.stream)
  ins.foreach(i =>
    if (i != ins.head)
      b.fail(
        "in",
        "type",
        s"the inputs differ: ${i.key.seen.sql}, ${i.value.sql} and ${ins.head.key.seen.sql}, ${ins.head.value.sql}"
      )
  )
  val in: StreamPort = ins.head
  val fixed: Boolean = op == "process_values"
  val code: String = b.text("code")
  if (code.contains("offset")) b.graph.askForOffsets()
  val className: String = b.text("class_name")

  /** The file of the code in a program, whose lines it has; empty for the code of a document. */
  val file: String = b.params.path("file").asText("")
  private def output(p: String): Option[DataType] =
    Option(b.params.path("output").get(p)).filterNot(_.isNull).map { t =>
      try Expressions.parseType(t.asText)
      catch { case e: Expressions.Invalid => b.fail("output", "type", e.reason) }
    }
  val outKey: KeyType = if (fixed) in.key else output("key").map(KeyType(_)).getOrElse(in.key)
  val outValue: DataType = output("value").getOrElse(in.value)
  val outPorts: Seq[String] = { val ps = b.elements("outputs").map(_.asText); if (ps.isEmpty) Seq("out") else ps }
  val stores: Seq[ProcessorStore] = b.elements("stores").map { j =>
    def t(p: String) = try Expressions.parseType(j.path(p).asText(""))
    catch { case e: Expressions.Invalid => b.fail("store", "type", s"$p of ${j.path("name").asText}: ${e.reason}") }
    new ProcessorStore(b.storeOf(j, "key_value"), t("key_type"), t("value_type"))
  }
  override val ports: Seq[(String, Port)] = outPorts.map(_ -> StreamPort(outKey, outValue))
  override private[millrace] def kept: Seq[KeptRows] = stores.map { s =>
    val cut = s.spec.kind match {
      case "window" => if (s.spec.properties.getOrElse("retain_duplicates", "false").toBoolean) 12 else 8
      case "session" => 16
      case "versioned" => 8
      case _ => 0
    }
    KeptRows(s.spec.state, KeyType(s.key), cut = cut)
  }
  override def create(): Node = new PythonNode(this)
}

private[millrace] final class PythonNode(spec: PythonSpec) extends Node(spec) {
  private var task: StreamTask = _
  private var stores: Map[String, StoreAccess] = Map.empty
  private val schedules = new JHashMap[Integer, Schedule]()
  private var generation = -1L

  override def init(c: TaskContext): Unit = {
    task = c.asInstanceOf[StreamTask]
    stores = spec.stores.map(s => s.name -> StoreAccess.open(s, c, this)).toMap
    try ready()
    catch { case e: Exception if !e.isInstanceOf[Stop] => task.stop(this, "processing", e) }
  }
  override def dumps: Seq[StoreDump] = spec.stores.map(s => stores(s.name).dump)

  /** Starts the processor in the worker, and again after the worker was lost. */
  private def ready(): PythonWorker = {
    val w = task.worker
    if (generation != w.generation) {
      schedules.values.forEach(_.cancel())
      schedules.clear()
      generation = w.generation
      val m = message("start")
      m.put("code", spec.code)
      m.put("class_name", spec.className)
      m.put("file", spec.file)
      m.put("name", node)
      m.put("task_id", context.taskId(spec.sub))
      m.put("fixed", spec.fixed)
      m.replace("in", types(spec.in.key.seen, spec.in.value))
      m.replace("out", types(spec.outKey.seen, spec.outValue))
      val ports = m.putArray("ports")
      spec.outPorts.foreach(p => ports.add(p))
      val ss = m.putArray("stores")
      spec.stores.foreach { s =>
        val o = ss.addObject()
        o.put("name", s.name)
        o.put("kind", s.spec.kind)
        o.replace("types", types(s.key, s.value))
      }
      if (trace != null) m.replace("breakpoints", trace.breakpoints(this))
      w.call(this, m)
    }
    w
  }
  private def types(key: DataType, value: DataType): ObjectNode = {
    val o = Json.mapper.createObjectNode()
    o.replace("key", Json.mapper.readTree(key.json))
    o.replace("value", Json.mapper.readTree(value.json))
    o
  }

  private def message(call: String): ObjectNode = {
    val m = Json.mapper.createObjectNode()
    m.put("call", call)
    m.put("node", id)
    m.put("topic", if (context.topic == null) null else context.topic.toString)
    m.put("partition", context.partition)
    m.put("offset", context.offset)
    m.put("stream_time", context.streamTime(spec.sub).value)
    m.put("wall_clock", context.wallClock)
    m
  }

  override def process(r: Record, input: Int): Unit = {
    val w = ready()
    val m = message("process")
    m.replace("record", record(r))
    val before = sent
    w.call(this, m)
    if (sent == before) ended("no_output")
  }

  private def record(r: Record): ArrayNode = {
    val a = Json.mapper.createArrayNode()
    a.add(Wire.node(r.key, spec.in.key.seen))
    a.add(Wire.node(r.value, spec.in.value))
    a.add(r.timestamp)
    val hs = a.addArray()
    r.headers.foreach { h =>
      val x = hs.addArray()
      x.add(h.key)
      x.add(h.value)
    }
    a
  }

  private def punctuate(number: Int)(now: Long): Unit = {
    val w = ready()
    val m = message("punctuate")
    m.put("schedule", number)
    m.put("now", now)
    w.call(this, m)
  }

  /** Handles one message of the worker, in order. Returns the answer, or null if the worker does not wait for one. */
  private[millrace] def serve(m: JsonNode): JsonNode = m.get(0).asText match {
    case "forward" =>
      val r = m.get(1)
      val headers = new Array[Header](r.get(3).size)
      headers.indices.foreach(i =>
        headers(i) = new Header(
          r.get(3).get(i).get(0).asText,
          if (r.get(3).get(i).get(1).isNull) null else r.get(3).get(i).get(1).binaryValue
        )
      )
      val out = new Record(
        Wire.value(r.get(0), spec.outKey.seen),
        Wire.value(r.get(1), spec.outValue),
        r.get(2).asLong,
        headers
      )
      if (m.get(2).isNull) forward(out) else forward(out, m.get(2).asText)
      null
    case "schedule" =>
      val number = m.get(1).asInt
      schedules.put(
        number,
        context.schedule(this, m.get(2).asLong, m.get(3).asText == "STREAM_TIME")(punctuate(number))
      )
      null
    case "cancel" =>
      val s = schedules.remove(m.get(1).asInt)
      if (s != null) s.cancel()
      null
    case "store" => stores(m.get(1).asText).serve(m.get(2).asText, m)
    case "log" =>
      task.log(this, m.get(1).asText, m.get(2).asText)
      null
    case "stop" =>
      if (trace != null) trace.stopped(this, m.get(1))
      null
    case other => throw new IllegalStateException(s"unknown message of the Python worker: $other")
  }

  /** Calls the class's `close`. A failure stops nothing at this point and is logged at the node. */
  override def close(): Unit = if (task != null) {
    val w = task.livingWorker
    if (w != null && w.generation == generation) {
      if (w.busy) task.log(this, "warning", "the task ended in the middle of a call: close was not called")
      else
        try w.farewell(this, message("close"))
        catch { case e: Exception => task.log(this, "warning", s"close failed: ${Faults.messageOf(e)}") }
    }
    generation = -1L
  }
}

/** Python's access to a store. `m`: ["store", name, operation, arguments ...]. */
private[millrace] abstract class StoreAccess(s: ProcessorStore) {
  protected val keys: Codec = Codec.of(s.key)
  private val iterators = new JHashMap[Integer, Iterator[JsonNode]]()
  private var opened = 0

  protected def seen: DataType = s.key
  protected def rows: Iterator[DumpRow]
  final def dump: StoreDump = new StoreDump(s.name, s.spec.state, s.spec.node, s.spec.named, seen, s.value, () => rows)
  protected def operate(op: String, m: JsonNode): JsonNode
  final def serve(op: String, m: JsonNode): JsonNode = if (op == "next") page(m.get(3).asInt) else operate(op, m)

  protected def key(j: JsonNode): Array[Byte] = keys.encode(Wire.value(j, s.key))
  protected def keyNode(b: Array[Byte]): JsonNode = Wire.node(keys.decode(b), s.key)
  protected def value(j: JsonNode): Any = Wire.value(j, s.value)
  protected def shown(v: Any): JsonNode = Wire.node(v, s.value)
  protected def pair(a: JsonNode, b: JsonNode): JsonNode = {
    val x = Json.mapper.createArrayNode()
    x.add(a)
    x.add(b)
    x
  }
  protected def windowed(k: Array[Byte], start: Long, end: Long): JsonNode = {
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

private[millrace] object StoreAccess {
  private val pageSize = 500
  def open(s: ProcessorStore, c: TaskContext, owner: Node): StoreAccess = s.spec.kind match {
    case "key_value" => new KeyValueAccess(s, c)
    case "window" => new WindowAccess(s, c, owner)
    case "session" => new SessionAccess(s, c, owner)
    case "versioned" => new VersionedAccess(s, c, owner)
    case other =>
      throw new Refused(owner.node, "store", Why("kind", s"${s.name} is a store of an unknown kind: $other"))
  }
}

private final class KeyValueAccess(s: ProcessorStore, c: TaskContext) extends StoreAccess(s) {
  private val store = c.store(s.spec.state, s.value, ordered = true)
  c.show(s.spec.state, new StoreView(s.name, s.spec.node, s.key, s.value, keys.decode, timed = false))
  private def show(e: Entry): JsonNode = if (e == null) Json.mapper.nullNode else shown(e.value)
  private def bound(j: JsonNode): Array[Byte] = if (j.isNull) null else key(j)
  private def upper(j: JsonNode): Array[Byte] = if (j.isNull) null else Bytes.next(key(j))
  private def entries(it: Iterator[(Array[Byte], Entry)]): JsonNode = iterate(it.map { case (k, e) =>
    pair(keyNode(k), shown(e.value))
  })

  override protected def operate(op: String, m: JsonNode): JsonNode = op match {
    case "get" => show(store.get(key(m.get(3))))
    case "put" =>
      store.put(key(m.get(3)), value(m.get(4)), 0L)
      null
    case "put_if_absent" =>
      val k = key(m.get(3))
      val old = store.get(k)
      if (old == null) store.put(k, value(m.get(4)), 0L)
      show(old)
    case "delete" =>
      val k = key(m.get(3))
      val old = store.get(k)
      if (old != null) store.delete(k)
      show(old)
    case "range" => entries(store.range(bound(m.get(3)), upper(m.get(4)), ascending = m.get(5).asBoolean))
    case "prefix" =>
      val p = if (m.get(4).asBoolean) m.get(3).binaryValue else key(m.get(3))
      entries(store.range(p, Bytes.after(p)))
    case "count" => Json.mapper.getNodeFactory.numberNode(store.size)
  }
  override protected def rows: Iterator[DumpRow] =
    store.all.map { case (k, e) => new DumpRow(keys.decode(k), e.value, null) }
}

private final class WindowAccess(s: ProcessorStore, c: TaskContext, owner: Node) extends StoreAccess(s) {
  private val size = s.long("window_size")
  private val store = new KeyFirstWindows(
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
  private def times(it: Iterator[WindowEntry]): JsonNode = iterate(
    it.map(w => pair(Json.mapper.getNodeFactory.numberNode(w.start), shown(w.entry.value)))
  )
  private def windows(it: Iterator[WindowEntry]): JsonNode = iterate(
    it.map(w => pair(windowed(w.key, w.start, w.start + size), shown(w.entry.value)))
  )

  override protected def operate(op: String, m: JsonNode): JsonNode = op match {
    case "put" =>
      store.put(key(m.get(3)), m.get(5).asLong, value(m.get(4)), 0L)
      null
    case "get" =>
      val e = store.fetch(key(m.get(3)), m.get(4).asLong)
      if (e == null) Json.mapper.nullNode else shown(e.value)
    case "fetch" => times(store.fetch(key(m.get(3)), m.get(4).asLong, m.get(5).asLong, ascending = m.get(6).asBoolean))
    case "all" => windows(store.scan(Long.MinValue, Long.MaxValue))
    case "fetch_all" => windows(store.scan(m.get(3).asLong, m.get(4).asLong))
  }
  override protected def seen: DataType = Windowed.typeOf(s.key)
  override protected def rows: Iterator[DumpRow] =
    store.all.map(w => new DumpRow(Windowed(keys.decode(w.key), w.start, w.start + size), w.entry.value, null))
}

private final class SessionAccess(s: ProcessorStore, c: TaskContext, owner: Node) extends StoreAccess(s) {
  private val store =
    new SessionTable(c, owner, StoreSettings.of(s.spec), s.value, s.long("retention"), timeOrdered = false)
  store.show(Windowed.typeOf(s.key), (k, start, end) => Windowed(keys.decode(k), start, end))
  private def sessions(it: Iterator[SessionEntry]): JsonNode = iterate(
    it.map(e => pair(windowed(e.key, e.start, e.end), shown(e.value)))
  )

  override protected def operate(op: String, m: JsonNode): JsonNode = op match {
    case "put" =>
      store.put(key(m.get(3)), m.get(4).asLong, m.get(5).asLong, value(m.get(6)))
      null
    case "remove" =>
      store.remove(key(m.get(3)), m.get(4).asLong, m.get(5).asLong)
      null
    case "fetch" => sessions(store.find(key(m.get(3)), 0L, Long.MaxValue))
    case "find" => sessions(store.find(key(m.get(3)), m.get(4).asLong, m.get(5).asLong))
  }
  override protected def seen: DataType = Windowed.typeOf(s.key)
  override protected def rows: Iterator[DumpRow] =
    store.all.map(e => new DumpRow(Windowed(keys.decode(e.key), e.start, e.end), e.value, null))
}

private final class VersionedAccess(s: ProcessorStore, c: TaskContext, owner: Node) extends StoreAccess(s) {
  private val store = new VersionedTable(c, owner, s.spec.state, s.value, s.long("history_retention"))
  c.show(s.spec.state, store.view(s.name, s.spec.node, s.key, s.value, keys.decode))
  private def show(e: Entry): JsonNode =
    if (e == null) Json.mapper.nullNode else pair(shown(e.value), Json.mapper.getNodeFactory.numberNode(e.timestamp))

  override protected def operate(op: String, m: JsonNode): JsonNode = op match {
    case "put" =>
      store.put(key(m.get(3)), value(m.get(4)), m.get(5).asLong)
      null
    case "get" => show(if (m.get(4).isNull) store.get(key(m.get(3))) else store.get(key(m.get(3)), m.get(4).asLong))
    case "delete" =>
      val (k, at) = (key(m.get(3)), m.get(4).asLong)
      val old = store.get(k, at)
      if (store.put(k, null, at) == KeyedTable.Refused || old == null) Json.mapper.nullNode else shown(old.value)
  }
  override protected def rows: Iterator[DumpRow] =
    store.entries.map { case (k, e) => new DumpRow(keys.decode(k), e.value, e.timestamp) }
}
