package org.apache.spark.sql.millrace

import java.util.Collections
import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import org.apache.kafka.clients.admin.{Admin, ListConsumerGroupOffsetsOptions}
import org.apache.kafka.clients.consumer.{ConsumerGroupMetadata, OffsetAndMetadata}
import org.apache.kafka.clients.producer.{KafkaProducer, ProducerRecord}
import org.apache.kafka.common.TopicPartition
import org.apache.kafka.common.serialization.ByteArraySerializer

import org.apache.spark.TaskContext
import org.apache.spark.sql.{classic, Dataset, Row, SparkSession}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.write.{DataWriter, PhysicalWriteInfo, WriterCommitMessage}
import org.apache.spark.sql.connector.write.streaming.{StreamingDataWriterFactory, StreamingWrite}
import org.apache.spark.unsafe.types.UTF8String

/**
 * The sink of a deployment (py4j): `register(options)` returns a name, and a query writes to the sink by
 * `format(KafkaSink.format).option("sink", name)`. options: `{"bootstrap_servers", "client": {Kafka client settings},
 * "run", "guarantee": "at_least_once" | "exactly_once", "graph": the task graph, "real_time": bool, "record_handlers"
 * and the options of Python: see [[StreamTasks]], "outputs": optional, see [[SinkEnds]]}`.
 *
 * Records keep their timestamps and headers; a null value is a tombstone. The partition is the row's own, that of a
 * windowed key's inner key, or the one that Kafka's default partitioner assigns to the key [PL8].
 *
 * All rows of a writer come from one task. at_least_once: idempotent producers; a micro-batch ends when the broker has
 * all of its records. exactly_once: one transaction per task and micro-batch, or one for all tasks of a stream thread
 * ([[EpochTransaction]]). The progress is committed in the same transaction as an offset of the consumer group
 * `millrace-<query id>-task-<task>`, or `…-thread`, so that a batch that is run again after a crash skips what is
 * already written. The query's id comes with its checkpoint.
 *
 * A `fail` handler ends the query when all writers of the batch have written everything before the failing record. The
 * batch is not complete, so the next start begins with it; under exactly_once it skips what is already written.
 */
object KafkaSink {
  val format: String = classOf[KafkaSinkProvider].getName
  private val registered = new ConcurrentHashMap[String, SinkSettings]()

  def register(optionsJson: String): String = {
    val j = Json.mapper.readTree(optionsJson)
    val client = KafkaClient.settings(j.path("client")) + ("bootstrap.servers" -> j.get("bootstrap_servers").asText)
    val nodes =
      j.path("graph").path("nodes").elements.asScala.map(n => n.path("node").asText(n.path("id").asText)).toIndexedSeq
    val run = j.path("run").asText("run")
    val statistics = Reports.of(SparkSession.active, run)
    val realTime = j.path("real_time").asBoolean(false)
    val linger = if (realTime) Map("linger.ms" -> "0") else Map.empty[String, String]
    val name = java.util.UUID.randomUUID.toString
    registered.put(
      name,
      SinkSettings(
        run,
        linger ++ client,
        j.path("guarantee").asText == "exactly_once",
        realTime,
        nodes,
        TaskGraph.settings(j.path("graph")),
        statistics,
        RecordHandlers.parse(j.path("record_handlers")),
        WorkerOptions.parse(j),
        SinkEnds.of(j.path("outputs"), client)
      )
    )
    name
  }

  /** Writes a micro-batch that `foreachBatch` received, as the query's own sink would (py4j). */
  def write(rows: Dataset[Row], name: String, query: String, epoch: Long): Unit = {
    val sink = settings(name)
    val factory = new KafkaWriterFactory(sink, query)
    val messages = rows
      .asInstanceOf[classic.Dataset[Row]]
      .queryExecution
      .toRdd
      .mapPartitionsWithIndex { (partition, batch) =>
        val writer = factory.createWriter(partition, TaskContext.get().taskAttemptId(), epoch)
        try { batch.foreach(writer.write); Iterator(writer.commit()) }
        catch { case e: Exception => writer.abort(); throw e }
        finally writer.close()
      }
      .collect()
    new KafkaStreamingWrite(sink, query).commit(epoch, messages)
  }
  private[millrace] def settings(name: String): SinkSettings = {
    val found = registered.get(name)
    if (found == null) throw new IllegalArgumentException(s"there is no sink $name")
    found
  }

  private val fast = Map(
    "enable.idempotence" -> "true",
    "linger.ms" -> "5",
    "batch.size" -> "131072",
    "compression.type" -> "lz4",
    "delivery.timeout.ms" -> "120000"
  )
  private val plainProducers = new ConcurrentHashMap[Map[String, String], KafkaProducer[Array[Byte], Array[Byte]]]()
  private val transactional = new ConcurrentHashMap[String, Transactional]()

  private def make(settings: Map[String, String]) = new KafkaProducer[Array[Byte], Array[Byte]](
    KafkaClient.properties(fast ++ settings),
    new ByteArraySerializer,
    new ByteArraySerializer
  )

  private[millrace] def shared(client: Map[String, String]): KafkaProducer[Array[Byte], Array[Byte]] =
    plainProducers.computeIfAbsent(client, make(_))

  private[millrace] def transactional(group: String, client: Map[String, String]): Transactional =
    transactional.computeIfAbsent(
      group,
      _ => {
        val p = make(
          client ++ Map(
            "transactional.id" -> group,
            "transaction.timeout.ms" -> client.getOrElse("transaction.timeout.ms", "300000")
          )
        )
        try { p.initTransactions(); new Transactional(p, group, marker(group, client), Host.current) }
        catch { case e: Exception => p.close(java.time.Duration.ZERO); throw e }
      }
    )

  /** The producer of all tasks of a query's stream thread. Its creation ends what an earlier thread has left open. */
  private[millrace] def ofThread(query: String, client: Map[String, String]): Transactional =
    transactional(s"millrace-$query-thread", client)

  /** The producer of a task, which skips also what a stream thread has written. */
  private[millrace] def ofTask(query: String, salt: Int, client: Map[String, String]): Transactional = {
    val before = ofThread(query, client).marker
    val found = transactional(s"millrace-$query-task-$salt", client)
    if (before.epoch > found.marker.epoch) found.marker = before
    found
  }

  /**
   * Creates the producers of a query's tasks while the query starts (py4j). Call it only as the sole owner of the
   * query's checkpoint: the producers fence those of the previous job.
   */
  def open(clientJson: String, query: String, tasks: Int): Unit = {
    val client = KafkaClient.settings(clientJson)
    Internals.salts(tasks).foreach(salt => opening(ofTask(query, salt, client)))
  }

  /** Creates that of a stream thread while it starts, which needs no others. */
  private[millrace] def openThread(query: String, client: Map[String, String]): Unit = {
    closeAll(s"millrace-$query-task-")
    opening(ofThread(query, client))
  }
  private def opening(producer: => Transactional): Unit = {
    val work: Runnable = () =>
      try producer
      catch { case _: Exception => () } // Who needs the producer reports the failure.
    val thread = new Thread(work, "producers")
    thread.setDaemon(true)
    thread.start()
  }

  /** Closes the producers of a run that has ended: the next one may write from another JVM. */
  private[millrace] def forget(run: String): Unit = {
    transactional.values.asScala.filter(_.run == run).foreach(t => discard(t.group))
    registered.values.removeIf(_.run == run)
  }

  /** Closes the transactional producers of a query that has stopped, by its id; the next start creates them (py4j). */
  def close(query: String): Unit = closeAll(s"millrace-$query-")
  private def closeAll(prefix: String): Unit =
    transactional.keySet.asScala.filter(_.startsWith(prefix)).foreach(discard)
  private[millrace] def discard(group: String): Unit = {
    val t = transactional.remove(group)
    if (t != null) t.producer.close(java.time.Duration.ZERO)
  }

  /**
   * Opens and aborts a transaction, to load the classes for it (py4j). Nothing is sent. `group`: a transactional id
   * that no other run has; `topic`: any existing topic.
   */
  def rehearse(clientJson: String, group: String, topic: String): Unit = {
    val client = KafkaClient.settings(clientJson)
    try {
      val t = transactional(group, client)
      t.producer.beginTransaction()
      t.producer.sendOffsetsToTransaction(
        Collections.singletonMap(new TopicPartition(topic, 0), Marker(0L, 0L).offset),
        new ConsumerGroupMetadata(group)
      )
      t.producer.abortTransaction()
    } finally discard(group)
  }

  /**
   * Whether any task of a query has written any part of a batch in a transaction (py4j). `clientJson`: Kafka client
   * settings; `tasks`: shuffle partitions.
   */
  def wroteAfter(clientJson: String, query: String, tasks: Int, epoch: Long): Boolean = {
    val client = KafkaClient.settings(clientJson)
    val groups = s"millrace-$query-thread" +: Internals.salts(tasks).map(salt => s"millrace-$query-task-$salt")
    groups.exists { group =>
      val m =
        try transactional(group, client).marker
        finally discard(group)
      m.epoch > epoch || (m.epoch == epoch && m.rows > 0)
    }
  }

  /**
   * Reads the marker from the offsets that the group has committed, for any topic that a transaction wrote to. Called
   * after `initTransactions`, so no commit is pending.
   */
  private def marker(group: String, client: Map[String, String]): Marker = {
    val admin = Admin.create(KafkaClient.properties(client.filterNot(_._1.startsWith("transaction"))))
    try {
      val found = admin
        .listConsumerGroupOffsets(group, new ListConsumerGroupOffsetsOptions().requireStable(true))
        .partitionsToOffsetAndMetadata()
        .get()
      found.values.asScala
        .filter(_ != null)
        .map(Marker.of)
        .maxByOption(m => (m.epoch, m.rows))
        .getOrElse(Marker(0L, 0L))
    } finally admin.close()
  }
}

/** The progress of a writer: every micro-batch before `epoch` is written, and the first `rows` rows of that one. */
private[millrace] final case class Marker(epoch: Long, rows: Long) {
  def offset: OffsetAndMetadata = new OffsetAndMetadata(epoch, if (rows == 0) "" else rows.toString)
}
private[millrace] object Marker {
  def of(o: OffsetAndMetadata): Marker =
    Marker(o.offset, if (o.metadata == null || o.metadata.isEmpty) 0L else o.metadata.toLong)
}

/**
 * A producer with a transactional id, which is also the name of the consumer group of its marker. `run`: see
 * [[Host.current]].
 */
private[millrace] final class Transactional(
    val producer: KafkaProducer[Array[Byte], Array[Byte]],
    val group: String,
    @volatile var marker: Marker,
    val run: String
) {
  var open = false

  /** Gives up the open transaction, if there is one. */
  def abort(): Unit = if (open)
    try { producer.abortTransaction(); open = false }
    catch { case _: Exception => KafkaSink.discard(group) }
}

private[millrace] final case class SinkSettings(
    run: String,
    client: Map[String, String],
    exactlyOnce: Boolean,
    realTime: Boolean,
    nodes: IndexedSeq[String],
    settings: Settings,
    statistics: RunAccumulator,
    records: RecordHandlers,
    workers: WorkerOptions,
    @transient ends: SinkEnds
) {

  /** The most bytes that the producer sends in one request. */
  val largest: Int = client.get("max.request.size").fold(1 << 20)(_.toInt)
}

/** Instantiated by Spark through its class name. */
class KafkaSinkProvider extends SinkProvider {
  override private[millrace] def write(options: java.util.Map[String, String]): String => StreamingWrite = {
    val sink = KafkaSink.settings(options.get("sink"))
    new KafkaStreamingWrite(sink, _)
  }
}

private[millrace] final class KafkaStreamingWrite(sink: SinkSettings, query: String) extends StreamingWrite {
  override def createStreamingWriterFactory(info: PhysicalWriteInfo): StreamingDataWriterFactory =
    new KafkaWriterFactory(sink, query)
  override def useCommitCoordinator: Boolean = true

  /** A transaction for the results that all tasks of this JVM have in an epoch; None without transactions. */
  def transaction(epoch: Long): Option[EpochTransaction] =
    Option.when(sink.exactlyOnce)(new EpochTransaction(sink, query, epoch))

  /** See [[KafkaSink.openThread]]. */
  def openThread(): Unit = if (sink.exactlyOnce) KafkaSink.openThread(query, sink.client)

  /** Fails a batch in which a record stopped a task: it is written up to that record, and not complete. */
  override def commit(epoch: Long, messages: Array[WriterCommitMessage]): Unit = {
    messages.collectFirst { case w: Written if w.fault != null => throw new StreamStopped(w.fault) }
    if (sink.ends != null) sink.ends.note(epoch, messages.toIndexedSeq.collect { case w: Written => w })
  }
  override def abort(epoch: Long, messages: Array[WriterCommitMessage]): Unit = ()
}

/** A writer's result. `ends`: the offsets that it wrote; `incomplete`: an earlier attempt at the batch wrote more. */
private[millrace] final class Written(val fault: String, val ends: Array[WrittenEnd], val incomplete: Boolean)
    extends WriterCommitMessage

private[millrace] final class KafkaWriterFactory(sink: SinkSettings, query: String) extends StreamingDataWriterFactory {
  override def createWriter(partition: Int, task: Long, epoch: Long): DataWriter[InternalRow] =
    new KafkaWriter(sink, query, partition, epoch)
}

/**
 * Writes the rows that one task has for the sinks in one micro-batch. `shared`: the producer of a transaction with
 * other tasks, which whoever began it commits; null for one of the task's own.
 */
private[millrace] final class KafkaWriter(
    sink: SinkSettings,
    query: String,
    partition: Int,
    epoch: Long,
    shared: Transactional = null
) extends DataWriter[InternalRow] {
  private val report = new TaskReport(0, partition)
  private var producer: KafkaProducer[Array[Byte], Array[Byte]] = _
  private var tx: Transactional = _

  /** The topic of the last record, which the marker needs. */
  private[millrace] var topic: String = _

  /** Whether a record stops the task. */
  private[millrace] def stopped: Boolean = fault != null

  /** The rows of this batch, including those that an earlier attempt wrote. */
  private var rows = 0L
  private var fault: String = _
  private val ends = new WrittenEnds
  private var skipped = false
  @volatile private var error: Exception = _

  override def write(r: InternalRow): Unit = {
    if (error != null) throw error
    val dest = r.getInt(Envelope.DEST)
    if (fault == null && dest != Envelope.CONTROL && dest != Envelope.DUMP) {
      if (dest == Envelope.STOP) fault = r.getUTF8String(Envelope.FAULT).toString
      else if (r.isNullAt(Envelope.FAULT)) {
        val key = Envelope.binary(r, Envelope.KEY)
        val value = Envelope.binary(r, Envelope.VALUE)
        if (!r.isNullAt(Envelope.OUT_TOPIC))
          try
            take(r, topicOf(r)) { topic =>
              sized(
                new ProducerRecord(topic, partitionOf(r), timeOf(r), key, value, Envelope.kafka(Envelope.headers(r)))
              )
            }
          catch {
            case e: ParameterFailure if dest >= 0 => refused(r, e, key, value)
            case e: Unsendable if dest >= 0 => refused(r, e, key, value)
          }
      } else
        SinkRow.met(SinkRow.of(r), sink.settings, sink.statistics).foreach { o =>
          if (o.dest == Envelope.STOP) fault = o.fault
          else
            take(r, o.outTopic) {
              new ProducerRecord(
                _,
                null,
                timeOf(r),
                o.key,
                o.value,
                Envelope.kafka(o.headers.map(h => new Header(h._1, h._2)).toArray)
              )
            }
        }
      stopNow()
    }
  }

  /** Does what the handler of production errors says about a result that the producer would refuse. */
  private def refused(r: InternalRow, e: Exception, key: Array[Byte], value: Array[Byte]): Unit = {
    val (topic, time) = (r.getString(Envelope.TOPIC), r.getLong(Envelope.TIMESTAMP))
    val (partition, offset) = (r.getInt(Envelope.PARTITION), r.getLong(Envelope.OFFSET))
    val record = new FaultRecord(topic, partition, offset, time, key)
    val f = Faults.of("production", sink.nodes(r.getInt(Envelope.DEST)), e, record)
    // The record counts as a row, because another attempt at the batch will find it among the written ones.
    def drop(reason: String): Unit = { report.dropped(f.node, reason, 1L); rows += 1 }
    sink.records.handler(f, sink.settings) match {
      case "continue" => drop(if (sink.settings.production == "continue") f.reason else RecordHandlers.skipped)
      case Settings.function =>
        val headers = Envelope.headers(r)
        val answer = handlers.answer(f, new HandledRecord(topic, partition, offset, time, key, value, headers), null)
        if (!answer.goesOn && sink.records.decision(f, sink.settings).contains("continue")) drop(RecordHandlers.skipped)
        else {
          if (answer.goesOn || !sink.exactlyOnce)
            answer.letters.foreach(l => take(r, sink.settings.deadLetterTopic)(l.record(time)))
          if (!answer.goesOn) fault = answer.fault.json
          else if (answer.letters.isEmpty) drop(f.reason)
          else report.deadLetters(f.node, 1L)
        }
      case _ => fault = f.json
    }
  }
  private var python: PythonWorker = _
  private lazy val handlers = new PythonHandlers(
    sink.settings,
    () => {
      if (python == null || !python.alive) python = new PythonWorker(sink.workers)
      python
    },
    (node, level, message) => report.log(new LogLine(level, node, message))
  )

  /** Refuses a record that is too large before a transaction would be lost. */
  private def sized(record: ProducerRecord[Array[Byte], Array[Byte]]): ProducerRecord[Array[Byte], Array[Byte]] = {
    def length(b: Array[Byte]) = if (b == null) 0 else b.length
    if (length(record.key) + length(record.value) > sink.largest / 2)
      Destination.size(RecordSize.of(record), record.topic, sink.largest)
    record
  }

  /** Ends the query now: in real time, a batch may have minutes to go. Everything before the failure is written. */
  private def stopNow(): Unit = if (fault != null && sink.realTime) {
    commit()
    throw new StreamStopped(fault)
  }

  private def start(r: InternalRow): Unit =
    if (!sink.exactlyOnce) producer = KafkaSink.shared(sink.client)
    else {
      tx = if (shared != null) shared else KafkaSink.ofTask(query, r.getInt(Envelope.TASK), sink.client)
      producer = tx.producer
      if (tx.open && shared == null) fenced { producer.abortTransaction(); tx.open = false }
    }

  /** Whether an earlier attempt at this batch has written the next row. */
  private def written: Boolean =
    tx != null && (epoch < tx.marker.epoch || (epoch == tx.marker.epoch && rows < tx.marker.rows))

  private def take(r: InternalRow, to: String)(
      record: String => ProducerRecord[Array[Byte], Array[Byte]]
  ): Unit = {
    if (producer == null) start(r)
    if (written) skipped = true
    else {
      if (tx != null && !tx.open) { fenced(producer.beginTransaction()); tx.open = true }
      topic = to
      fenced(producer.send(record(to), (m, e) => if (e == null) ends.add(m) else if (error == null) error = e))
    }
    rows += 1
  }

  private def topicOf(r: InternalRow): String = {
    val t = r.getUTF8String(Envelope.OUT_TOPIC)
    if (t != lastTopic) { lastTopic = t.clone(); lastName = t.toString }
    lastName
  }
  private var lastTopic: UTF8String = _
  private var lastName: String = _

  private def timeOf(r: InternalRow): java.lang.Long = {
    val t = if (r.isNullAt(Envelope.TIMESTAMP)) -1L else r.getLong(Envelope.TIMESTAMP)
    if (t < 0) null else t
  }

  /** The partition of a row; null leaves the choice to the producer. */
  private def partitionOf(r: InternalRow): Integer =
    if (!r.isNullAt(Envelope.OUT_PARTITION))
      Destination.partition(r.getInt(Envelope.OUT_PARTITION), topicOf(r), producer.partitionsFor(topicOf(r)).size)
    else if (r.isNullAt(Envelope.PARTITION_KEY)) null
    else Partitioner.partition(r.getBinary(Envelope.PARTITION_KEY), producer.partitionsFor(topicOf(r)).size)

  override def commit(): WriterCommitMessage = {
    if (producer != null && shared == null && (tx == null || tx.open)) fenced(producer.flush())
    if (error != null) fenced(throw error)
    if (tx != null && shared == null && tx.open) {
      val done = if (fault == null) Marker(epoch + 1, 0L) else Marker(epoch, rows)
      fenced {
        producer.sendOffsetsToTransaction(
          Collections.singletonMap(new TopicPartition(topic, 0), done.offset),
          new ConsumerGroupMetadata(tx.group)
        )
        producer.commitTransaction()
      }
      tx.open = false
      tx.marker = done
    }
    sink.statistics.add(report)
    new Written(fault, ends.found, skipped || ends.unknown)
  }

  override def abort(): Unit = if (tx != null && shared == null) tx.abort()

  override def close(): Unit = if (python != null) python.close()

  /**
   * Discards a producer that failed or was fenced because its task had moved. The next attempt creates a new one and
   * reads the marker again.
   */
  private def fenced(body: => Unit): Unit = try body
  catch {
    case e @ (_: org.apache.kafka.common.KafkaException | _: IllegalStateException) if tx != null =>
      KafkaSink.discard(tx.group)
      tx.open = false
      throw e
  }
}
