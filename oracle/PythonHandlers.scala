package oracle

import com.fasterxml.jackson.databind.JsonNode
import java.util.{ArrayList, List => JavaList}
import org.apache.kafka.clients.producer.ProducerRecord
import org.apache.kafka.common.header.Headers
import org.apache.kafka.common.header.internals.RecordHeaders
import scala.collection.mutable

/** A record that failed, as a handler in Python gets it. In a punctuation the topic is null. */
class FailedRecord(
    val topic: String,
    val partition: Int,
    val offset: Long,
    val timestamp: Long,
    val key: Array[Byte],
    val value: Array[Byte],
    val headers: Headers
)

/** What a handler answers: whether the application goes on, and the records to send first. */
class HandlerAnswer(val goesOn: Boolean, val letters: JavaList[ProducerRecord[Array[Byte], Array[Byte]]])

/** The document's functions that handle failures. The handlers of a release call them ([[FunctionHandlers]]). */
class PythonHandlers(doc: Doc, python: => Python) {
  import PythonHandlers._
  private val started = mutable.Set[String]()

  /** `processor`: the processor of Kafka Streams that failed. */
  def answer(kind: String, processor: String, r: FailedRecord, e: Exception): HandlerAnswer = {
    val id = s"$$handler/$kind"
    if (started.add(id)) start(kind, id)
    val m = python.message("handle", id)
    val record = m.putObject("record").put("topic", r.topic).put("partition", r.partition).put("offset", r.offset)
    record.put("timestamp", r.timestamp).put("key", r.key).put("value", r.value)
    val headers = record.putArray("headers")
    r.headers.forEach { h => headers.addArray().add(h.key).add(h.value); () }
    val error = m.putObject("error").put("kind", kind).put("node", doc.nodeOf(processor).getOrElse(processor))
    val hidden = if (kind == "deserialization") unknown :+ "exception" else unknown
    if (!hidden.contains("exception"))
      error.put("exception", e match { case p: PythonFailure => p.kind; case other => other.getClass.getName })
    val names = m.putArray("unknown")
    hidden.foreach(names.add(_))
    var found: HandlerAnswer = null
    var read: Option[String] = None
    try
      python.call(m) { each =>
        each.get(0).asText match {
          case "handled" =>
            val letters = new ArrayList[ProducerRecord[Array[Byte], Array[Byte]]]
            each.get(2).forEach { l => letters.add(letter(l, r.timestamp)); () }
            found = new HandlerAnswer(each.get(1).asBoolean, letters)
          case "unknown" => read = read.orElse(Some(each.get(1).asText))
          case _ => // what it prints
        }
        null
      }
    finally read.foreach(field => Unsupported.whileRunning(s"a handler that reads the error's $field"))
    found
  }

  private def start(kind: String, id: String): Unit = {
    val code = doc.settings.text(s"${kind}_function")
    val function = "(?m)^def (\\w+)".r.findAllMatchIn(code).map(_.group(1)).toSeq.lastOption.getOrElse("")
    val m = python.message("handler", id).put("kind", kind).put("code", code).put("function", function)
    python.call(m.put("file", "").put("letters", doc.settings.textOpt("dead_letter_topic").isDefined))(_ => null)
  }

  /** Its partition is not kept: the driver's topics have one. */
  private def letter(j: JsonNode, failed: Long): ProducerRecord[Array[Byte], Array[Byte]] = {
    val headers = new RecordHeaders()
    j.get("headers").forEach { h => headers.add(h.get(0).asText, bytes(h.get(1))); () }
    val time = if (j.get("timestamp").isNull) failed else j.get("timestamp").asLong
    val topic = doc.settings.text("dead_letter_topic")
    new ProducerRecord(topic, null, Long.box(time), bytes(j.get("key")), bytes(j.get("value")), headers)
  }
}

object PythonHandlers {

  /** The property with the functions of a document. */
  val property = "oracle.handlers"
  val kinds: Seq[String] = Seq("deserialization", "processing")

  /**
   * Fields of the error that cannot be those of the operator: its words, its place in Python, and its tasks. In a
   * source, also the exception, which depends on who reads the bytes. A function that reads one is not run to its end.
   */
  private val unknown = Seq("parameter", "message", "stacktrace", "task_id")

  /** The kinds of failures that a function handles. */
  def used(doc: Doc): Seq[String] = kinds.filter(k => doc.settings.textOpt(s"${k}_handler").contains("function"))

  private def bytes(j: JsonNode): Array[Byte] = if (j.isNull) null else j.binaryValue
}
