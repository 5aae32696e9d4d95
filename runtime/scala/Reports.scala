package org.apache.spark.sql.millrace

import java.util.concurrent.ConcurrentHashMap

import scala.collection.mutable

import org.apache.spark.SparkEnv
import org.apache.spark.sql.SparkSession
import org.apache.spark.util.AccumulatorV2

/** What one task of one level did in one micro-batch. */
final class TaskReport(val level: Int, val index: Int) extends Serializable {
  private[millrace] val nodes = mutable.Map[String, (Long, Long)]()
  private[millrace] val drops = mutable.Map[(String, String), Long]()
  private[millrace] val tasks = mutable.Map[Int, TaskLine]()

  def node(id: String, in: Long, out: Long): Unit = { val (i, o) = nodes.getOrElse(id, (0L, 0L)); nodes(id) = (i + in, o + out) }
  def dropped(node: String, reason: String, n: Long): Unit = drops((node, reason)) = drops.getOrElse((node, reason), 0L) + n
  def task(sub: Int, records: Long, streamTime: Long, offsets: Map[(String, Int), Long]): Unit =
    tasks(sub) = new TaskLine(sub, level, index, SparkEnv.get.executorId, SparkEnv.get.blockManager.blockManagerId.host, Thread.currentThread.getName, records, streamTime, System.currentTimeMillis(), offsets)
}

private[millrace] final class TaskLine(val sub: Int, val level: Int, val index: Int, val executor: String, val host: String, val thread: String, val records: Long,
    val streamTime: Long, val lastActive: Long, val offsets: Map[(String, Int), Long]) extends Serializable

/** Sums of a run on the driver. */
private[millrace] final class RunTotals extends Serializable {
  val nodes = mutable.Map[String, (Long, Long)]()
  val drops = mutable.Map[(String, String), Long]()
  val tasks = mutable.Map[(Int, Int, Int), TaskLine]()

  def add(r: TaskReport): Unit = {
    r.nodes.foreach { case (n, (i, o)) => val (a, b) = nodes.getOrElse(n, (0L, 0L)); nodes(n) = (a + i, b + o) }
    r.drops.foreach { case (k, n) => drops(k) = drops.getOrElse(k, 0L) + n }
    r.tasks.values.foreach(put)
  }
  private def put(t: TaskLine): Unit = {
    val key = (t.sub, t.level, t.index)
    val before = tasks.get(key)
    tasks(key) = new TaskLine(t.sub, t.level, t.index, t.executor, t.host, t.thread, t.records + before.map(_.records).getOrElse(0L), t.streamTime,
      if (t.records > 0 || before.isEmpty) t.lastActive else before.get.lastActive, before.map(_.offsets).getOrElse(Map.empty) ++ t.offsets)
  }
  def merge(other: RunTotals): Unit = {
    other.nodes.foreach { case (n, (i, o)) => val (a, b) = nodes.getOrElse(n, (0L, 0L)); nodes(n) = (a + i, b + o) }
    other.drops.foreach { case (k, n) => drops(k) = drops.getOrElse(k, 0L) + n }
    other.tasks.values.foreach(put)
  }
  def isEmpty: Boolean = nodes.isEmpty && drops.isEmpty && tasks.isEmpty
}

/** Carries reports of tasks to the driver. */
private[millrace] final class RunAccumulator extends AccumulatorV2[TaskReport, RunTotals] {
  private var totals = new RunTotals
  override def isZero: Boolean = totals.isEmpty
  override def copy(): RunAccumulator = { val c = new RunAccumulator; c.totals.merge(totals); c }
  override def reset(): Unit = totals = new RunTotals
  override def add(r: TaskReport): Unit = synchronized(totals.add(r))
  override def merge(other: AccumulatorV2[TaskReport, RunTotals]): Unit = synchronized(totals.merge(other.value))
  override def value: RunTotals = totals
}

/** Statistics of runs, read by the driver. */
object Reports {
  private val runs = new ConcurrentHashMap[String, RunAccumulator]()

  private[millrace] def of(spark: SparkSession, run: String): RunAccumulator = runs.computeIfAbsent(run, r => {
    val a = new RunAccumulator
    Internals.classicSession(spark).sparkContext.register(a, s"millrace-$r")
    a
  })

  /**
   * Totals since the start: `{"nodes": {id: {"in", "out", "dropped": {reason: n}}}, "tasks": [{"task", "subtopology", "level", "partition", "executor", "host",
   * "thread", "records", "stream_time", "last_active", "topic_partitions": [{"topic", "partition", "offset"}]}], "dropped": n}`.
   */
  def statistics(run: String): String = {
    val root = Json.mapper.createObjectNode()
    val nodes = root.putObject("nodes")
    val tasks = root.putArray("tasks")
    val found = runs.get(run)
    var sum = 0L
    if (found != null) found.synchronized {
      val t = found.value
      t.nodes.toSeq.sortBy(_._1).foreach { case (id, (in, out)) =>
        val o = nodes.putObject(id)
        o.put("in", in); o.put("out", out); o.putObject("dropped")
      }
      t.drops.toSeq.sortBy(_._1).foreach { case ((node, reason), n) =>
        if (!nodes.has(node)) { val o = nodes.putObject(node); o.put("in", 0L); o.put("out", 0L); o.putObject("dropped") }
        nodes.get(node).get("dropped").asInstanceOf[com.fasterxml.jackson.databind.node.ObjectNode].put(reason, n)
        sum += n
      }
      t.tasks.values.toSeq.sortBy(x => (x.sub, x.level, x.index)).foreach { x =>
        val o = tasks.addObject()
        o.put("task", s"${x.sub}_${x.index}"); o.put("subtopology", x.sub); o.put("level", x.level); o.put("partition", x.index)
        o.put("executor", x.executor); o.put("host", x.host); o.put("thread", x.thread); o.put("records", x.records)
        if (x.streamTime < 0) o.putNull("stream_time") else o.put("stream_time", x.streamTime)
        o.put("last_active", x.lastActive)
        val tps = o.putArray("topic_partitions")
        x.offsets.toSeq.sortBy(_._1).foreach { case ((topic, partition), offset) => tps.addObject().put("topic", topic).put("partition", partition).put("offset", offset) }
      }
    }
    root.put("dropped", sum)
    Json.mapper.writeValueAsString(root)
  }

  /** Forgets a run. */
  def close(run: String): Unit = runs.remove(run)
}
