package org.apache.spark.sql.millrace

import java.util.concurrent.{ConcurrentHashMap, TimeUnit}
import java.util.concurrent.atomic.AtomicLong

import scala.concurrent.Await
import scala.concurrent.duration.Duration

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode

import org.apache.spark.{SparkContext, TaskContext}
import org.apache.spark.sql.{Dataset, Encoders, Row}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic
import org.apache.spark.sql.execution.streaming.state.RocksDBAccess
import org.apache.spark.sql.streaming._
import org.apache.spark.sql.types._

/**
 * The entry point for Python (py4j).
 *
 *   - `attach(df, graph, options)`: adds the chain of levels to a DataFrame of envelope rows. Returns envelope rows:
 *     sinks (dest >= 0), STOP, DUMP, DEAD_LETTER, CONTROL
 *   - `check(spark, graph)`: builds the graph and throws Refused if it cannot run
 *   - `release(run)`: ends the tasks of a run, here and on its executors, with their Python workers
 *
 * `graph` is the task graph (TaskGraph.scala).
 *
 * `options` is a JSON object:
 *
 *   - `run`: name; `shuffle_partitions`: number; `simulation`: bool
 *   - `python`: path of the interpreter of process nodes; `python_path`: its PYTHONPATH
 *   - `python_timeout_ms`: limit of one call (60000); `python_memory_mb`: limit of the data of its process (2048)
 *   - `real_time`: rows are processed as they arrive and written to the state one by one; `wall_clock`: with control
 *     rows between them (RealTime.scala)
 *   - `state_changes`: what the deployment's accepted changes require of older state (StateSchema.scala)
 *   - `record_handlers`: decisions about single records, `[{"topic", "partition", "offset", "handler": "continue" |
 *     "dead_letter"}]`
 *   - `store_memory_mb`: heap that the stores of one task may use between records (64)
 *   - `updates`: the query's output mode is update, the only one in real time; otherwise append
 *   - `direct_tasks`: if set, all rows come from one Kafka source and go to task `partition % direct_tasks`, so the
 *     first level needs no shuffle
 */
object StreamTasks {
  def attach(df: Dataset[Row], graphJson: String, optionsJson: String): Dataset[Row] = {
    val source = df.asInstanceOf[classic.Dataset[Row]]
    val spark = source.sparkSession
    val j = Json.mapper.readTree(optionsJson)
    val graph = TaskGraph.parse(spark, graphJson)
    val options = optionsOf(spark, j)
    val (n, run) = (options.partitions, options.run)
    val mode = if (j.path("updates").asBoolean(false)) OutputMode.Update() else OutputMode.Append()
    val settings = graph.settings
    val statistics = Reports.of(spark, run)
    val attachment = s"$run/${java.util.UUID.randomUUID}"
    graph.specs.foreach {
      case s: TopicSinkSpec => Simulation.register(run, s.index, new Simulation.Shown(s.keyCodec, s.valueCodec))
      case _ =>
    }
    var rows: classic.Dataset[Row] = source
    if (!source.isStreaming)
      return Unbatched.attach(rows, graph.levels.map(graph.level(_, settings)), options, statistics)
    if (SparkContext.getActive.exists(!_.isLocal)) ExecutorSamples.serve()
    val direct = j.path("direct_tasks").asInt(0)
    graph.levels.zipWithIndex.foreach { case (l, at) =>
      val level = graph.level(l, settings)
      val processor = new LevelProcessor(level.level, new Shipped(level), options, attachment, statistics)
      val arriving = Arriving(j.path("wall_clock").asBoolean(false), Internals.salts(n).toSeq)
      val ordered =
        if (at == 0 && direct > 0 && DirectTasks.fits(rows))
          Internals.direct(rows, direct, n, Option.when(options.realTime)(arriving))
        else if (options.realTime) Internals.arriving(rows, n, arriving)
        else Internals.ordered(rows, n)
      rows = ordered
        .groupBy("task")
        .as[Int, InternalRow](Encoders.scalaInt, Internals.encoder(ordered.schema))
        .transformWithState(processor, TimeMode.None(), mode)(Internals.encoder(Envelope.schema))
        .toDF()
    }
    if (options.simulation) rows else Internals.leaving(rows)
  }

  private[millrace] def optionsOf(spark: classic.SparkSession, j: JsonNode): TaskOptions = {
    val run = j.path("run").asText("run")
    TaskOptions(
      run,
      j.path("application").asText(run),
      j.path("simulation").asBoolean(false),
      j.get("shuffle_partitions").asInt,
      WorkerOptions.parse(j),
      j.path("real_time").asBoolean(false),
      j.path("store_memory_mb").asLong(64L) << 20,
      StateChanges.parse(j.path("state_changes"), spark),
      RecordHandlers.parse(j.path("record_handlers"))
    )
  }
  def check(spark: org.apache.spark.sql.SparkSession, graphJson: String): Unit = TaskGraph.parse(spark, graphJson)

  def release(run: String): Unit = {
    StreamThread.stop(run)
    Reports.log(run, releaseHere(run))
    SparkContext.getActive.filter(sc => !sc.isLocal && !sc.isStopped).foreach { sc =>
      // The query has ended, so all slots are free: as many jobs as there are slots reach every executor.
      val slots = Math.max(1, sc.defaultParallelism)
      val reply = sc
        .parallelize(0 until slots, slots)
        .mapPartitions { _ =>
          val lines = StreamTasks.releaseHere(run)
          Thread.sleep(StreamTasks.pauseMs)
          lines.iterator
        }
        .collectAsync()
      try Reports.log(run, Await.result(reply, Duration(patienceMs, TimeUnit.MILLISECONDS)))
      catch { case e: Exception => reply.cancel(); throw e }
    }
  }

  /** How long a job holds a slot, in ms: one that is freed at once would also get another executor's share. */
  private[millrace] val pauseMs = 200L
  private val patienceMs = 10000L

  /** Ends the tasks of a run in this JVM, and returns the log lines of their nodes. */
  private[millrace] def releaseHere(run: String): Seq[LogLine] = {
    MapStates.forget(run)
    tasks.asScala.toSeq.flatMap { case (key, t) =>
      if (key.attachment.startsWith(s"$run/") && tasks.remove(key) != null) t.task.close() else Nil
    }
  }

  private def runOf(attachment: String): String = attachment.substring(0, attachment.lastIndexOf('/'))

  /** Whether this JVM has tasks of the run. */
  private[millrace] def has(run: String): Boolean = tasks.keySet.asScala.exists(_.attachment.startsWith(s"$run/"))

  /**
   * Notifies tasks of real time, which have no next micro-batch, that their trace has changed. Returns false if one of
   * them was busy and could not be notified.
   */
  private[millrace] def followAgain(run: String): Boolean =
    tasks.asScala.toSeq
      .filter { case (key, t) => key.attachment.startsWith(s"$run/") && t.task.realTime }
      .map { case (_, t) =>
        val free = t.lock.tryLock(20, TimeUnit.MILLISECONDS)
        if (free)
          try t.task.followAgain()
          finally t.lock.unlock()
        free
      }
      .forall(identity)

  /** Ends all tasks, for a JVM that exits unexpectedly. */
  private[millrace] def releaseAll(): Unit = tasks.keySet.asScala
    .map(k => runOf(k.attachment))
    .toSet
    .foreach((run: String) => Reports.log(run, releaseHere(run)))

  // ---- tasks alive in this JVM ----

  private[millrace] final case class TaskKey(attachment: String, level: Int, salt: Int)
  private[millrace] final class Living(val task: StreamTask, val start: String) {
    val used = new AtomicLong(System.currentTimeMillis())
    @volatile var clean = false

    /**
     * In real time: held while a row is processed, so that figures are read between two rows. `news`: there are figures
     * that were not reported.
     */
    val lock = new java.util.concurrent.locks.ReentrantLock()
    @volatile var news = false
  }
  private val tasks = new ConcurrentHashMap[TaskKey, Living]()
  private val idleMs = 600000L

  /**
   * Returns the task as it was after the last micro-batch, if this start of the query ran it and the state is the one
   * that it wrote; otherwise a new one.
   */
  private[millrace] def take(key: TaskKey, state: StateHandle, create: () => StreamTask): Living = {
    val found = tasks.get(key)
    val start = String.valueOf(TaskContext.get().getLocalProperty("spark.jobGroup.id")) // the number of the query's run
    if (
      found != null && found.start == start && found.clean && found.task.token == ProcessorStateManager.tokenOf(state)
    ) {
      found.used.set(System.currentTimeMillis())
      found.clean = false
      found.task.resume(state)
      found
    } else {
      if (found != null) { tasks.remove(key); found.task.close() }
      val old = System.currentTimeMillis() - idleMs
      tasks.asScala.foreach { case (k, t) => if (t.clean && t.used.get < old) { tasks.remove(k); t.task.close() } }
      val made = new Living(create(), start)
      made.task.open(state)
      tasks.put(key, made)
      ExecutorSamples.follow(runOf(key.attachment))
      made
    }
  }
}

/** One level in Spark: transformWithState over its tasks. */
private[millrace] final class LevelProcessor(
    val level: Int,
    val spec: Shipped[LevelSpec],
    val options: TaskOptions,
    attachment: String,
    val statistics: RunAccumulator
) extends StatefulProcessor[Int, InternalRow, InternalRow] {
  @transient private var map: MapState[InternalRow, InternalRow] = _

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit = {
    map = MapStates.open(attachment, level, getHandle)
    // On the driver, Spark calls this without a task.
    if (TaskContext.get() != null) LiveStates.begin(map)
  }
  override def close(): Unit = MapStates.keep(attachment, level, map)

  /** In real time: the task of this batch, and its salt. */
  @transient private var working: StreamTasks.Living = _
  @transient private var workingSalt = 0

  private def take(salt: Int): StreamTasks.Living =
    StreamTasks.take(
      StreamTasks.TaskKey(attachment, level, salt),
      new MapHandle(map),
      () => new StreamTask(spec.read(), options.indexOf(salt), salt, options)
    )

  override def handleInputRows(salt: Int, rows: Iterator[InternalRow], timers: TimerValues): Iterator[InternalRow] =
    if (options.realTime) arrived(salt, rows)
    else {
      val living = take(salt)
      living.task.run(rows, () => { statistics.add(living.task.report()); living.clean = true })
    }

  /**
   * Spark calls once per row and does not signal the end of a batch, so the changes of a row are in the state before
   * the next row.
   */
  private def arrived(salt: Int, rows: Iterator[InternalRow]): Iterator[InternalRow] = {
    if (working == null || workingSalt != salt) {
      working = take(salt)
      workingSalt = salt
      LiveReports.follow(options.run, working, statistics)
    }
    val living = working
    living.clean = false
    val made = living.task.run(rows, () => { living.clean = true; living.news = true })
    new Iterator[InternalRow] {
      override def hasNext: Boolean = {
        living.lock.lock()
        try made.hasNext
        finally living.lock.unlock()
      }
      override def next(): InternalRow = made.next()
    }
  }
}

/**
 * Map states of Spark between two micro-batches of a task. Creating one takes longer than a task's work on a few
 * records.
 */
private[millrace] object MapStates {
  private type Own = MapState[InternalRow, InternalRow]

  private final case class Place(attachment: String, level: Int, partition: Int)
  private val kept = new ConcurrentHashMap[Place, Own]()

  /** Returns the state of this Spark task's partition. */
  def open(attachment: String, level: Int, handle: StatefulProcessorHandle): Own =
    here(attachment, level)
      .flatMap(place => Option(kept.remove(place)))
      .filter(RocksDBAccess.renew(_, LevelProcessor.stateName, handle))
      .getOrElse(LevelProcessor.open(handle))

  /** Keeps a state for the next micro-batch. */
  def keep(attachment: String, level: Int, map: Own): Unit =
    if (map != null) here(attachment, level).foreach(kept.put(_, map))
  def forget(run: String): Unit = kept.keySet.removeIf(_.attachment.startsWith(s"$run/"))

  /** None on the driver, which opens states to learn their schema. */
  private def here(attachment: String, level: Int): Option[Place] =
    Option(TaskContext.get()).map(t => Place(attachment, level, t.partitionId()))
}

/**
 * A value that the driver serializes once, and that is deserialized only where a task starts. Spark serializes
 * everything that an operator refers to several times per micro-batch and deserializes it in every task, which for a
 * large graph costs more than processing the records.
 */
private[millrace] final class Shipped[T <: java.io.Serializable](value: T) extends Serializable {
  private val bytes = org.apache.spark.util.Utils.serialize(value)

  /** Returns a new copy of the value. */
  def read(): T = org.apache.spark.util.Utils.deserialize[T](bytes, Thread.currentThread.getContextClassLoader)
}

private[millrace] object LevelProcessor {
  val stateName = "stores"
  val keySchema: StructType =
    new StructType().add("store", StringType, nullable = false).add("key", BinaryType, nullable = false)
  val valueSchema: StructType =
    new StructType().add("value", BinaryType, nullable = false).add("timestamp", LongType, nullable = false)
  def open(handle: StatefulProcessorHandle): MapState[InternalRow, InternalRow] =
    handle.getMapState(stateName, Internals.encoder(keySchema), Internals.encoder(valueSchema), TTLConfig.NONE)
}
