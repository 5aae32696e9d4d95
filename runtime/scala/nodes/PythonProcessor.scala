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
