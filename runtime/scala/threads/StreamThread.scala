package org.apache.spark.sql.millrace

import java.time.Duration
import java.util.{Properties, UUID}
import java.util.concurrent.{Callable, ConcurrentHashMap, Executors, Future}
import java.util.regex.Pattern

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode

import org.apache.kafka.clients.consumer.{ConsumerRecord, KafkaConsumer}
import org.apache.kafka.common.{KafkaException, TopicPartition}
import org.apache.kafka.common.errors.{InterruptException, TimeoutException, WakeupException}
import org.apache.kafka.common.serialization.ByteArrayDeserializer

import org.apache.spark.sql.{classic, SparkSession}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.write.{DataWriter, PhysicalWriteInfo, WriterCommitMessage}
import org.apache.spark.sql.connector.write.streaming.{StreamingDataWriterFactory, StreamingWrite}
import org.apache.spark.sql.execution.streaming.checkpointing.{CommitMetadataBase, OffsetSeq, OffsetSeqMetadata}
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExec
import org.apache.spark.sql.execution.streaming.runtime.{
  MicroBatchExecution,
  SerializedOffset,
  StreamExecution,
  StreamingQueryWrapper
}
import org.apache.spark.sql.execution.streaming.state.{OpenedState, StateStoreConf}
import org.apache.spark.sql.streaming.{
  SinkProgress,
  SourceProgress,
  StreamingQuery,
  StreamingQueryException,
  StreamingQueryProgress,
  StreamingQueryStatus
}
import org.apache.spark.unsafe.types.UTF8String

/**
 * Continues a query with few records in a thread of its own (py4j): the thread polls, processes and commits, as one of
 * Kafka Streams does, without Spark tasks. An *epoch*, from one commit to the next, is a micro-batch of the query: its
 * number, offsets, state and results are those that the query would have written, in the same files of the checkpoint.
 * So each can go on where the other stopped, and an epoch that is not committed is a micro-batch that runs again.
 *
 *   - `fits(query)`: whether a stream thread can continue the query, once it has stopped
 *   - `start(query, readings, client, pattern)`: continues a query that has stopped; `readings`: see [[SourceRows]],
 *     `client`: settings of a Kafka client, `pattern`: of topics that are read beside those with a name, or null.
 *     Returns null if the query has begun a micro-batch that it has not completed
 *   - `left(query)`: why a thread that has ended without an error left its work to the query, or null
 */
object StreamThread {

  /** The time from one commit to the next, in ms: under exactly once, where results wait for it, and else. */
  private[millrace] val exactlyOnceMs = 100L
  private[millrace] val atLeastOnceMs = 1000L

  /** The records of an epoch that a query with all its Spark tasks processes faster, if several are so large. */
  @volatile private var many = 20000

  /** The epochs whose offsets and state the checkpoint keeps. */
  private val kept = 400L
  private val manyTimes = 3

  /** The interval at which it is checked that the topics have the same partitions, in ms. */
  @volatile private var checkMs = 10000L

  /** Sets these limits, for tests. */
  def limit(records: Int, millis: Long): Unit = { many = records; checkMs = millis }
  private[millrace] val patience = Duration.ofSeconds(20)

  private val threads = new ConcurrentHashMap[String, StreamThread]()

  def fits(query: StreamingQuery): Boolean = executionOf(query).exists { own =>
    // In a shared JVM, the host has to tell the runs apart by their Spark tasks.
    Host.current == null && own.sparkSession.sparkContext.isLocal && own.resolvedCheckpointRoot.startsWith("file:") &&
    own.sink.isInstanceOf[EnvelopeTable] && levelsOf(own).nonEmpty &&
    own.committedOffsets.keys.forall(_.getClass.getSimpleName == "KafkaMicroBatchStream") && {
      val read = own.committedOffsets.values.toSeq.flatMap(o => places(o.json).keys)
      read.nonEmpty && read.distinct.size == read.size
    }
  }

  def start(query: StreamingQuery, readings: String, client: String, pattern: String): StreamingQuery =
    executionOf(query)
      .filter(own => own.offsetLog.getLatest().map(_._1) == own.commitLog.getLatest().map(_._1))
      .map { own =>
        val kafka = Json.mapper.readTree(client).properties.asScala.map(e => e.getKey -> e.getValue.asText).toMap
        val thread = new StreamThread(
          own,
          levelsOf(own),
          Json.mapper.readTree(readings).elements.asScala.map(new ThreadReading(_)).toSeq,
          kafka,
          Option(pattern).map(Pattern.compile)
        )
        thread.begin()
        thread
      }
      .orNull

  def left(query: StreamingQuery): String = query match {
    case t: StreamThread => t.leaving
    case _ => null
  }

  /** Stops the thread of a run, if it has one. */
  private[millrace] def stop(run: String): Unit = Option(threads.get(run)).foreach(_.stop())

  private def executionOf(query: StreamingQuery): Option[MicroBatchExecution] = query match {
    case w: StreamingQueryWrapper => executionOf(w.streamingQuery)
    case own: MicroBatchExecution => Some(own)
    case _ => None
  }

  /** The operators of a query's last micro-batch, by level; empty if it had none, or others than ours. */
  private def levelsOf(own: MicroBatchExecution): Seq[(LevelProcessor, TransformWithStateExec)] =
    if (own.lastExecution == null) Nil
    else {
      val found = own.lastExecution.executedPlan.collect { case e: TransformWithStateExec => e }
      val levels = found.map(_.statefulProcessor: Any).collect { case l: LevelProcessor => l }
      if (levels.size < found.size || levels.exists(_.options.realTime)) Nil
      else levels.zip(found).sortBy(_._1.level)
    }

  /** The offsets of a source, by topic-partition. */
  private[millrace] def places(json: String): Map[TopicPartition, Long] = (for {
    topic <- Json.mapper.readTree(json).properties.asScala
    place <- topic.getValue.properties.asScala
  } yield new TopicPartition(topic.getKey, place.getKey.toInt) -> place.getValue.asLong).toMap

  private[millrace] def json(places: Iterable[(TopicPartition, Long)]): String = {
    val out = Json.mapper.createObjectNode()
    places.toSeq.sortBy { case (p, _) => (p.topic, p.partition) }.foreach { case (p, offset) =>
      Option(out.get(p.topic))
        .getOrElse(out.putObject(p.topic))
        .asInstanceOf[com.fasterxml.jackson.databind.node.ObjectNode]
        .put(p.partition.toString, offset)
    }
    Json.mapper.writeValueAsString(out)
  }

  /** Up to so many ms are added to the time between two commits under exactly once, the fewer records a second come. */
  private[millrace] val fewMs = 150L
  private[millrace] val few = 200.0

  private def consumer(client: Map[String, String]) = Map(
    "default.api.timeout.ms" -> client.getOrElse("default.api.timeout.ms", "20000"),
    "request.timeout.ms" -> client.getOrElse("request.timeout.ms", "15000"),
    "max.poll.records" -> client.getOrElse("max.poll.records", "10000"),
    // The broker answers at once when there is a record.
    "fetch.max.wait.ms" -> "5000",
    "enable.auto.commit" -> "false",
    "auto.offset.reset" -> "none",
    "allow.auto.create.topics" -> "false"
  )

  private val workers = Executors.newCachedThreadPool { r =>
    val t = new Thread(r, "millrace-commit")
    t.setDaemon(true)
    t
  }
  private def background(work: => Unit): Future[Unit] = workers.submit((() => work): Callable[Unit])

  /** Waits for all of them, and throws what the first that failed has thrown. */
  private def await(all: Seq[Future[Unit]]): Unit = {
    val failed = all.flatMap { f =>
      try { f.get(); None }
      catch { case e: java.util.concurrent.ExecutionException => Some(e.getCause) }
    }
    failed.headOption.foreach(throw _)
  }
}

/** A source node: the records that it reads, and the tasks that take them; see [[SourceRows]]. */
private[millrace] final class ThreadReading(j: JsonNode) {
  private val (dest, tasks, everywhere) = (j.get("dest").asInt, j.get("tasks").asInt, j.get("everywhere").asBoolean)
  private val topics = j.get("topics").elements.asScala.map(_.asText).toSet
  private val pattern = Option(j.get("pattern").textValue).map(Pattern.compile)

  /** Adds the rows of a record. `taken`: its processing time. */
  def add(
      r: ConsumerRecord[Array[Byte], Array[Byte]],
      merge: Long,
      taken: Long,
      options: TaskOptions,
      to: mutable.ArrayBuffer[InternalRow]
  ): Unit = if (topics(r.topic) || pattern.exists(_.matcher(r.topic).matches)) {
    val headers = r.headers.toArray.map(h => new Header(h.key, h.value))
    val topic = UTF8String.fromString(r.topic)
    (if (everywhere) 0 until options.partitions else Seq(r.partition % tasks)).foreach { task =>
      to += Envelope.row(
        new Outgoing(dest, task, r.key, r.value, r.timestamp, headers),
        null,
        options.salt(task),
        merge,
        topic,
        r.partition,
        r.offset,
        Array.emptyByteArray,
        r.timestamp,
        taken
      )
    }
  }
}

/** The offsets of one of the query's sources. */
private final class SourceOffsets(before: String) {
  val places: mutable.Map[TopicPartition, Long] = mutable.Map.from(StreamThread.places(before))
  def json: String = StreamThread.json(places)
}

private[millrace] final class StreamThread(
    own: MicroBatchExecution,
    levels: Seq[(LevelProcessor, TransformWithStateExec)],
    readings: Seq[ThreadReading],
    client: Map[String, String],
    pattern: Option[Pattern]
) extends StreamingQuery {
  import StreamThread._

  private val session: classic.SparkSession = own.sparkSession
  private val options = levels.head._1.options
  private val statistics = levels.head._1.statistics
  private val specs = levels.map(_._1.spec.read())
  private val exactlyOnce = specs.head.settings.exactlyOnce
  private val run = UUID.randomUUID
  private val write: StreamingWrite = own.sink.asInstanceOf[EnvelopeTable].writeOf(own.id.toString)
  private val writers: StreamingDataWriterFactory = write.createStreamingWriterFactory(new PhysicalWriteInfo {
    override def numPartitions: Int = options.partitions
  })
  private val (lastOffsets, lastCommit) = (own.offsetLog.getLatest().get, own.commitLog.getLatest().get)
  private val offsetsBefore: OffsetSeq = lastOffsets._2.asInstanceOf[OffsetSeq]
  private val sources: Seq[SourceOffsets] = offsetsBefore.offsets.map(o => new SourceOffsets(o.get.json))
  private var committed: CommitMetadataBase = lastCommit._2
  @volatile private var batch: Long = lastCommit._1 + 1

  // ---- states ----

  private object states extends ChainStates {
    private val conf = {
      val c = session.sessionState.conf.clone()
      val own = "spark.sql.streaming.stateStore"
      c.setConfString("spark.sql.streaming.minBatchesToRetain", StreamThread.kept.toString)
      // The epochs between two snapshots. Each epoch lists those since the last one.
      c.setConfString(s"$own.minDeltasForSnapshot", "100")
      // Commits are awaited here, and the driver is not told of each.
      c.setConfString(s"$own.commitValidation.enabled", "false")
      // Checksums are written by the threads that commit.
      c.setConfString(s"$own.fileChecksumThreadPoolSize", "0")
      new StateStoreConf(c, Map.empty)
    }
    private val hadoop = {
      val h = session.sessionState.newHadoopConf()
      h.set(StreamExecution.RUN_ID_KEY, run.toString)
      h
    }
    private val opened: Map[(Int, Int), OpenedState] = levels.flatMap { case (level, exec) =>
      (0 until options.partitions).map(i =>
        (level.level, i) -> new OpenedState(exec, run, i, options.salt(i), conf, hadoop)
      )
    }.toMap
    private val ids = mutable.Map[(Long, Int), String]()
    committed.stateUniqueIds.getOrElse(Map.empty).foreach { case (operator, of) =>
      of.zipWithIndex.foreach { case (id, partition) => ids((operator, partition)) = id.head }
    }

    def begin(): Unit = opened.foreach { case ((_, i), s) => s.begin(batch, ids.get((s.operator, i))) }
    override def state(level: Int, index: Int): StateHandle = new MapHandle(
      opened((level, index)).mapState(LevelProcessor.open)
    )

    /** Begins to write the changes of all tasks. */
    def commit(): Seq[Future[Unit]] = opened.toSeq.map { case ((_, i), s) =>
      StreamThread.background {
        val id = s.commit()
        ids.synchronized(ids((s.operator, i)) = id)
      }
    }

    /** The ids of the last version, by operator and task. */
    def written: Map[Long, Array[Array[String]]] = opened.values.toSeq
      .map(_.operator)
      .distinct
      .map { operator =>
        operator -> Array.tabulate(options.partitions)(i => Array(ids((operator, i))))
      }
      .toMap
    def close(): Unit = {
      opened.values.foreach(_.abort())
      opened.values.foreach(_.close())
      OpenedState.forget(session, run)
    }
  }

  private val chain = new TaskChain(specs, options, statistics.add, states)

  // ---- the thread ----

  @volatile private var stopping = false
  @volatile private[millrace] var leaving: String = _
  @volatile private var active = true
  @volatile private var busy = false
  @volatile private var death: StreamingQueryException = _
  @volatile private var consumer: KafkaConsumer[Array[Byte], Array[Byte]] = _
  @volatile private var idleSince = System.nanoTime()

  private val thread = new Thread(
    () => work(),
    s"stream thread of ${options.run}"
  )

  private def begin(): Unit = {
    threads.put(options.run, this)
    thread.setDaemon(true)
    thread.start()
  }

  private def work(): Unit =
    try {
      classic.SparkSession.setActiveSession(session)
      consumer = connected()
      asking = connected()
      assign()
      while (!stopping && leaving == null) round()
      if (open) commit()
    } catch { case e: Throwable => if (!(stopping && e.isInstanceOf[InterruptedException])) die(e) }
    finally {
      try close()
      finally {
        threads.remove(options.run, this)
        active = false
      }
    }

  private def die(e: Throwable): Unit = {
    StreamTask.logger.error(s"The stream thread of ${options.run} ended with an error.", e)
    death = new StreamingQueryException(
      String.valueOf(e.getMessage),
      e,
      "STREAM_FAILED",
      Map("id" -> id.toString, "runId" -> runId.toString, "message" -> String.valueOf(e.getMessage))
    )
  }

  private def close(): Unit = {
    current.values.foreach { w =>
      try { w.abort(); w.close() }
      catch { case _: Exception => () }
    }
    try chain.restart()
    finally {
      Reports.log(options.run, chain.takeClosed())
      states.close()
      Seq(consumer, asking).filter(_ != null).foreach(_.close(Duration.ZERO))
    }
  }

  // ---- reading ----

  private def connected() = {
    val p = new Properties()
    (client - "group.id" ++ StreamThread.consumer(client)).foreach { case (name, value) => p.put(name, value) }
    new KafkaConsumer(p, new ByteArrayDeserializer, new ByteArrayDeserializer)
  }

  private val sourceOf: Map[TopicPartition, SourceOffsets] = sources.flatMap(s => s.places.keys.map(_ -> s)).toMap
  private val topics = sourceOf.keySet.map(_.topic)
  private var shape: Map[String, Int] = _

  /** Asks for topics: on the connection of the other one, a request waits for the record that ends a fetch. */
  @volatile private var asking: KafkaConsumer[Array[Byte], Array[Byte]] = _
  private var checked = System.nanoTime()

  private def assign(): Unit = {
    consumer.assign(sourceOf.keySet.asJava)
    sources.foreach(_.places.foreach { case (place, offset) => consumer.seek(place, offset) })
    shape = shapeNow()
    if (shape != topics.map(t => t -> sourceOf.keysIterator.count(_.topic == t)).toMap)
      leaving = "other topic-partitions"
  }

  /** The numbers of partitions of the topics. */
  private def shapeNow(): Map[String, Int] = asking
    .listTopics(patience)
    .asScala
    .collect { case (t, found) if topics(t) || pattern.exists(_.matcher(t).matches) => t -> found.size }
    .toMap

  private def check(): Unit = if (System.nanoTime() - checked > checkMs * 1000000) {
    if (shapeNow() != shape) leaving = "other topic-partitions"
    checked = System.nanoTime()
  }

  /** Polls for at most that long; notes why the query has to take over if the consumer cannot go on. */
  private def poll(millis: Long): Iterable[ConsumerRecord[Array[Byte], Array[Byte]]] =
    try { check(); consumer.poll(Duration.ofMillis(millis)).asScala }
    catch {
      case _: WakeupException => Nil
      case e: InterruptException => throw e
      case e: TimeoutException => leaving = s"the broker does not answer: ${e.getMessage}"; Nil
      case e: KafkaException => leaving = String.valueOf(e.getMessage); Nil
    }

  // ---- epochs ----

  private var open = false
  private var openSince = 0L
  private var committedAt = System.nanoTime()
  private var timestamp = 0L
  private var epochRecords = 0L
  private var largeEpochs = 0
  private var rate = 0.0
  private val current = mutable.Map[Int, DataWriter[InternalRow]]()
  private val messages = mutable.ArrayBuffer[WriterCommitMessage]()
  private val before = mutable.LinkedHashMap[SourceOffsets, String]()

  private def millisSince(nanos: Long): Long = (System.nanoTime() - nanos) / 1000000

  /** Processes the records that have arrived. At least once: at once; exactly once: those of a whole epoch. */
  private def round(): Unit = {
    val found =
      mutable.ArrayBuffer.from(poll(if (open) Math.max(0L, atLeastOnceMs - millisSince(openSince)) else 1000L))
    if (found.nonEmpty && exactlyOnce) {
      var left = pauseMs - millisSince(committedAt)
      while (left > 0 && found.size < many && !stopping && leaving == null) {
        found ++= poll(left)
        left = pauseMs - millisSince(committedAt)
      }
    }
    if (found.nonEmpty) {
      busy = true
      if (!open) begun()
      process(found)
    }
    if (open && (exactlyOnce || millisSince(openSince) >= atLeastOnceMs)) commit()
    busy = false
  }

  /** The time from one commit to the next. Few records may wait a little longer, which saves commits. */
  private def pauseMs: Long = exactlyOnceMs + (StreamThread.fewMs * Math.max(0.0, 1.0 - rate / StreamThread.few)).toLong

  private def begun(): Unit = {
    open = true
    openSince = System.nanoTime()
    timestamp = System.currentTimeMillis()
    epochRecords = 0L
    sources.foreach(s => before(s) = s.json)
    states.begin()
  }

  private def process(found: Iterable[ConsumerRecord[Array[Byte], Array[Byte]]]): Unit = {
    val rows = mutable.ArrayBuffer[InternalRow]()
    val highest = mutable.Map[TopicPartition, Long]()
    found.foreach { r =>
      val place = new TopicPartition(r.topic, r.partition)
      val merge = Math.max(r.timestamp, highest.getOrElse(place, Long.MinValue))
      highest(place) = merge
      readings.foreach(_.add(r, merge, timestamp, options, rows))
    }
    sourceOf.keysIterator.foreach(place => sourceOf(place).places(place) = consumer.position(place))
    epochRecords += found.size
    // An epoch that is interrupted from here on runs again, with these records.
    if (exactlyOnce) logOffsets()
    chain.run(rows.toArray).foreach { r =>
      val salt = r.getInt(Envelope.TASK)
      current.getOrElseUpdate(salt, writers.createWriter(options.indexOf(salt), batch, batch)).write(r)
      if (r.getInt(Envelope.DEST) == Envelope.STOP) stopped = true
    }
    if (stopped) commit()
  }
  private var stopped = false

  private def logOffsets(): Unit = {
    val seq = OffsetSeq(
      sources.map(s => Some(SerializedOffset(s.json))),
      offsetsBefore.metadataOpt.map(_.copy(batchTimestampMs = timestamp))
    )
    if (!own.offsetLog.add(batch, seq)) throw new IllegalStateException(s"another query has begun micro-batch $batch")
  }

  private def commit(): Unit = {
    val writing = current.values.toSeq.map(w =>
      StreamThread.background { val m = w.commit(); messages.synchronized(messages += m); () }
    )
    val storing = if (stopped) Nil else states.commit()
    StreamThread.await(writing)
    current.values.foreach(_.close())
    current.clear()
    if (!exactlyOnce && !stopped) logOffsets()
    write.commit(batch, messages.toArray)
    StreamThread.await(storing)
    messages.clear()
    committed = committed.withStateUniqueIds(Some(states.written))
    if (!own.commitLog.add(batch, committed))
      throw new IllegalStateException(s"another query has committed micro-batch $batch")
    note()
    batch += 1
    open = false
  }

  private def note(): Unit = {
    val now = System.nanoTime()
    val seconds = Math.max(1e-3, (now - committedAt) / 1e9)
    rate += Math.min(1.0, seconds) * (epochRecords / seconds - rate)
    committedAt = now
    idleSince = now
    largeEpochs = if (epochRecords >= many) largeEpochs + 1 else 0
    if (largeEpochs >= manyTimes) leaving = s"$largeEpochs times more than $many records at once"
    if (batch % 100 == 0) {
      own.offsetLog.purge(batch - StreamThread.kept)
      own.commitLog.purge(batch - StreamThread.kept)
    }
    val (took, sources) = (millisSince(openSince), before.toSeq.map { case (s, from) => (from, s.places.toMap) })
    val (records, perSecond, number, at) = (epochRecords, epochRecords / seconds, batch, timestamp)
    done = () => progress(number, at, took, records, perSecond, sources)
  }

  // ---- a query for those who watch it ----

  /** Makes the progress of the last epoch, when somebody asks for it. */
  @volatile private var done: () => StreamingQueryProgress = () => null

  private def progress(
      number: Long,
      at: Long,
      took: Long,
      records: Long,
      perSecond: Double,
      sources: Seq[(String, Map[TopicPartition, Long])]
  ): StreamingQueryProgress = new StreamingQueryProgress(
    id,
    runId,
    name,
    java.time.Instant.ofEpochMilli(at).toString,
    number,
    took,
    java.util.Map.of("triggerExecution", took),
    java.util.Map.of(),
    Array.empty,
    sources.zipWithIndex.map { case ((from, until), i) =>
      val n = if (i == 0) records else 0L
      val (end, processed) = (StreamThread.json(until), n * 1000.0 / Math.max(1L, took))
      val arriving = if (i == 0) perSecond else 0.0
      new SourceProgress(s"KafkaV2[$i]", from, end, end, n, arriving, processed, java.util.Map.of())
    }.toArray,
    new SinkProgress("millrace", -1L, java.util.Map.of()),
    java.util.Map.of()
  )

  /** The seconds since the last epoch. */
  private[millrace] def idleSeconds: Double = if (busy || open) 0.0 else (System.nanoTime() - idleSince) / 1e9

  /** The next offset of every topic-partition, after the thread has ended. */
  private[millrace] def positions: Option[String] =
    Option.when(!active && !open)(StreamThread.json(sources.flatMap(_.places)))

  override def name: String = own.name
  override def id: UUID = own.id
  override def runId: UUID = run
  override def sparkSession: SparkSession = session
  override def isActive: Boolean = active
  override def exception: Option[StreamingQueryException] = Option(death)
  override def status: StreamingQueryStatus =
    new StreamingQueryStatus(if (busy) "Processing new data" else "Waiting for data to arrive", busy, busy)
  override def recentProgress: Array[StreamingQueryProgress] = Option(lastProgress).toArray
  override def lastProgress: StreamingQueryProgress = done()
  override def awaitTermination(): Unit = { thread.join(); exception.foreach(throw _) }
  override def awaitTermination(timeoutMs: Long): Boolean = {
    thread.join(timeoutMs)
    exception.foreach(throw _)
    !active
  }
  override def processAllAvailable(): Unit = throw new UnsupportedOperationException(
    "a stream thread does not end by itself"
  )

  /** Ends the thread after the epoch that it is in. */
  override def stop(): Unit = if (Thread.currentThread ne thread) {
    stopping = true
    if (consumer != null) consumer.wakeup()
    thread.join(patience.toMillis)
    if (thread.isAlive) { thread.interrupt(); thread.join() }
  }
  override def explain(): Unit = println(own.lastExecution)
  override def explain(extended: Boolean): Unit = explain()
}
