package org.apache.spark.sql.millrace

import java.io.{PrintWriter, StringWriter}
import java.util.Base64

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode

import org.apache.kafka.clients.producer.ProducerRecord

import org.apache.spark.SparkThrowable
import org.apache.spark.unsafe.types.UTF8String

/**
 * A failure as data. kind: `deserialization`, `processing`, `production`, `timestamp`, `registry` (the settings'
 * handler of these two is always `fail`) or `dropped` (always `continue`); code: Spark's error condition or one of this
 * project; `record`: the source record with its raw key, or null; `why`: the message as data if it is a sentence of
 * this project, or null.
 */
final class Fault(
    val kind: String,
    val node: String,
    val parameter: String,
    val code: String,
    val exception: String,
    val message: String,
    val stacktrace: String,
    val record: FaultRecord,
    val why: Why
) extends Serializable {
  def json: String = {
    val o = Json.mapper.createObjectNode()
    o.put("kind", kind)
    o.put("node", node)
    o.put("parameter", parameter)
    o.put("code", code)
    o.put("exception", exception)
    o.put("message", message)
    if (stacktrace != null) o.put("stacktrace", stacktrace)
    if (record != null) record.write(o.putObject("record")) else o.putNull("record")
    if (why != null) why.write(o.putObject("cause"))
    Json.mapper.writeValueAsString(o)
  }

  /** The reason under which a dropped record is counted. */
  def reason: String = if (kind == "dropped") code else kind
  def at(r: FaultRecord): Fault = new Fault(kind, node, parameter, code, exception, message, stacktrace, r, why)
}

/** The source record of a failure. `key` is raw bytes. */
final class FaultRecord(
    val topic: String,
    val partition: Int,
    val offset: Long,
    val timestamp: Long,
    val key: Array[Byte]
) extends Serializable {
  def write(o: ObjectNode): Unit = {
    o.put("topic", topic)
    o.put("partition", partition)
    o.put("offset", offset)
    o.put("timestamp", timestamp)
    if (key == null) o.putNull("key") else o.put("key", Faults.readable(key))
  }
}

object Faults {
  def of(kind: String, node: String, thrown: Throwable, record: FaultRecord): Fault = {
    val (parameter, cause, stated) = thrown match {
      case p: ParameterFailure => (p.parameter, p.cause, p.why)
      case e => (null, e, null)
    }
    val why = cause match { case t: Explained => t.why; case _ => stated }
    val code = cause match {
      case s: SparkThrowable if s.getCondition != null => s.getCondition
      case _: BadBytes => "BAD_BYTES"
      case _: RegistryFailure => "registry_failed"
      case _: Unsendable | _: Unwritten => "unsendable"
      case p: PythonFailure => p.pythonType
      case _ => cause.getClass.getSimpleName
    }
    val exception = cause match { case p: PythonFailure => p.pythonType; case _ => cause.getClass.getName }
    val found = cause match {
      case _: RegistryFailure => "registry"
      case _: Unsendable | _: Unwritten => "production"
      case _ => kind
    }
    new Fault(found, node, parameter, code, exception, message(cause), trace(cause), record, why)
  }

  /** The message of a failure, in one line. */
  def messageOf(thrown: Throwable): String = message(thrown match { case p: ParameterFailure => p.cause; case e => e })

  /** Spark's advice to change a setting, which would change results. */
  private[millrace] val advice = """ ?If necessary,? set \S+ to \S+ to bypass this error[^.]*\."""

  /** The first line, without Spark's decorations. */
  private def message(t: Throwable): String =
    String
      .valueOf(t.getMessage)
      .linesIterator
      .find(_.trim.nonEmpty)
      .getOrElse("")
      .replaceFirst("^\\[[A-Z_.0-9]+\\] ", "")
      .replaceFirst(" ?SQLSTATE: [0-9A-Z]{5}$", "")
      .replaceFirst(advice, "")
      .trim

  private def trace(t: Throwable): String = t match {
    case p: PythonFailure => p.traceback
    case _ =>
      val w = new StringWriter()
      t.printStackTrace(new PrintWriter(w))
      w.toString
  }

  def parse(json: String): Fault = {
    val o = Json.mapper.readTree(json)
    def text(n: String) = Option(o.get(n)).filterNot(_.isNull).map(_.asText).orNull
    val r = Option(o.get("record"))
      .filterNot(_.isNull)
      .map(x =>
        new FaultRecord(
          x.path("topic").asText(null),
          x.path("partition").asInt(-1),
          x.path("offset").asLong(-1),
          x.path("timestamp").asLong(-1),
          Option(x.get("key"))
            .filterNot(_.isNull)
            .map(_.asText.getBytes(java.nio.charset.StandardCharsets.UTF_8))
            .orNull
        )
      )
      .orNull
    new Fault(
      text("kind"),
      text("node"),
      text("parameter"),
      text("code"),
      text("exception"),
      text("message"),
      text("stacktrace"),
      r,
      Why.parse(o.get("cause"))
    )
  }

  /** Kafka Streams' headers of a dead letter, after the record's own. */
  def headers(own: Headers, f: Fault, topic: String, partition: Int, offset: Long): Headers = own ++ Seq(
    Headers.text("__streams.errors.exception", f.exception),
    Headers.text("__streams.errors.message", f.message),
    Headers.text("__streams.errors.stacktrace", f.stacktrace),
    Headers.text("__streams.errors.topic", topic),
    Headers.text("__streams.errors.partition", partition.toString),
    Headers.text("__streams.errors.offset", offset.toString)
  )

  def readable(b: Array[Byte]): String =
    try java.nio.charset.StandardCharsets.UTF_8.newDecoder().decode(java.nio.ByteBuffer.wrap(b)).toString
    catch {
      case _: java.nio.charset.CharacterCodingException => Base64.getEncoder.encodeToString(b)
    }
}

/**
 * People's decisions about single records that failed, by topic, partition and offset: `continue` or `dead_letter`,
 * once and instead of the settings' handler if that stops the job. The records are dropped where they fail, as by the
 * settings' handlers, so that everything else that they cause stays the same.
 */
private[millrace] final case class RecordHandlers(decided: Map[(String, Int, Long), String]) {

  /** The handler of a failure. */
  def handler(f: Fault, settings: Settings): String = settings.handler(f.kind) match {
    case own @ ("fail" | Settings.letterThenFail) => decision(f, settings).getOrElse(own)
    case other => other
  }

  /** What a person has decided about the record of a failure that would stop the job. */
  def decision(f: Fault, settings: Settings): Option[String] =
    if (decided.isEmpty || f.record == null || !RecordHandlers.kinds(f.kind)) None
    else
      decided.get((f.record.topic, f.record.partition, f.record.offset)).map {
        case "dead_letter" if settings.deadLetterTopic == null || settings.deadLetterTopic.isEmpty => "fail"
        case found => found
      }
}
private[millrace] object RecordHandlers {
  val none: RecordHandlers = RecordHandlers(Map.empty)

  /** The kinds that a decision can handle. A registry that does not answer is not the fault of one record. */
  val kinds: Set[String] = Set("processing", "deserialization", "timestamp", "production")

  /** The reason under which records that a person decided to drop are counted. */
  val skipped = "skipped_once"

  def parse(json: JsonNode): RecordHandlers = RecordHandlers(json.elements.asScala.map { j =>
    (j.get("topic").asText, j.get("partition").asInt, j.get("offset").asLong) -> j.get("handler").asText
  }.toMap)
}

/**
 * A result that cannot be sent: it has an invalid destination, or is too large. The handler of production errors
 * decides about it.
 */
final class Unsendable(override val why: Why) extends RuntimeException(why.message) with Explained

/** The format of a sink cannot write a result, and the settings have a handler of production errors. */
final class Unwritten(cause: Throwable) extends RuntimeException(cause.getMessage, cause, false, false)

/** Checks results of a sink's expressions that a producer would refuse. */
private[millrace] object Destination {
  private val name = java.util.regex.Pattern.compile("[a-zA-Z0-9._-]{1,249}")

  /**
   * Throws [[Unsendable]] for an invalid topic name. In a simulation, as in Kafka Streams' test driver, any text is
   * valid.
   */
  def topic(t: UTF8String, simulation: Boolean): UTF8String = {
    if (t == null)
      throw new ParameterFailure("topic_expression", new Unsendable(Why("topic_null", "the topic is null")))
    val text = t.toString
    if (!simulation && (!name.matcher(text).matches || text == "." || text == ".."))
      throw new ParameterFailure(
        "topic_expression",
        new Unsendable(
          Why(
            "topic_name",
            s"`${text.take(60)}` is not a valid topic name: use at most 249 letters, digits, `.`, `_` and `-`",
            "topic" -> text.take(60)
          )
        )
      )
    t
  }

  /** Throws [[Unsendable]] for a negative partition. Null leaves the choice to the partitioner. */
  def partition(p: Integer): Integer = {
    if (p != null && p < 0)
      throw new ParameterFailure(
        "partition",
        new Unsendable(Why("partition_negative", s"there is no partition $p", "partition" -> p))
      )
    p
  }

  /** Throws [[Unsendable]] for a record of more bytes than the producer's `max.request.size`. */
  def size(bytes: Int, topic: String, most: Int): Unit = if (bytes > most)
    throw new Unsendable(
      Why(
        "record_too_large",
        s"a record for the topic $topic has $bytes bytes; max.request.size allows $most",
        "topic" -> topic,
        "bytes" -> bytes,
        "most" -> most
      )
    )

  /** Throws [[Unsendable]] for a partition that the topic, with this number of `partitions`, does not have. */
  def partition(p: Int, topic: String, partitions: Int): Integer = {
    if (p >= partitions)
      throw new ParameterFailure(
        "partition",
        new Unsendable(
          Why(
            "partition_beyond",
            s"there is no partition $p: the topic $topic has " +
              s"${if (partitions == 1) "one" else partitions.toString}, numbered from 0",
            "partition" -> p,
            "topic" -> topic,
            "count" -> partitions
          )
        )
      )
    p
  }
}

/** The size of a record as a producer computes it for `max.request.size`: a batch of one record, not compressed. */
private[millrace] object RecordSize {

  /** The bytes of a batch's header, and at most those of a record's own fields. */
  private val overhead = 61 + 21
  def of(r: ProducerRecord[Array[Byte], Array[Byte]]): Int = {
    val headers = r.headers.toArray
    overhead + sized(r.key) + sized(r.value) + varint(headers.length) +
      headers.map(h => sized(h.key.getBytes(java.nio.charset.StandardCharsets.UTF_8)) + sized(h.value)).sum
  }
  private def sized(b: Array[Byte]): Int = if (b == null) varint(-1) else varint(b.length) + b.length

  /** The bytes of a signed number of variable length. */
  private def varint(n: Int): Int = {
    val zigzag = (n << 1) ^ (n >> 31)
    Math.max(1, (38 - Integer.numberOfLeadingZeros(zigzag)) / 7)
  }
}

/** An exception of user Python; the traceback is Python's own text. */
final class PythonFailure(val pythonType: String, message: String, val traceback: String)
    extends RuntimeException(message)

/** Ends the query because a handler is `fail`. The driver finds the fault, as JSON, after the mark. */
final class StreamStopped(val fault: String) extends RuntimeException(s"MILLRACE-FAULT $fault")
