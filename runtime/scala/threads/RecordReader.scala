package org.apache.spark.sql.millrace

import java.time.Duration
import java.util.regex.Pattern

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.kafka.clients.consumer.ConsumerRecord
import org.apache.kafka.common.{KafkaException, TopicPartition}
import org.apache.kafka.common.errors.{InterruptException, TimeoutException, WakeupException}

/**
 * Reads the records of a stream thread. `sources`: the next offsets of each of the query's sources; `pattern`: of
 * topics that it reads beside these.
 */
private[millrace] final class RecordReader(
    client: Map[String, String],
    sources: Seq[Map[TopicPartition, Long]],
    pattern: Option[Pattern]
) {
  import RecordReader._
  private val next = sources.map(mutable.Map.from(_))
  private val (consumer, asking) = (connected(), connected())
  private var checked = System.nanoTime()

  /** Why the query has to take over: the reader cannot go on; null while it can. */
  @volatile var ended: String = _

  /** The numbers of partitions of the topics when the query read them last. */
  private val topics = sources.flatMap(_.keys).groupMapReduce(_.topic)(_ => 1)(_ + _)

  consumer.assign(next.flatMap(_.keys).asJava)
  next.foreach(_.foreach { case (place, offset) => consumer.seek(place, offset) })
  guarded(())(check())

  // A second one asks for topics: on the connection of the first, a request waits for the end of a fetch.
  private def connected() = KafkaClient.consumer(
    client,
    Map(
      "default.api.timeout.ms" -> client.getOrElse("default.api.timeout.ms", "20000"),
      "request.timeout.ms" -> client.getOrElse("request.timeout.ms", "15000"),
      "max.poll.records" -> client.getOrElse("max.poll.records", "10000"),
      // The broker answers at once when there is a record.
      "fetch.max.wait.ms" -> "5000"
    )
  )

  /** Returns records that have arrived, waiting for at most that long for the first. */
  def poll(millis: Long): Iterable[ConsumerRecord[Array[Byte], Array[Byte]]] =
    guarded[Iterable[ConsumerRecord[Array[Byte], Array[Byte]]]](Nil) {
      if (System.nanoTime() - checked > checkMs * 1000000) check()
      consumer.poll(Duration.ofMillis(millis)).asScala
    }

  /** Notes the offsets behind the records that were polled. */
  def advance(): Unit = next.foreach(_.mapValuesInPlace((place, _) => consumer.position(place)))

  /** The next offsets of each source. */
  def offsets: Seq[Map[TopicPartition, Long]] = next.map(_.toMap)

  /** Ends the wait of another thread in [[poll]]. */
  def wakeUp(): Unit = consumer.wakeup()
  def close(): Unit = Seq(consumer, asking).foreach(_.close(Duration.ZERO))

  private def check(): Unit = {
    val found = asking.listTopics(patience).asScala.collect {
      case (topic, partitions) if topics.contains(topic) || pattern.exists(_.matcher(topic).matches) =>
        topic -> partitions.size
    }
    if (found.toMap != topics) ended = "other topic-partitions"
    checked = System.nanoTime()
  }

  private def guarded[T](otherwise: T)(body: => T): T =
    try body
    catch {
      case _: WakeupException => otherwise
      case e: InterruptException => throw e
      case e: TimeoutException => ended = s"the broker does not answer: ${e.getMessage}"; otherwise
      case e: KafkaException => ended = String.valueOf(e.getMessage); otherwise
    }
}

private[millrace] object RecordReader {

  /** The interval at which it is checked that the topics have the same partitions, in ms. */
  @volatile var checkMs = 10000L
  private val patience = Duration.ofSeconds(20)
}
