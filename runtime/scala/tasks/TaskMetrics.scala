package org.apache.spark.sql.millrace

import java.util.{HashMap => JHashMap}

import scala.jdk.CollectionConverters._

/** Counts and log lines of a task between two reports. */
private[millrace] final class TaskMetrics {
  private val droppedBy = new JHashMap[(String, String), Array[Long]]()
  private val deadLetters = new JHashMap[String, Array[Long]]()
  private val lines = new java.util.ArrayList[LogLine]()

  /** The number of omitted lines, by node. */
  private val omitted = new JHashMap[String, java.lang.Long]()

  def dropped(node: String, reason: String): Unit =
    droppedBy.computeIfAbsent((node, reason), _ => new Array[Long](1))(0) += 1
  def deadLetter(node: String): Unit = deadLetters.computeIfAbsent(node, _ => new Array[Long](1))(0) += 1

  /** Adds a line of a node that prints. `merge`: the place of the current record. */
  def log(node: Node, task: String, merge: Long, message: String): Unit = {
    StreamTask.logger.info("{} {}: {}", Array[AnyRef](node.node, task, message): _*)
    if (lines.size < TaskReport.mostLines) lines.add(new LogLine("info", node.node, message, merge))
  }

  /** Adds a line of user code, or a warning about it. Lines beyond the limit are omitted and counted. */
  def log(node: Node, task: String, merge: Long, level: String, message: String): Unit =
    if (lines.size >= TaskReport.mostLines) omitted.merge(node.node, 1L, (a, b) => a + b)
    else {
      val words = Array[AnyRef](node.node, task, message)
      if (level == "warning") StreamTask.logger.warn("{} {}: {}", words: _*)
      else StreamTask.logger.info("{} {}: {}", words: _*)
      lines.add(new LogLine(level, node.node, message, merge))
    }
  def logged: Seq[LogLine] = lines.asScala.toSeq
  def hasLines: Boolean = !lines.isEmpty

  /** Moves everything into the report. */
  def drainTo(r: TaskReport): Unit = {
    droppedBy.forEach { case ((node, reason), n) => r.dropped(node, reason, n(0)) }
    droppedBy.clear()
    deadLetters.forEach((node, n) => r.deadLetters(node, n(0)))
    deadLetters.clear()
    lines.forEach(l => r.log(l))
    lines.clear()
    omitted.forEach { (node, n) =>
      StreamTask.logger.warn("{} {}: {} more lines were omitted", node, r.index: Any, n)
      r.log(new LogLine("warning", node, s"$n more lines were omitted"))
    }
    omitted.clear()
  }
}
