package oracle

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode
import java.time.Duration
import org.apache.kafka.common.header.Headers
import org.apache.kafka.common.header.internals.RecordHeaders
import org.apache.kafka.common.serialization.ByteArraySerializer
import org.apache.kafka.streams.KeyValue
import org.apache.kafka.streams.kstream.Windowed
import org.apache.kafka.streams.kstream.internals.SessionWindow
import org.apache.kafka.streams.processor.{Cancellable, PunctuationType, Punctuator, StateStore}
import org.apache.kafka.streams.processor.api._
import org.apache.kafka.streams.state._
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.catalyst.util.{ArrayData, GenericArrayData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import scala.collection.mutable
import scala.jdk.CollectionConverters._

/** An input of a class in Python: the method that gets its records, and their types. */
case class PythonInput(method: String, key: DataType, value: DataType)

/** A value with the number of its input, where the inputs have methods of their own. */
case class From(input: Int, value: Any)

/** A store of a class in Python. `owner`: the node of a table, whose store it only reads. */
case class PythonStoreSpec(
    name: String,
    kind: String,
    key: DataType,
    value: DataType,
    headers: Boolean,
    owner: Option[String],
    timestamps: Boolean
)

/** A class in Python in a topology of Kafka Streams. `children`: of an output port; Nil for all. */
class PythonSpec(
    val python: Python,
    val node: Node,
    val inputs: Seq[PythonInput],
    val key: KeyType,
    val value: DataType,
    val ports: Seq[String],
    val stores: Seq[PythonStoreSpec],
    val children: String => Seq[String]
)

/** The calls of a class in Python, and what it asks for. */
abstract class PythonCalls(spec: PythonSpec, context: ProcessingContext) {
  private val id = s"${spec.node.id}/${System.identityHashCode(this)}"
  private val schedules = mutable.Map[Int, Cancellable]()
  private val stores =
    spec.stores.map(s => s.name -> new PythonStore(s, context.getStateStore[StateStore](s.name))).toMap
  private var drawn = 0L

  /** `to`: an output port, or null. */
  protected def forward(key: Any, value: Any, timestamp: Long, headers: Headers, to: String): Unit

  def start(): Unit = {
    val m = message("start").put("name", spec.node.id).put("code", spec.node.text("code"))
    m.put("class_name", spec.node.text("class_name")).put("file", "").put("task_id", context.taskId.toString)
    m.put("fixed", spec.node.kind == "process_values").put("only_stores", spec.node.kind == "source.global_store")
    m.set[JsonNode]("arguments", spec.node.opt("arguments").getOrElse(Doc.mapper.createObjectNode()))
    val ins = m.putArray("inputs")
    spec.inputs.foreach(i => ins.add(types(i.key, i.value).put("method", i.method)))
    m.set[JsonNode]("out", types(spec.key.seen, spec.value))
    val ports = m.putArray("ports")
    spec.ports.foreach(ports.add(_))
    val all = m.putArray("stores")
    spec.stores.foreach { s =>
      val o = all.addObject().put("name", s.name).put("kind", s.kind).put("headers", s.headers)
      o.set[JsonNode]("types", types(s.key, PythonStore.rowType(s)))
      s.owner.foreach(o.put("owner", _).put("timestamps", s.timestamps))
    }
    call(m)
  }
  def process(key: Any, value: Any, timestamp: Long, headers: Headers): Unit = {
    val (input, given) = value match { case From(i, v) => (i, v); case v => (0, v) }
    val m = message("process").put("input", input)
    val r = m.putArray("record")
    r.add(Wire.node(KeyType.see(key), spec.inputs(input).key)).add(Wire.node(given, spec.inputs(input).value))
    val hs = r.add(timestamp).addArray()
    headers.forEach(h => { hs.addArray().add(h.key).add(h.value); () })
    drawn = 0L
    call(m)
  }
  def close(): Unit = try call(message("close"))
  catch { case _: PythonFailure => () }

  private def types(key: DataType, value: DataType): ObjectNode = {
    val o = Doc.mapper.createObjectNode()
    o.set[JsonNode]("key", Doc.mapper.readTree(key.json))
    o.set[JsonNode]("value", Doc.mapper.readTree(value.json))
    o
  }
  private def message(name: String): ObjectNode = {
    val m = spec.python.message(name, id)
    val at = context.recordMetadata()
    m.put("topic", at.map[String](_.topic).orElse(null)).put("partition", if (at.isPresent) at.get.partition else -1)
    m.put("offset", if (at.isPresent) at.get.offset else -1L)
    // The processor of a global store has none.
    val streamTime =
      try context.currentStreamTimeMs()
      catch { case _: UnsupportedOperationException => -1L }
    m.put("stream_time", streamTime).put("wall_clock", context.currentSystemTimeMs())
  }
  private def call(m: ObjectNode): Unit = spec.python.call(m)(serve)

  private def serve(m: JsonNode): JsonNode = {
    m.get(0).asText match {
      case "forward" =>
        val r = m.get(1)
        val headers = new RecordHeaders()
        r.get(3).forEach(h => headers.add(h.get(0).asText, if (h.get(1).isNull) null else h.get(1).binaryValue))
        val key = KeyType.unseen(Wire.value(r.get(0), spec.key.seen), spec.key)
        forward(key, Wire.value(r.get(1), spec.value), r.get(2).asLong, headers, m.get(2).textValue)
        null
      case "schedule" =>
        val number = m.get(1).asInt
        schedules(number) = schedule(m.get(2).asLong, PunctuationType.valueOf(m.get(3).asText), m.get(4)) { now =>
          call(message("punctuate").put("schedule", number).put("now", now))
        }
        null
      case "cancel" => schedules.remove(m.get(1).asInt).foreach(_.cancel()); null
      case "store" => stores(m.get(1).asText).serve(m.get(2).asText, m)
      case "moment" =>
        drawn += 1
        val (at, salt) = (context.recordMetadata().get, Draws.hash(s"${spec.node.id}/python/${context.taskId}"))
        Doc.mapper
          .createObjectNode()
          .put("seed", Draws.seed(at.topic, at.partition, at.offset, salt, drawn))
          .put("time", context.currentSystemTimeMs())
      case _ => null // what it prints
    }
  }

  private def schedule(every: Long, clock: PunctuationType, start: JsonNode)(run: Long => Unit): Cancellable = {
    val punctuator: Punctuator = (now: Long) => run(now)
    if (start.isNull) context.schedule(Duration.ofMillis(every), clock, punctuator)
    else
      Processors.scheduled(context, start.asLong, every, clock, punctuator)
  }
}

/** A class in Python behind `process`, and behind a global store. */
class PythonProcessor(spec: PythonSpec) extends Processor[Any, Any, Any, Any] {
  private var calls: PythonCalls = _
  override def init(c: ProcessorContext[Any, Any]): Unit = {
    calls = new PythonCalls(spec, c) {
      override protected def forward(k: Any, v: Any, timestamp: Long, headers: Headers, to: String): Unit = {
        val r = new Record[Any, Any](k, v, timestamp, headers)
        if (to == null || spec.ports == Seq("out")) c.forward(r)
        else spec.children(to).foreach(child => c.forward(r, child))
      }
    }
    calls.start()
  }
  override def process(r: Record[Any, Any]): Unit = calls.process(r.key, r.value, r.timestamp, r.headers)
  override def close(): Unit = if (calls != null) calls.close()
}

/** A class in Python behind `process_values`, which keeps keys. */
class PythonValues(spec: PythonSpec) extends FixedKeyProcessor[Any, Any, Any] {
  private var calls: PythonCalls = _
  override def init(c: FixedKeyProcessorContext[Any, Any]): Unit = {
    calls = new PythonCalls(spec, c) {
      override protected def forward(k: Any, v: Any, timestamp: Long, headers: Headers, to: String): Unit = {
        val r = InternalFixedKeyRecordFactory.create(new Record[Any, Any](k, v, timestamp, headers))
        if (to == null || spec.ports == Seq("out")) c.forward(r)
        else spec.children(to).foreach(child => c.forward(r, child))
      }
    }
    calls.start()
  }
  override def process(r: FixedKeyRecord[Any, Any]): Unit = calls.process(r.key, r.value, r.timestamp, r.headers)
  override def close(): Unit = if (calls != null) calls.close()
}

/** The requests of Python to a store. */
class PythonStore(spec: PythonStoreSpec, store: => StateStore) {
  private lazy val keyed = store.asInstanceOf[KeyValueStore[Any, Any]]
  private lazy val windows = store.asInstanceOf[WindowStore[Any, Any]]
  private lazy val sessions = store.asInstanceOf[SessionStore[Any, Any]]
  private lazy val versions = store.asInstanceOf[VersionedKeyValueStore[Any, Any]]
  private val rowType = PythonStore.rowType(spec)
  private val none = Doc.mapper.nullNode

  def serve(op: String, m: JsonNode): JsonNode = {
    def key(at: Int = 3): Any = Wire.value(m.get(at), spec.key)
    def long(at: Int): Long = m.get(at).asLong
    (spec.kind, op) match {
      case ("key_value", "get") => shown(keyed.get(key()))
      case ("key_value", "get_with_timestamp") => timed(keyed.get(key()))
      case ("key_value", "put") => keyed.put(key(), row(m.get(4))); null
      case ("key_value", "put_if_absent") => shown(keyed.putIfAbsent(key(), row(m.get(4))))
      case ("key_value", "delete") => shown(keyed.delete(key()))
      case ("key_value", "range") =>
        entries(if (m.get(5).asBoolean) keyed.range(key(), key(4)) else keyed.reverseRange(key(), key(4)))
      case ("key_value", "prefix") =>
        val prefix = if (m.get(4).asBoolean) m.get(3).binaryValue else Format.of(spec.key).encode(key())
        entries(keyed.prefixScan[ByteArraySerializer, Array[Byte]](prefix, new ByteArraySerializer))
      case ("key_value", "count") => Doc.mapper.getNodeFactory.numberNode(list(keyed.all()).size)
      case ("window", "put") => windows.put(key(), row(m.get(4)), long(5)); null
      case ("window", "get") => shown(windows.fetch(key(), long(4)))
      case ("window", "get_with_timestamp") => timed(windows.fetch(key(), long(4)))
      case ("window", "fetch") =>
        val found =
          if (m.get(6).asBoolean) windows.fetch(key(), long(4), long(5))
          else windows.backwardFetch(key(), long(4), long(5))
        page(list(found).map { case (start, v) =>
          pair(Doc.mapper.getNodeFactory.numberNode(start.longValue), shown(v))
        })
      case ("window", "all") => windowed(windows.all())
      case ("window", "fetch_all") => windowed(windows.fetchAll(long(3), long(4)))
      case ("session", "put") => sessions.put(session(m), row(m.get(6))); null
      case ("session", "remove") => sessions.remove(session(m)); null
      case ("session", "fetch") => windowed(sessions.fetch(key()))
      case ("session", "find") => windowed(sessions.findSessions(key(), long(4), long(5)))
      case ("versioned", "put") => versions.put(key(), row(m.get(4)), long(5)); null
      case ("versioned", "get") =>
        version(if (m.get(4).isNull) versions.get(key()) else versions.get(key(), long(4)))
      case ("versioned", "delete") =>
        val old = versions.delete(key(), long(4))
        if (old == null) none else shown(old.value)
    }
  }

  private def session(m: JsonNode): Windowed[Any] =
    new Windowed[Any](Wire.value(m.get(3), spec.key), new SessionWindow(m.get(4).asLong, m.get(5).asLong))
  private def shown(v: Any): JsonNode = Wire.node(PythonStore.seen(v), rowType)
  private def timed(v: Any): JsonNode = v match {
    case x: ValueAndTimestamp[_] => pair(shown(x), Doc.mapper.getNodeFactory.numberNode(x.timestamp))
    case _ => none
  }
  private def version(v: VersionedRecord[Any]): JsonNode =
    if (v == null) none else pair(shown(v.value), Doc.mapper.getNodeFactory.numberNode(v.timestamp))

  /** A value from Python as the store takes it. */
  private def row(j: JsonNode): Any = PythonStore.kept(Wire.value(j, rowType), spec)

  private def entries(it: KeyValueIterator[Any, Any]): JsonNode =
    page(list(it).map { case (k, v) => pair(Wire.node(k, spec.key), shown(v)) })
  private def windowed(it: KeyValueIterator[Windowed[Any], Any]): JsonNode = page(list(it).map { case (w, v) =>
    val o = Doc.mapper.createObjectNode()
    o.set[JsonNode]("key", Wire.node(w.key, spec.key))
    val bounds = o.putObject("window").put("start", w.window.start)
    w.window match {
      case _: org.apache.kafka.streams.kstream.internals.UnlimitedWindow => bounds.putNull("end")
      case other => bounds.put("end", other.end)
    }
    pair(o, shown(v))
  })

  /** All rows of an iteration in one page. */
  private def page(rows: Seq[JsonNode]): JsonNode = {
    val made = Doc.mapper.createArrayNode()
    val all = made.addNull().addArray()
    rows.foreach(row => all.add(row))
    made
  }
  private def pair(a: JsonNode, b: JsonNode): JsonNode = Doc.mapper.createArrayNode().add(a).add(b)
  private def list[K, V](it: KeyValueIterator[K, V]): List[(K, V)] = try
    it.asScala.map((kv: KeyValue[K, V]) => (kv.key, kv.value)).toList
  finally it.close()
}

object PythonStore {
  private val headers = ArrayType(new StructType().add("name", StringType).add("value", BinaryType))

  /** The type of a row: of a store with headers, a struct. */
  def rowType(s: PythonStoreSpec): DataType = if (!s.headers) s.value
  else if (s.kind == "session") new StructType().add("aggregation", s.value).add("headers", headers)
  else new StructType().add("value", s.value).add("timestamp", LongType).add("headers", headers)

  /** A row of Kafka Streams as a value of this type. */
  def seen(v: Any): Any = v match {
    case x: ValueAndTimestamp[_] => x.value
    case HeaderStores(value, timestamp, hs) => new GenericInternalRow(Array[Any](value, timestamp, named(hs)))
    case HeaderStores.Aggregation(value, hs) => new GenericInternalRow(Array[Any](value, named(hs)))
    case other => other
  }
  private def named(hs: Headers): ArrayData = new GenericArrayData(
    hs.toArray.map(h => new GenericInternalRow(Array[Any](UTF8String.fromString(h.key), h.value)): Any)
  )

  /** The opposite of [[seen]]. */
  def kept(v: Any, s: PythonStoreSpec): Any = (v, s.headers, s.kind) match {
    case (null, _, _) | (_, false, _) => v
    case (r: InternalRow, _, "session") => HeaderStores.aggregation(r.get(0, s.value), read(r.getArray(1)))
    case (r: InternalRow, _, _) => HeaderStores.row(r.get(0, s.value), r.getLong(1), read(r.getArray(2)))
  }
  private def read(hs: ArrayData): Headers = {
    val made = new RecordHeaders()
    (0 until hs.numElements()).foreach { i =>
      val h = hs.getStruct(i, 2)
      made.add(h.getString(0), if (h.isNullAt(1)) null else h.getBinary(1))
    }
    made
  }
}
