package org.apache.spark.sql.millrace

import java.util.{Collections, Properties}
import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import org.apache.kafka.clients.consumer.{ConsumerGroupMetadata, KafkaConsumer, OffsetAndMetadata}
import org.apache.kafka.clients.producer.{KafkaProducer, ProducerRecord}
import org.apache.kafka.common.TopicPartition
import org.apache.kafka.common.errors.{InvalidProducerEpochException, ProducerFencedException}
import org.apache.kafka.common.header.internals.RecordHeader
import org.apache.kafka.common.serialization.{ByteArrayDeserializer, ByteArraySerializer}

import org.apache.spark.TaskContext
import org.apache.spark.sql.{ForeachWriter, Row, SparkSession}

/**
 * The sink of a deployment (py4j): writer(options) gives a ForeachWriter over envelope rows. options:
 * `{"bootstrap_servers", "client": {Kafka client settings}, "run", "guarantee": "at_least_once" | "exactly_once", "graph": the task graph}`.
 *
 * Records keep their timestamps and headers; a null value is a tombstone; the partition is the row's, that of the windowed key's inner key, or the one that
 * Kafka's default partitioner gives to the key [PL8].
 * at_least_once: idempotent producers; a micro-batch ends when the broker has all of its records.
 * exactly_once: one transaction per sink partition and micro-batch. The batch's number is committed in the same transaction as an offset of the consumer group
 * `millrace-<query id>`, so that a batch that is run again after a crash skips what it had committed. The query's id comes with its checkpoint.
 */
object KafkaSink {
  def writer(optionsJson: String): ForeachWriter[Row] = {
    val j = Json.mapper.readTree(optionsJson)
    val client = j.path("client").properties.asScala.map(e => e.getKey -> e.getValue.asText).toMap + ("bootstrap.servers" -> j.get("bootstrap_servers").asText)
    val nodes = j.path("graph").path("nodes").elements.asScala.toIndexedSeq
    val plain = nodes.zipWithIndex.collect { case (n, i) if n.get("op").asText == "sink" =>
      i -> new PlainSink(n.path("node").asText, n.path("params").path("label").asText(n.path("node").asText))
    }.toMap
    val topics = nodes.map(_.path("params")).flatMap(p => p.path("topics").elements.asScala.map(_.asText).toSeq ++ Option(p.get("topic")).map(_.asText))
    val spark = SparkSession.active
    val settings = Graph.settings(j.path("graph"))
    new KafkaWriter(client, j.path("guarantee").asText == "exactly_once", topics.headOption.getOrElse("millrace"), plain, settings, Reports.of(spark, j.path("run").asText("run")))
  }

  private val fast = Map("enable.idempotence" -> "true", "linger.ms" -> "5", "batch.size" -> "131072", "compression.type" -> "lz4", "delivery.timeout.ms" -> "120000")
  private val plainProducers = new ConcurrentHashMap[Map[String, String], KafkaProducer[Array[Byte], Array[Byte]]]()
  private val transactional = new ConcurrentHashMap[String, Transactional]()

  private def properties(settings: Map[String, String]): Properties = { val p = new Properties(); settings.foreach { case (k, v) => p.put(k, v) }; p }
  private def make(settings: Map[String, String]) = new KafkaProducer[Array[Byte], Array[Byte]](properties(fast ++ settings), new ByteArraySerializer, new ByteArraySerializer)

  private[millrace] def shared(client: Map[String, String]): KafkaProducer[Array[Byte], Array[Byte]] = plainProducers.computeIfAbsent(client, make(_))

  /** A producer with a transactional id; `committed`: the last micro-batch of its marker. */
  private[millrace] final class Transactional(val producer: KafkaProducer[Array[Byte], Array[Byte]], var committed: Long) { var open = false }

  private[millrace] def transactional(id: String, group: String, marker: TopicPartition, client: Map[String, String]): Transactional =
    transactional.computeIfAbsent(id, _ => {
      val p = make(client ++ Map("transactional.id" -> id, "transaction.timeout.ms" -> client.getOrElse("transaction.timeout.ms", "300000")))
      try { p.initTransactions(); new Transactional(p, committed(group, marker, client)) } catch { case e: Exception => p.close(java.time.Duration.ZERO); throw e }
    })
  private[millrace] def discard(id: String): Unit = { val t = transactional.remove(id); if (t != null) t.producer.close(java.time.Duration.ZERO) }

  private def committed(group: String, marker: TopicPartition, client: Map[String, String]): Long = {
    val settings = client ++ Map("group.id" -> group, "isolation.level" -> "read_committed", "enable.auto.commit" -> "false")
    val c = new KafkaConsumer[Array[Byte], Array[Byte]](properties(settings.filterNot(_._1.startsWith("transaction"))), new ByteArrayDeserializer, new ByteArrayDeserializer)
    try { val o = c.committed(Collections.singleton(marker)).get(marker); if (o == null) -1L else o.offset - 1 } finally c.close()
  }
}

/** A DataFrame's sink: its node, for counts and labels. */
private[millrace] final class PlainSink(val node: String, val label: String) extends Serializable

private[millrace] final class KafkaWriter(client: Map[String, String], exactlyOnce: Boolean, markerTopic: String, plain: Map[Int, PlainSink], settings: Settings,
    statistics: RunAccumulator) extends ForeachWriter[Row] {
  @transient private var producer: KafkaProducer[Array[Byte], Array[Byte]] = _
  @transient private var tx: KafkaSink.Transactional = _
  @transient private var txId: String = _
  @transient private var group: String = _
  @transient private var marker: TopicPartition = _
  @transient private var epoch = 0L
  @transient @volatile private var error: Exception = _
  @transient private var report: TaskReport = _

  override def open(partition: Long, epochId: Long): Boolean = {
    epoch = epochId; error = null; tx = null
    report = new TaskReport(0, partition.toInt)
    if (!exactlyOnce) { producer = KafkaSink.shared(client); true }
    else {
      val query = TaskContext.get().getLocalProperty("sql.streaming.queryId")
      group = s"millrace-$query"
      txId = s"$group-$partition"
      marker = new TopicPartition(markerTopic, partition.toInt)
      tx = KafkaSink.transactional(txId, group, marker, client)
      producer = tx.producer
      if (tx.committed >= epoch) { tx = null; false }
      else {
        fenced { if (tx.open) producer.abortTransaction(); producer.beginTransaction() }
        tx.open = true
        true
      }
    }
  }

  override def process(r: Row): Unit = {
    if (error != null) throw error
    val dest = r.getInt(Envelope.DEST)
    if (dest == Envelope.CONTROL || dest == Envelope.DUMP) ()
    else {
      val own = plain.get(dest)
      val o = if (dest >= 0 && !r.isNullAt(Envelope.FAULT)) SinkRow.met(r, settings, statistics) else SinkRow.of(r)
      own.foreach(s => report.node(s.node, 1L, 1L))
      if (o == null) ()
      else if (o.dest == Envelope.STOP) stop(o.fault)
      else if (o.outTopic == null) own.foreach(s => StreamTask.logger.info("[{}]: {}, {}", s.label, text(o.key), text(o.value)))
      else send(o)
    }
  }

  private def text(b: Array[Byte]): String = if (b == null) "null" else Faults.readable(b)

  private def send(o: Simulation.Out): Unit = {
    val partition: Integer =
      if (o.outPartition != null) o.outPartition
      else if (o.partitionKey != null) Partitioner.partition(o.partitionKey, producer.partitionsFor(o.outTopic).size)
      else null
    val time: java.lang.Long = if (o.timestamp < 0) null else o.timestamp
    val record = new ProducerRecord[Array[Byte], Array[Byte]](o.outTopic, partition, time, o.key, o.value)
    o.headers.foreach { case (k, v) => record.headers().add(new RecordHeader(k, v)) }
    fenced(producer.send(record, (_, e) => if (e != null && error == null) error = e))
  }

  /** What came before the failing record is written; the record itself is not passed over: the query ends, its next start begins with the same batch. */
  private def stop(fault: String): Unit = {
    if (!exactlyOnce) producer.flush()
    throw new StreamStopped(fault)
  }

  override def close(thrown: Throwable): Unit = {
    if (thrown == null && report != null) statistics.add(report)
    if (!exactlyOnce) {
      if (thrown == null && producer != null) { producer.flush(); if (error != null) throw error }
    } else if (tx != null && tx.open) {
      if (thrown == null) fenced {
        producer.flush()
        if (error != null) throw error
        producer.sendOffsetsToTransaction(Collections.singletonMap(marker, new OffsetAndMetadata(epoch + 1)), new ConsumerGroupMetadata(group))
        producer.commitTransaction()
        tx.open = false; tx.committed = epoch
      }
      else try { producer.abortTransaction(); tx.open = false } catch { case _: Exception => KafkaSink.discard(txId) }
    }
  }

  /** A producer that another one replaced (its task had moved) is thrown away; the task's next attempt makes a new one and reads the marker again. */
  private def fenced(body: => Unit): Unit = try body catch {
    case e @ (_: ProducerFencedException | _: InvalidProducerEpochException | _: org.apache.kafka.common.errors.OutOfOrderSequenceException | _: IllegalStateException) =>
      if (txId != null) KafkaSink.discard(txId)
      throw e
    case e: org.apache.kafka.common.KafkaException if txId != null =>
      KafkaSink.discard(txId)
      throw e
  }
}
