package org.apache.spark.sql.millrace

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode

import scala.jdk.CollectionConverters._

import org.apache.kafka.clients.producer.ProducerRecord

/** A function of the document that handles failures. `file`: the file of a program whose lines it has, or empty. */
private[millrace] final case class HandlerFunction(code: String, name: String, file: String)
private[millrace] object HandlerFunction {
  def parse(j: JsonNode): HandlerFunction =
    HandlerFunction(j.get("code").asText, j.get("name").asText, j.path("file").asText(""))
}

/** A record that failed, as a handler gets it. In a punctuation `topic` is null. */
private[millrace] final class HandledRecord(
    val topic: String,
    val partition: Int,
    val offset: Long,
    val timestamp: Long,
    val key: Array[Byte],
    val value: Array[Byte],
    val headers: Headers
)

/** A record that a handler sends to the dead letter topic. `timestamp`: null for that of the failed record. */
private[millrace] final class HandlerLetter(
    val key: Array[Byte],
    val value: Array[Byte],
    val timestamp: java.lang.Long,
    val headers: Headers,
    val partition: Integer
) {
  def outgoing(dest: Int, failed: Long, topic: String): Outgoing =
    new Outgoing(dest, -1, key, value, if (timestamp == null) failed else timestamp, headers, topic, partition)

  /** The record for a topic; `failed`: the timestamp of the failed record in ms. */
  def record(failed: Long)(topic: String): ProducerRecord[Array[Byte], Array[Byte]] = {
    val time: java.lang.Long = if (timestamp != null) timestamp else if (failed < 0) null else failed
    new ProducerRecord(topic, partition, time, key, value, Envelope.kafka(headers))
  }
}

/**
 * What a handler answers: whether the task goes on, and the records to send first. `fault`: with what it stops, which
 * is the handler's own failure if it raised an exception.
 */
private[millrace] final class HandlerAnswer(val goesOn: Boolean, val letters: Seq[HandlerLetter], val fault: Fault)

/**
 * The document's functions that handle failures, in the Python process of a task or a sink. `trace`: that of a
 * simulated task, or null.
 */
private[millrace] final class PythonHandlers(
    settings: Settings,
    worker: () => PythonWorker,
    log: (String, String, String) => Unit,
    trace: () => Trace = () => null
) {
  private var started = Map.empty[String, Long]

  /** Asks the function for this kind of failure. */
  def answer(f: Fault, r: HandledRecord, taskId: String): HandlerAnswer = {
    val asked = new Asked(f)
    try {
      val w = worker()
      val id = s"$$handler/${f.kind}"
      if (started.getOrElse(f.kind, -1L) != w.generation) {
        w.call(asked, start(id, f)); started += f.kind -> w.generation
      }
      w.call(asked, message(id, f, r, taskId))
      asked.found
    } catch { case e: Exception => new HandlerAnswer(goesOn = false, Nil, failed(f, e)) }
  }

  private def start(id: String, f: Fault): ObjectNode = {
    val function = settings.functions(f.kind)
    val m = Json.mapper.createObjectNode().put("call", "handler").put("node", id)
    m.put("kind", f.kind).put("code", function.code).put("function", function.name).put("file", function.file)
    m.put("letters", settings.deadLetterTopic != null && settings.deadLetterTopic.nonEmpty)
    PythonHandlers.addModules(m, settings)
    if (trace() != null) m.replace("breakpoints", trace().breakpoints(s"settings.${f.kind}_function"))
    m
  }

  private def message(id: String, f: Fault, r: HandledRecord, taskId: String): ObjectNode = {
    val m = Json.mapper.createObjectNode().put("call", "handle").put("node", id)
    val o = m.putObject("record")
    o.put("topic", r.topic).put("partition", r.partition).put("offset", r.offset).put("timestamp", r.timestamp)
    o.put("key", r.key).put("value", r.value)
    val headers = o.putArray("headers")
    r.headers.foreach(h => headers.addArray().add(h.key).add(h.value))
    val e = m.putObject("error")
    e.put("kind", f.kind).put("node", f.node).put("parameter", f.parameter).put("exception", f.exception)
    e.put("message", f.message).put("stacktrace", f.stacktrace).put("task_id", taskId)
    m
  }

  /** The failure of the handler itself, which stops the task as Kafka Streams stops. */
  private def failed(f: Fault, e: Exception): Fault = {
    val own = Faults.of(f.kind, f.node, e, f.record)
    val why = Why(
      "handler_failed",
      s"the handler of ${f.kind} errors failed: ${own.message}; it was called for: ${f.message}",
      "reason" -> own.message,
      "failure" -> f.message
    )
    new Fault(
      f.kind,
      f.node,
      s"${f.kind}_function",
      own.code,
      own.exception,
      why.message,
      own.stacktrace,
      f.record,
      why
    )
  }

  /** One call of a handler. */
  private final class Asked(f: Fault) extends PythonCaller {
    var found: HandlerAnswer = _
    override private[millrace] def serve(m: JsonNode): JsonNode = {
      m.get(0).asText match {
        case "handled" =>
          val letters = m.get(2).elements.asScala.map(PythonHandlers.letter).toSeq
          found = new HandlerAnswer(m.get(1).asBoolean, letters, f)
        case "stop" => if (trace() != null) trace().stopped(f.node, m.get(1))
        case "log" => log(f.node, m.get(1).asText, m.get(2).asText)
        case other => throw new IllegalStateException(s"unknown message of a handler: $other")
      }
      null
    }
  }
}

private[millrace] object PythonHandlers {
  def addModules(m: ObjectNode, settings: Settings): Unit =
    if (settings.modules != null) m.replace("modules", Json.mapper.readTree(settings.modules))

  private def letter(j: JsonNode): HandlerLetter = new HandlerLetter(
    bytes(j.get("key")),
    bytes(j.get("value")),
    if (j.get("timestamp").isNull) null else j.get("timestamp").asLong,
    j.get("headers").elements.asScala.map(h => new Header(h.get(0).asText, bytes(h.get(1)))).toArray,
    if (j.get("partition").isNull) null else j.get("partition").asInt
  )
  private def bytes(j: JsonNode): Array[Byte] = if (j.isNull) null else j.binaryValue
}
