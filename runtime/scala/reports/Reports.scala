package org.apache.spark.sql.millrace

import java.util.concurrent.ConcurrentHashMap

import scala.collection.mutable

import org.apache.spark.SparkEnv
import org.apache.spark.sql.SparkSession
import org.apache.spark.util.AccumulatorV2

/** Counts of a node's records. `dead`: those that went to the dead letter topic. */
private[millrace] final case class NodeCounts(in: Long, out: Long, dead: Long) {
  def +(o: NodeCounts): NodeCounts = NodeCounts(in + o.in, out + o.out, dead + o.dead)
}
private[millrace] object NodeCounts { val none: NodeCounts = NodeCounts(0L, 0L, 0L) }

/** The last offset of a topic-partition that was read, and the number of records read. */
private[millrace] final case class ReadUpTo(offset: Long, records: Long)

/** Figures of nodes, stores and tasks, by name. */
private[millrace] trait Reported extends Serializable {
  private[millrace] val nodes = mutable.Map[String, NodeCounts]()
  private[millrace] val drops = mutable.Map[(String, String), Long]()

  /** Records for which inner joins found nothing, by node and reason. */
  private[millrace] val misses = mutable.Map[(String, String), Long]()
  private[millrace] val logs = mutable.ArrayBuffer[LogLine]()

  /** By node of the document and number of the task. */
  private[millrace] val stores = mutable.Map[(String, Int), StoreLine]()
  private[millrace] val latencies = mutable.Map[String, NodeLatency]()
  private[millrace] def lines: Iterable[TaskLine]
}

/** The figures of one task of one level in one micro-batch. */
final class TaskReport(val level: Int, val index: Int) extends Reported {
  private[millrace] val tasks = mutable.Map[Int, TaskLine]()
  override private[millrace] def lines: Iterable[TaskLine] = tasks.values

  def log(l: LogLine): Unit = logs += l

  /** Adds the size of a store, or of one of the stores of an operator that has no nodes for them. */
  def store(name: String, node: String, index: Int, rows: Long, bytes: Long): Unit = {
    val others = stores.get((node, index))
    stores((node, index)) = new StoreLine(name, rows + others.fold(0L)(_.rows), bytes + others.fold(0L)(_.bytes))
  }
  def latency(node: String, l: NodeLatency): Unit =
    if (!l.event.isEmpty) latencies(node) = latencies.getOrElse(node, NodeLatency.none) + l
  def node(id: String, in: Long, out: Long): Unit = count(id, NodeCounts(in, out, 0L))
  def deadLetters(node: String, n: Long): Unit = count(node, NodeCounts(0L, 0L, n))
  private def count(id: String, c: NodeCounts): Unit = nodes(id) = nodes.getOrElse(id, NodeCounts.none) + c
  def dropped(node: String, reason: String, n: Long): Unit = drops((node, reason)) =
    drops.getOrElse((node, reason), 0L) + n
  def missed(node: String, reason: String, n: Long): Unit =
    if (n > 0) misses((node, reason)) = misses.getOrElse((node, reason), 0L) + n

  /** Adds the figures of a sub-topology's task. `stateRows`: -1 if the task has no store. */
  def task(
      sub: Int,
      records: Long,
      thread: String,
      streamTime: Long,
      offsets: Map[(String, Int), ReadUpTo],
      stateRows: Long
  ): Unit =
    tasks(sub) = new TaskLine(
      sub,
      level,
      index,
      SparkEnv.get.executorId,
      SparkEnv.get.blockManager.blockManagerId.host,
      thread,
      records,
      streamTime,
      System.currentTimeMillis(),
      offsets,
      stateRows
    )
}

object TaskReport {

  /** The maximum of lines of peek and print that one task reports per micro-batch. Spark's log has all of them. */
  private[millrace] val mostLines = 100
}

/** A log line of a node. `merge`: the place of the input record that was processed; 0 if there was none. */
private[millrace] final class LogLine(
    val level: String,
    val node: String,
    val message: String,
    val merge: Long = 0L
) extends Serializable
private[millrace] final class StoreLine(val name: String, val rows: Long, val bytes: Long) extends Serializable

private[millrace] final class TaskLine(
    val sub: Int,
    val level: Int,
    val index: Int,
    val executor: String,
    val host: String,
    val thread: String,
    val records: Long,
    val streamTime: Long,
    val lastActive: Long,
    val offsets: Map[(String, Int), ReadUpTo],
    val stateRows: Long,
    val threadChanges: Long = 0L
) extends Serializable

/** Stable names for the executor's threads; Spark renames a thread with each task. */
private[millrace] object ThreadNames {
  private val numbers = mutable.WeakHashMap[Thread, Int]()

  /** `stream-1`, `stream-2` ...: the lowest number that no other living thread has. */
  def current: String = synchronized {
    val number = numbers.getOrElseUpdate(
      Thread.currentThread, {
        numbers.filterInPlace((thread, _) => thread.isAlive)
        Iterator.from(1).find(n => !numbers.valuesIterator.contains(n)).get
      }
    )
    s"stream-$number"
  }
}

/** The sums of a run's figures, on the driver. */
private[millrace] final class RunTotals extends Reported {
  val tasks = mutable.Map[(Int, Int, Int), TaskLine]()
  override private[millrace] def lines: Iterable[TaskLine] = tasks.values
  def keep(lines: Iterable[LogLine]): Unit = {
    logs ++= lines
    if (logs.size > RunTotals.mostLines) logs.remove(0, logs.size - RunTotals.mostLines)
  }

  def add(r: Reported): Unit = {
    r.nodes.foreach { case (n, c) => nodes(n) = nodes.getOrElse(n, NodeCounts.none) + c }
    r.drops.foreach { case (k, n) => drops(k) = drops.getOrElse(k, 0L) + n }
    r.misses.foreach { case (k, n) => misses(k) = misses.getOrElse(k, 0L) + n }
    r.lines.foreach(put)
    keep(r.logs)
    stores ++= r.stores
    r.latencies.foreach(add)
  }
  private def add(measured: (String, NodeLatency)): Unit = latencies(measured._1) =
    latencies.getOrElse(measured._1, NodeLatency.none) + measured._2
  private def put(t: TaskLine): Unit = {
    val key = (t.sub, t.level, t.index)
    val before = tasks.get(key)
    tasks(key) = new TaskLine(
      t.sub,
      t.level,
      t.index,
      t.executor,
      t.host,
      t.thread,
      t.records + before.map(_.records).getOrElse(0L),
      Math.max(t.streamTime, before.map(_.streamTime).getOrElse(-1L)),
      if (t.records > 0 || before.isEmpty) t.lastActive else before.get.lastActive,
      before.map(b => sum(b.offsets, t.offsets)).getOrElse(t.offsets),
      t.stateRows,
      t.threadChanges + before
        .map(b => b.threadChanges + (if (b.executor == t.executor && b.thread != t.thread) 1L else 0L))
        .getOrElse(0L)
    )
  }
  private def sum(
      before: Map[(String, Int), ReadUpTo],
      now: Map[(String, Int), ReadUpTo]
  ): Map[(String, Int), ReadUpTo] =
    before ++ now.map { case (place, r) =>
      place -> before.get(place).map(b => ReadUpTo(r.offset, b.records + r.records)).getOrElse(r)
    }

  def isEmpty: Boolean = nodes.isEmpty && drops.isEmpty && tasks.isEmpty && logs.isEmpty && stores.isEmpty
}

private[millrace] object RunTotals { val mostLines = 2000 }

/** Carries reports of tasks to the driver. */
private[millrace] final class RunAccumulator extends AccumulatorV2[TaskReport, RunTotals] {
  private var totals = new RunTotals
  override def isZero: Boolean = totals.isEmpty
  override def copy(): RunAccumulator = { val c = new RunAccumulator; c.totals.add(totals); c }
  override def reset(): Unit = totals = new RunTotals
  override def add(r: TaskReport): Unit = synchronized(totals.add(r))
  override def merge(other: AccumulatorV2[TaskReport, RunTotals]): Unit = synchronized(totals.add(other.value))
  override def value: RunTotals = totals
}

/** Statistics of runs, read by the driver. */
object Reports {
  private val runs = new ConcurrentHashMap[String, RunAccumulator]()

  private[millrace] def of(spark: SparkSession, run: String): RunAccumulator = runs.computeIfAbsent(
    run,
    r => {
      val a = new RunAccumulator
      Internals.classicSession(spark).sparkContext.register(a, s"millrace-$r")
      a
    }
  )

  private[millrace] def forget(run: String): Unit = runs.remove(run)

  /**
   * Totals since the start: `{"nodes": {id: {"in", "out", "dead_letters", "dropped": {reason: n}, "misses": {reason: n
   * of an inner join}, "latency": {"event", "arrival": {"sum", "buckets": [[from, n]]}}}}, "tasks": [{"task",
   * "subtopology", "level", "partition", "executor", "host", "thread", "thread_changes", "records", "stream_time",
   * "last_active", "state_rows", "topic_partitions": [{"topic", "partition", "offset", "read"}]}], "stores": [{"name",
   * "node", "rows", "bytes"}], "dropped": n}`. Stores without a node in the document have id and name of their
   * operator. Bytes are an estimate. The total of dropped records includes dead letters, as in Kafka Streams; those of
   * the nodes do not.
   */
  def statistics(run: String): String = {
    StreamThread.report(run)
    val root = Json.mapper.createObjectNode()
    val nodes = root.putObject("nodes")
    val tasks = root.putArray("tasks")
    val found = runs.get(run)
    var sum = 0L
    if (found != null) found.synchronized {
      val t = found.value
      (t.drops.keys.map(_._1 -> NodeCounts.none).toMap ++ t.nodes).toSeq.sortBy(_._1).foreach { case (id, c) =>
        val o = nodes.putObject(id)
        o.put("in", c.in)
        o.put("out", c.out)
        o.put("dead_letters", c.dead)
        o.putObject("dropped")
        o.putObject("misses")
        t.latencies.get(id).foreach { l =>
          val shown = o.putObject("latency")
          put(shown.putObject("event"), l.event)
          put(shown.putObject("arrival"), l.arrival)
        }
        sum += c.dead
      }
      def note(name: String, node: String, reason: String, n: Long): Unit =
        nodes.get(node).get(name).asInstanceOf[com.fasterxml.jackson.databind.node.ObjectNode].put(reason, n)
      t.drops.toSeq.sortBy(_._1).foreach { case ((node, reason), n) => note("dropped", node, reason, n); sum += n }
      t.misses.toSeq.sortBy(_._1).foreach { case ((node, reason), n) => note("misses", node, reason, n) }
      t.tasks.values.toSeq.sortBy(x => (x.sub, x.level, x.index)).foreach { x =>
        val o = tasks.addObject()
        o.put("task", s"${x.sub}_${x.index}")
        o.put("subtopology", x.sub)
        o.put("level", x.level)
        o.put("partition", x.index)
        o.put("executor", x.executor)
        o.put("host", x.host)
        o.put("thread", x.thread)
        o.put("thread_changes", x.threadChanges)
        o.put("records", x.records)
        if (x.streamTime < 0) o.putNull("stream_time") else o.put("stream_time", x.streamTime)
        o.put("last_active", x.lastActive)
        if (x.stateRows < 0) o.putNull("state_rows") else o.put("state_rows", x.stateRows)
        val tps = o.putArray("topic_partitions")
        x.offsets.toSeq.sortBy(_._1).foreach { case ((topic, partition), r) =>
          tps.addObject().put("topic", topic).put("partition", partition).put("offset", r.offset).put("read", r.records)
        }
      }
    }
    val stores = root.putArray("stores")
    if (found != null) found.synchronized {
      found.value.stores.groupBy(_._1._1).toSeq.sortBy(_._1).foreach { case (node, parts) =>
        stores
          .addObject()
          .put("name", parts.head._2.name)
          .put("node", node)
          .put("rows", parts.values.map(_.rows).sum)
          .put("bytes", parts.values.map(_.bytes).sum)
      }
    }
    root.put("dropped", sum)
    Json.mapper.writeValueAsString(root)
  }

  private def put(o: com.fasterxml.jackson.databind.node.ObjectNode, d: Durations): Unit = {
    o.put("sum", d.sum)
    val buckets = o.putArray("buckets")
    d.buckets.toSeq.sortBy(_._1).foreach { case (at, n) => buckets.addArray().add(Buckets.lowest(at)).add(n) }
  }

  /**
   * Log lines of `peek`, `print` and processors since the last call: `[{"level", "node", "message", "merge"}]`. Of more
   * than [[RunTotals.mostLines]] lines, only the newest are kept.
   */
  def logs(run: String): String = {
    val out = Json.mapper.createArrayNode()
    val found = runs.get(run)
    if (found != null) found.synchronized {
      found.value.logs.foreach(l =>
        out.addObject().put("level", l.level).put("node", l.node).put("message", l.message).put("merge", l.merge)
      )
      found.value.logs.clear()
    }
    Json.mapper.writeValueAsString(out)
  }

  /** The sums of a run, if the driver is in this JVM. */
  private[millrace] def here(run: String): Option[RunAccumulator] = Option(runs.get(run))

  /** Adds log lines of tasks that ended between micro-batches. */
  private[millrace] def log(run: String, lines: Seq[LogLine]): Unit = {
    val found = runs.get(run)
    if (found != null && lines.nonEmpty) found.synchronized(found.value.keep(lines))
  }

  /** Forgets a run. */
  def close(run: String): Unit = runs.remove(run)
}

/**
 * Figures of tasks in real time. Spark sends accumulators to the driver when a batch ends, which may be minutes away;
 * if the driver is in the same JVM, as in local mode, figures are reported several times a second.
 */
private[millrace] object LiveReports {
  private val everyMs = 200L
  private final class Followed(val living: StreamTasks.Living, val to: RunAccumulator)
  private val followed = java.util.concurrent.ConcurrentHashMap.newKeySet[Followed]()
  private lazy val clock: Unit = {
    val t = new Thread(
      () => while (true) { Thread.sleep(everyMs); followed.forEach(f => report(f, wait = false)) },
      "millrace-live-reports"
    )
    t.setDaemon(true)
    t.start()
  }

  /** Reports a task's figures until the calling Spark task ends, and the rest then. */
  def follow(run: String, living: StreamTasks.Living, statistics: RunAccumulator): Unit = {
    val here = Reports.here(run)
    val f = new Followed(living, here.getOrElse(statistics))
    org.apache.spark.TaskContext.get().addTaskCompletionListener[Unit] { _ =>
      followed.remove(f); report(f, wait = true)
    }
    if (here.nonEmpty) { clock; followed.add(f) }
  }

  private def report(f: Followed, wait: Boolean): Unit = if (f.living.news) {
    val lock = f.living.lock
    if (wait) lock.lock()
    if (wait || lock.tryLock()) try { f.living.news = false; f.to.add(f.living.task.report()) }
    finally lock.unlock()
  }
}
