package org.apache.spark.sql.millrace

import java.util.UUID
import java.util.concurrent.{Callable, ConcurrentHashMap, Executors, Future, TimeUnit}
import java.util.concurrent.locks.{LockSupport, ReentrantLock}
import java.util.regex.Pattern

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.kafka.clients.consumer.ConsumerRecord
import org.apache.kafka.common.TopicPartition
import org.apache.kafka.common.errors.InterruptException

import org.apache.spark.SparkContext
import org.apache.spark.sql.{classic, SparkSession}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.write.PhysicalWriteInfo
import org.apache.spark.sql.connector.write.streaming.{StreamingDataWriterFactory, StreamingWrite}
import org.apache.spark.sql.execution.streaming.checkpointing.{CommitMetadataBase, OffsetSeq}
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExec
import org.apache.spark.sql.execution.streaming.runtime.{MicroBatchExecution, SerializedOffset, StreamingQueryWrapper}
import org.apache.spark.sql.streaming.{
  SinkProgress,
  SourceProgress,
  StreamingQuery,
  StreamingQueryException,
  StreamingQueryProgress,
  StreamingQueryStatus
}

/**
 * Continues a query with few records in a thread of its own (py4j): the thread polls, processes and commits, as one of
 * Kafka Streams does, without Spark tasks. An *epoch*, from one commit to the next, is a micro-batch of the query: its
 * number, offsets, state and results are those that the query would have written, in the same files of the checkpoint.
 * So each can go on where the other stopped, and an epoch that is not committed is a micro-batch that runs again.
 *
 *   - `fits(query)`: whether a stream thread can continue the query, once it has stopped
 *   - `start(query, readings, client, pattern)`: continues a query that has stopped; `readings`: see [[SourceRows]],
 *     `client`: settings of a Kafka client, `pattern`: of topics that are read beside those with a name, or null.
 *     Returns null if the query has begun a micro-batch that it has not completed. `query` may also be a thread that
 *     has stopped
 *   - `has(query)`: whether it is a stream thread
 *   - `left(query)`: why a thread that has ended without an error left its work to the query, or null
 */
object StreamThread {

  /** The time from one commit to the next, in ms: under exactly once, where results wait for it, and else. */
  private[millrace] val exactlyOnceMs = 60L
  private[millrace] val atLeastOnceMs = 1000L

  /** The records of an epoch that a query with all its Spark tasks processes faster, if several are so large. */
  @volatile private var many = 20000

  /** The epochs whose offsets and state the checkpoint keeps. */
  private val kept = 400L
  private val manyTimes = 3

  /** Sets the records of a large epoch, and the interval at which topics are checked in ms, for tests. */
  def limit(records: Int, millis: Long): Unit = { many = records; RecordReader.checkMs = millis }

  /** How long a stop waits for the epoch that is in progress before it interrupts it, and after that, in ms. */
  private val patienceMs = 5000L
  private val endMs = 2000L

  private val threads = new ConcurrentHashMap[String, StreamThread]()

  def fits(query: StreamingQuery): Boolean = executionOf(query).exists { own =>
    own.sparkSession.sparkContext.isLocal && own.resolvedCheckpointRoot.startsWith("file:") &&
    own.sink.isInstanceOf[EnvelopeTable] && levelsOf(own).nonEmpty &&
    own.committedOffsets.keys.forall(_.getClass.getSimpleName == "KafkaMicroBatchStream") && {
      val read = own.committedOffsets.values.toSeq.flatMap(o => PartitionOffsets.parse(o.json).keys)
      read.nonEmpty && read.distinct.size == read.size
    } && own.offsetLog
      .getLatest()
      .exists(_._2 match {
        case logged: OffsetSeq => logged.offsets.forall(_.isDefined)
        case _ => false
      })
  }

  def start(query: StreamingQuery, readings: String, client: String, pattern: String): StreamingQuery =
    executionOf(query)
      .filter(own => own.offsetLog.getLatest().map(_._1) == own.commitLog.getLatest().map(_._1))
      .map { own =>
        val thread = new StreamThread(
          own,
          levelsOf(own),
          SourceReading.parse(readings),
          KafkaClient.settings(client),
          Option(pattern).map(Pattern.compile)
        )
        thread.begin()
        thread
      }
      .orNull

  def has(query: StreamingQuery): Boolean = query.isInstanceOf[StreamThread]

  def left(query: StreamingQuery): String = query match {
    case t: StreamThread => t.leaving
    case _ => null
  }

  /** Adds what a run's thread has done so far to the run's figures, unless an epoch takes long. */
  private[millrace] def report(run: String): Unit = Option(threads.get(run)).foreach(_.report())
  private val reportMs = 200L

  /** Stops the thread of a run, if it has one. */
  private[millrace] def stop(run: String): Unit = Option(threads.get(run)).foreach(_.stop())

  /** The threads that are alive, each with its run. */
  private[millrace] def alive: Seq[(Thread, String)] =
    threads.values.asScala.toSeq.map(t => t.thread -> t.options.run)

  private def executionOf(query: StreamingQuery): Option[MicroBatchExecution] = query match {
    case w: StreamingQueryWrapper => executionOf(w.streamingQuery)
    case own: MicroBatchExecution => Some(own)
    case thread: StreamThread => Some(thread.own)
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

  /** How long the thread waits for a record, and for those that arrive as an epoch begins, in ms. */
  private[millrace] val idleMs = 5000L
  private[millrace] val lastMs = 2L

  /** So many records at once mean that there are more. */
  private[millrace] val backlog = 500

  /** Up to so many ms are added to the time between two commits under exactly once, the fewer records a second come. */
  private[millrace] val fewMs = 190L
  private[millrace] val few = 200.0

  private val workers = Executors.newCachedThreadPool { r =>
    val t = new Thread(r, "millrace-commit")
    t.setDaemon(true)
    t
  }

  /** Does some work of a run in another thread, whose log lines are those of the run. */
  private def background[T](run: String)(work: => T): Future[T] = workers.submit {
    (() => {
      SparkContext.getActive.foreach(_.setLocalProperty(Host.property, run))
      work
    }): Callable[T]
  }

  /** Waits for all of them, and throws what the first that failed has thrown. */
  private def await(all: Seq[Future[_]]): Unit = {
    val failed = all.flatMap { f =>
      try { f.get(); None }
      catch { case e: java.util.concurrent.ExecutionException => Some(e.getCause) }
    }
    failed.headOption.foreach(throw _)
  }
}

private[millrace] final class StreamThread(
    private[millrace] val own: MicroBatchExecution,
    levels: Seq[(LevelProcessor, TransformWithStateExec)],
    readings: Seq[SourceReading],
    client: Map[String, String],
    pattern: Option[Pattern]
) extends StreamingQuery {
  import StreamThread._

  private val session: classic.SparkSession = own.sparkSession
  private[millrace] val options = levels.head._1.options
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
  private val offsetsNoted = offsetsBefore.metadataOpt.map(new EpochOffsets(_))
  private var committed: CommitMetadataBase = lastCommit._2
  @volatile private var batch: Long = lastCommit._1 + 1

  private val states =
    new ThreadStates(session, levels, options, run, StreamThread.kept, committed.stateUniqueIds.getOrElse(Map.empty))
  private val chain = new TaskChain(specs, options, t => if (t.hasLines) statistics.add(t.report()), states)

  /** Held while tasks work. They are asked for their figures when somebody reads these, not after each epoch. */
  private val lock = new ReentrantLock
  private def working[T](body: => T): T = {
    lock.lock()
    try body
    finally lock.unlock()
  }
  private def report(): Unit = if (lock.tryLock(reportMs, TimeUnit.MILLISECONDS))
    try chain.running.foreach(t => statistics.add(t.report()))
    finally lock.unlock()

  // ---- the thread ----

  @volatile private var stopping = false
  @volatile private var abandoned = false
  @volatile private var tooMany: String = _

  /** Why the query has to take over; null while the thread goes on. */
  private[millrace] def leaving: String = if (tooMany != null || reader == null) tooMany else reader.ended
  @volatile private var active = true
  @volatile private var busy = false
  @volatile private var death: StreamingQueryException = _
  @volatile private var reader: RecordReader = _
  @volatile private var idleSince = System.nanoTime()

  private[millrace] val thread = new Thread(
    () => work(),
    s"stream thread of ${options.run}"
  )

  private def begin(): Unit = {
    threads.put(options.run, this)
    output.open()
    thread.setDaemon(true)
    thread.start()
  }

  private def work(): Unit =
    try {
      classic.SparkSession.setActiveSession(session)
      reader = new RecordReader(client, offsetsBefore.offsets.map(o => PartitionOffsets.parse(o.get.json)), pattern)
      while (!stopping && leaving == null) round()
      if (open) commit()
    } catch {
      case _: InterruptedException | _: InterruptException if stopping => // the epoch runs again
      case e: Throwable => die(e)
    } finally {
      try close()
      finally {
        threads.remove(options.run, this)
        active = false
      }
    }

  private def die(e: Throwable): Unit = {
    // The driver reports a record that stops it.
    if (!e.isInstanceOf[StreamStopped])
      StreamTask.logger.error(s"The stream thread of ${options.run} ended with an error.", e)
    death = new StreamingQueryException(
      String.valueOf(e.getMessage),
      e,
      "STREAM_FAILED",
      Map("id" -> id.toString, "runId" -> runId.toString, "message" -> String.valueOf(e.getMessage))
    )
  }

  private def close(): Unit = {
    pending.foreach(f =>
      try f.get(endMs, TimeUnit.MILLISECONDS)
      catch { case _: Exception => () }
    )
    output.close()
    try working { report(); chain.restart() }
    finally {
      Reports.log(options.run, chain.takeClosed())
      states.close()
      if (reader != null) reader.close()
    }
  }

  // ---- epochs ----

  private var open = false
  private var openSince = 0L
  private var committedAt = System.nanoTime()

  /** When the records of the last epoch were complete, and from when on the next one's may be. */
  private var gatheredAt = System.nanoTime()
  private var restUntil = gatheredAt
  private var timestamp = 0L
  private var epochRecords = 0L
  private var largeEpochs = 0
  private var rate = 0.0
  private val output = new EpochOutput(write, writers, options)

  /** The write of the epoch's offsets; null before it begins. `pending`: all that this thread has waited for last. */
  private var logged: Future[_] = _
  private var pending: Seq[Future[_]] = Nil
  private var before: Seq[Map[TopicPartition, Long]] = Nil

  private def millisSince(nanos: Long): Long = (System.nanoTime() - nanos) / 1000000

  /** Processes the records that have arrived. At least once: at once; exactly once: those of a whole epoch. */
  private def round(): Unit = {
    val found = mutable.ArrayBuffer[ConsumerRecord[Array[Byte], Array[Byte]]]()
    if (more) gather(found)
    if (found.isEmpty) {
      found ++= reader.poll(if (open) Math.max(0L, atLeastOnceMs - millisSince(openSince)) else idleMs)
      if (found.nonEmpty && exactlyOnce) gather(found)
    }
    more = found.nonEmpty && exactlyOnce
    if (found.nonEmpty) {
      busy = true
      if (!open) begun()
      process(found)
    }
    if (open && (exactlyOnce || millisSince(openSince) >= atLeastOnceMs)) commit()
    busy = false
  }

  /** Whether records are likely to arrive until the next epoch is due: then nothing waits for the first one. */
  private var more = false

  /** Adds the records that arrive until the epoch is due. Few requests for all of them, instead of one for each. */
  private def gather(found: mutable.ArrayBuffer[ConsumerRecord[Array[Byte], Array[Byte]]]): Unit = {
    def left = Math.max(gatheredAt + pauseMs * 1000000 - System.nanoTime(), restUntil - System.nanoTime())
    while (left > 0 && found.size < many && !stopping) LockSupport.parkNanos(left)
    // The answer that has arrived meanwhile, and the one to the request that follows it.
    found ++= reader.poll(0L)
    var last = reader.poll(lastMs)
    found ++= last
    while (last.size >= backlog && found.size < many && !stopping && leaving == null) {
      last = reader.poll(lastMs)
      found ++= last
    }
    if (found.nonEmpty) gatheredAt = System.nanoTime()
  }

  /** The time from one epoch to the next. Few records may wait a little longer, which saves commits. */
  private def pauseMs: Long = exactlyOnceMs + (StreamThread.fewMs * Math.max(0.0, 1.0 - rate / StreamThread.few)).toLong

  private def begun(): Unit = {
    open = true
    openSince = System.nanoTime()
    timestamp = System.currentTimeMillis()
    epochRecords = 0L
    before = reader.offsets
    states.begin(batch)
  }

  private def process(found: Iterable[ConsumerRecord[Array[Byte], Array[Byte]]]): Unit = {
    reader.advance()
    // An epoch runs again with these records if it is interrupted once any result is committed.
    if (exactlyOnce) { val seq = offsets; logged = background(options.run)(log(seq)); pending = Seq(logged) }
    val rows = mutable.ArrayBuffer[InternalRow]()
    val highest = mutable.Map[TopicPartition, Long]()
    found.foreach { r =>
      val place = new TopicPartition(r.topic, r.partition)
      val merge = Math.max(r.timestamp, highest.getOrElse(place, Long.MinValue))
      highest(place) = merge
      val headers = r.headers.toArray.map(h => new Header(h.key, h.value))
      val record =
        new SourceRecord(r.topic, r.partition, r.offset, r.timestamp, r.key, r.value, headers, merge, timestamp)
      readings.foreach(rows ++= _.rows(record, options))
    }
    epochRecords += found.size
    output.write(batch, working(chain.run(rows.toArray)))
    if (output.stopped) commit()
  }

  private def offsets: OffsetSeq = OffsetSeq(
    reader.offsets.map(o => Some(SerializedOffset(PartitionOffsets.json(o)))),
    offsetsNoted.map(_.at(timestamp))
  )
  private def log(seq: OffsetSeq): Unit = {
    requireOwn()
    if (!own.offsetLog.add(batch, seq)) throw new IllegalStateException(s"another query has begun micro-batch $batch")
  }

  private def commit(): Unit = {
    if (logged != null) StreamThread.await(Seq(logged))
    requireOwn()
    val stopped = output.stopped
    val writing = output.commits.map(each => background(options.run)(each()))
    val storing = if (stopped) Nil else states.commits.map(each => background(options.run)(each()))
    pending = writing ++ storing
    StreamThread.await(pending)
    if (logged == null && !stopped) log(offsets)
    logged = null
    output.end(batch)
    committed = EpochLogs.committed(committed, states.written)
    requireOwn()
    if (!own.commitLog.add(batch, committed))
      throw new IllegalStateException(s"another query has committed micro-batch $batch")
    note()
    batch += 1
    open = false
  }

  /** Ends the epoch if a stop has given up waiting for it: another query may have begun it again. */
  private def requireOwn(): Unit = if (abandoned) throw new InterruptedException

  private def note(): Unit = {
    val now = System.nanoTime()
    val seconds = Math.max(1e-3, (now - committedAt) / 1e9)
    rate += Math.min(1.0, seconds) * (epochRecords / seconds - rate)
    committedAt = now
    idleSince = now
    // A third of the time is left for others, however long an epoch takes.
    restUntil = now + (now - gatheredAt) / 2
    largeEpochs = if (epochRecords >= many) largeEpochs + 1 else 0
    if (largeEpochs >= manyTimes) tooMany = s"$largeEpochs times more than $many records at once"
    if (batch % 100 == 0) {
      own.offsetLog.purge(batch - StreamThread.kept)
      own.commitLog.purge(batch - StreamThread.kept)
    }
    val (took, sources) = (millisSince(openSince), before.zip(reader.offsets))
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
      sources: Seq[(Map[TopicPartition, Long], Map[TopicPartition, Long])]
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
      val (begin, end) = (PartitionOffsets.json(from), PartitionOffsets.json(until))
      val (arriving, processed) = (if (i == 0) perSecond else 0.0, n * 1000.0 / Math.max(1L, took))
      new SourceProgress(s"KafkaV2[$i]", begin, end, end, n, arriving, processed, java.util.Map.of())
    }.toArray,
    new SinkProgress("millrace", -1L, java.util.Map.of()),
    java.util.Map.of()
  )

  /** The seconds since the last epoch. */
  private[millrace] def idleSeconds: Double = if (busy || open) 0.0 else (System.nanoTime() - idleSince) / 1e9

  /** The next offset of every topic-partition, after the thread has ended. */
  private[millrace] def positions: Option[String] =
    Option.when(!active && !open && reader != null)(PartitionOffsets.json(reader.offsets.flatten))

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

  /**
   * Ends the thread after the epoch that it is in. One that cannot be interrupted is left to itself and commits
   * nothing.
   */
  override def stop(): Unit = if (Thread.currentThread ne thread) {
    stopping = true
    if (reader != null) reader.wakeUp()
    LockSupport.unpark(thread)
    if (!abandoned) thread.join(patienceMs)
    if (thread.isAlive && !abandoned) {
      thread.interrupt()
      thread.join(endMs)
      if (thread.isAlive) { abandoned = true; KafkaSink.close(id.toString) }
    }
  }
  override def explain(): Unit = println(own.lastExecution)
  override def explain(extended: Boolean): Unit = explain()
}
