package org.apache.spark.sql.millrace

import java.util.{HashMap => JHashMap}

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}

import org.apache.spark.sql.types._

/** The processor API in Python [PA1]..[PA8]: `process`, `process_values`, `global_store`. */
private[millrace] object Processors extends Family {
  override val factories: Map[String, Build => NodeSpec] = Map(
    "process" -> (new PythonSpec(_)),
    "process_values" -> (new PythonSpec(_)),
    "global_store" -> (new GlobalStoreSpec(_))
  )
}

/** A store that a processor may use. Times in ms. */
private[millrace] final class ProcessorStore(val spec: StoreSpec, val key: DataType, val value: DataType)
    extends Serializable {
  def name: String = spec.name

  /** Whether Python shows a row as a value with a timestamp and headers. */
  def headers: Boolean = spec.properties.get("headers").contains("true")
  def long(p: String): Long = spec.long(p).getOrElse(0L)
}

/** A class in Python, with the types of its records and its stores. */
private[millrace] trait PythonSettings extends NodeSpec {
  def in: StreamPort

  /** The inputs, and for each the method that gets its records. */
  def ins: Seq[StreamPort] = Seq(in)
  def methods: Seq[String] = Seq("process")
  def code: String
  def className: String

  /** The file of the code in a program, whose lines it has; empty for the code of a document. */
  def file: String

  /** The arguments that the class is created with, as a JSON object. */
  def arguments: String

  /** Whether forwarded records keep the key. */
  def fixed: Boolean = false
  def outKey: KeyType = in.key
  def outValue: DataType = in.value
  def outPorts: Seq[String] = Nil

  /** The stores that it writes. */
  def stores: Seq[ProcessorStore]

  /** The tables whose stores it reads: the name of each store, and the step that keeps it. */
  def tables: Seq[(String, NodeSpec with StoreOwner)] = Nil

  /** Whether the class only writes its store: it neither forwards nor schedules. */
  def onlyStores: Boolean = false

  override private[millrace] def kept: Seq[KeptRows] = stores.map { s =>
    val cut = s.spec.kind match {
      case "window" => if (s.spec.properties.getOrElse("retain_duplicates", "false").toBoolean) 12 else 8
      case "session" => 16
      case "versioned" => 8
      case _ => 0
    }
    KeptRows(s.spec.state, KeyType(s.key), cut = cut)
  }
}

private[millrace] object PythonSettings {
  def code(b: Build): String = {
    val code = b.text("code")
    if (code.contains("offset")) b.graph.askForOffsets()
    code
  }
  def arguments(b: Build): String = b.opt("arguments").fold("{}")(_.toString)
  def stores(b: Build): Seq[ProcessorStore] = b.elements("stores").map { j =>
    def t(p: String) = try Expressions.parseType(j.path(p).asText(""))
    catch { case e: Expressions.Invalid => b.fail("store", "type", s"$p of ${j.path("name").asText}: ${e.reason}") }
    new ProcessorStore(b.storeOf(j, "key_value"), t("key_type"), t("value_type"))
  }
}

private[millrace] final class PythonSpec(b: Build) extends NodeSpec(b) with PythonSettings {
  override val ins: Seq[StreamPort] = parents.indices.map(b.stream)
  override val in: StreamPort = ins.head
  override val methods: Seq[String] = {
    val ms = b.elements("methods").map(_.asText)
    if (ms.isEmpty) ins.map(_ => "process") else ms
  }
  ins.zip(methods).foreach { case (i, method) =>
    if (method == "process" && i != in)
      b.fail(
        "in",
        "type",
        s"the inputs differ: ${i.key.seen.sql}, ${i.value.sql} and ${in.key.seen.sql}, ${in.value.sql}"
      )
  }
  override val fixed: Boolean = op == "process_values"
  override val code: String = PythonSettings.code(b)
  override val className: String = b.text("class_name")
  override val file: String = b.params.path("file").asText("")
  override val arguments: String = PythonSettings.arguments(b)
  private def output(p: String): Option[DataType] =
    Option(b.params.path("output").get(p)).filterNot(_.isNull).map { t =>
      try Expressions.parseType(t.asText)
      catch { case e: Expressions.Invalid => b.fail("output", "type", e.reason) }
    }
  override val outKey: KeyType = if (fixed) in.key else output("key").map(KeyType(_)).getOrElse(in.key)
  override val outValue: DataType = output("value").getOrElse(in.value)
  override val outPorts: Seq[String] = {
    val ps = b.elements("outputs").map(_.asText); if (ps.isEmpty) Seq("out") else ps
  }
  override val stores: Seq[ProcessorStore] = PythonSettings.stores(b)
  override val tables: Seq[(String, NodeSpec with StoreOwner)] = b.elements("tables").map { j =>
    val owner = b.graph.spec(j.get("step").asText).asInstanceOf[NodeSpec with StoreOwner]
    owner match { case t: TableSpec => t.readable(); case _ => () }
    j.get("name").asText -> owner
  }
  override val ports: Seq[(String, Port)] = outPorts.map(_ -> StreamPort(outKey, outValue))
  override def create(): Node = new PythonNode(this)
}

private[millrace] final class PythonNode(spec: PythonSpec) extends Node(spec) {
  private val python = new PythonCalls(this, spec, (r, port) => if (port == null) forward(r) else forward(r, port))
  override def init(c: TaskContext): Unit = python.init(c)
  override def dumps: Seq[StoreDump] = python.dumps
  override def process(r: Record, input: Int): Unit = {
    val before = sent
    python.process(r, input)
    if (sent == before) ended("no_output")
  }
  override def close(): Unit = python.close()
}

/** A topic that a class in Python reads as a whole, in every task, to fill a store. */
private[millrace] final class GlobalStoreSpec(b: Build) extends GlobalSpec(b) with PythonSettings {
  override val in: StreamPort = StreamPort(key, valueCodec.dataType)
  override val code: String = PythonSettings.code(b)
  override val className: String = b.text("class_name")
  override val file: String = b.params.path("file").asText("")
  override val arguments: String = PythonSettings.arguments(b)
  override val stores: Seq[ProcessorStore] = PythonSettings.stores(b)
  override val store: StoreSettings = StoreSettings.of(stores.head.spec)
  override val onlyStores: Boolean = true
  override def ports: Seq[(String, Port)] = Nil
  override def create(): Node = new GlobalStore(this)
}

private[millrace] final class GlobalStore(s: GlobalStoreSpec) extends SourceNode(s) with ReadableStore {
  private val python = new PythonCalls(this, s, (_, _) => ())

  /** Whether this task reports failures, output and contents: all tasks have the store, Kafka Streams has it once. */
  private var reports = false
  override def init(c: TaskContext): Unit = {
    reports = !s.copy && c.taskId(s.sub).endsWith("_0")
    python.logs = reports
    python.init(c)
  }
  override def process(r: Record, input: Int): Unit =
    // Kafka Streams' global thread has no handler of processing errors: it stops the application.
    try python.process(r, 0)
    catch { case e: Exception if !e.isInstanceOf[Stop] => python.stop(e) }
  override private[millrace] def access: StoreAccess = python.access(s.store.name)
  override def dumps: Seq[StoreDump] = if (reports) python.dumps else Nil
  override def close(): Unit = python.close()
}

/** The calls of a node's class in Python, and its requests. `send` forwards to all ports (null), or to one. */
private[millrace] final class PythonCalls(
    node: Node,
    spec: PythonSettings,
    send: (Record, String) => Unit
) extends PythonCaller {
  private[millrace] val id: String = node.id
  var logs = true
  private def context: TaskContext = node.context
  private def trace: Trace = node.trace
  private var task: StreamTask = _
  private var own: Seq[(String, StoreAccess)] = Nil
  private var stores: Map[String, StoreAccess] = Map.empty
  private val tables: Set[String] = spec.tables.map(_._1).toSet
  private val schedules = new JHashMap[Integer, Schedule]()
  private var generation = -1L

  def init(c: TaskContext): Unit = {
    task = c.asInstanceOf[StreamTask]
    own = spec.stores.map(s => s.name -> StoreAccess.open(s, c, node))
    stores = (own ++ spec.tables.map { case (name, owner) =>
      name -> c.nodeOf(owner.id).asInstanceOf[ReadableStore].access
    }).toMap
    try ready()
    catch { case e: Exception if !e.isInstanceOf[Stop] => stop(e) }
  }
  def dumps: Seq[StoreDump] = own.map(_._2.dump)
  def access(name: String): StoreAccess = stores(name)
  def stop(e: Exception): Nothing = task.stop(node, "processing", e)

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
      task.addModules(m)
      m.replace("arguments", Json.mapper.readTree(spec.arguments))
      m.put("name", node.node)
      m.put("task_id", context.taskId(spec.sub))
      m.put("fixed", spec.fixed)
      m.put("only_stores", spec.onlyStores)
      val ins = m.putArray("inputs")
      spec.ins.zip(spec.methods).foreach { case (in, method) =>
        ins.add(types(in.key.seen, in.value).put("method", method))
      }
      m.replace("out", types(spec.outKey.seen, spec.outValue))
      val ports = m.putArray("ports")
      spec.outPorts.foreach(p => ports.add(p))
      val ss = m.putArray("stores")
      def store(name: String): ObjectNode = {
        val (o, access) = (ss.addObject(), stores(name))
        o.put("name", name)
        o.put("kind", access.store.spec.kind).put("headers", access.store.headers)
        o.replace("types", types(access.store.key, access.store.value))
        o
      }
      spec.stores.foreach(s => store(s.name))
      spec.tables.foreach { case (name, owner) =>
        store(name).put("owner", owner.node).put("timestamps", stores(name).timestamps)
      }
      if (trace != null) m.replace("breakpoints", trace.breakpoints(node.node))
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

  def process(r: Record, input: Int): Unit = {
    val w = ready()
    val m = message("process")
    m.put("input", input)
    m.replace("record", record(r, spec.ins(input)))
    w.call(this, m)
  }

  private def record(r: Record, in: StreamPort): ArrayNode = {
    val a = Json.mapper.createArrayNode()
    a.add(Wire.node(r.key, in.key.seen))
    a.add(Wire.node(r.value, in.value))
    a.add(r.timestamp)
    val hs = a.addArray()
    r.headers.foreach { h =>
      val x = hs.addArray()
      x.add(h.key)
      x.add(h.value)
    }
    a
  }

  private lazy val salt = Draws.hash(s"$id/python/${context.taskId(spec.sub)}")
  private var turn = 0L
  private var drawn = 0L

  /** Another seed for each call of the class. */
  private def seed(): Long = {
    if (turn != context.turn) { turn = context.turn; drawn = 0L }
    drawn += 1
    Draws.seed(context.origin, salt, drawn)
  }

  private def punctuate(number: Int)(now: Long): Unit = {
    val w = ready()
    val m = message("punctuate")
    m.put("schedule", number)
    m.put("now", now)
    w.call(this, m)
  }

  override private[millrace] def serve(m: JsonNode): JsonNode = m.get(0).asText match {
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
      send(out, if (m.get(2).isNull) null else m.get(2).asText)
      null
    case "schedule" =>
      val number = m.get(1).asInt
      schedules.put(
        number,
        context.schedule(
          node,
          m.get(2).asLong,
          m.get(3).asText == "STREAM_TIME",
          if (m.get(4).isNull) None else Some(m.get(4).asLong)
        )(punctuate(number))
      )
      null
    case "cancel" =>
      val s = schedules.remove(m.get(1).asInt)
      if (s != null) s.cancel()
      null
    case "store" =>
      val (name, op) = (m.get(1).asText, m.get(2).asText)
      if (tables(name)) stores(name).read(op, m) else stores(name).serve(op, m)
    case "moment" =>
      val o = Json.mapper.createObjectNode()
      o.put("seed", seed()).put("time", context.processingTime)
    case "log" =>
      if (logs) task.log(node, m.get(1).asText, m.get(2).asText)
      null
    case "stop" =>
      if (trace != null) trace.stopped(node.node, m.get(1))
      null
    case other => throw new IllegalStateException(s"unknown message of the Python worker: $other")
  }

  /** Calls the class's `close`. A failure stops nothing at this point and is logged at the node. */
  def close(): Unit = if (task != null) {
    val w = task.livingWorker
    if (w != null && w.generation == generation) {
      if (w.busy) task.log(node, "warning", "the task ended in the middle of a call: close was not called")
      else
        try w.farewell(this, message("close"))
        catch { case e: Exception => task.log(node, "warning", s"close failed: ${Faults.messageOf(e)}") }
    }
    generation = -1L
  }
}
