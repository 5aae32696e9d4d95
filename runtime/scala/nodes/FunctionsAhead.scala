package org.apache.spark.sql.millrace

import java.util.concurrent.{ConcurrentHashMap, ConcurrentLinkedDeque}

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode

import org.apache.spark.TaskContext
import org.apache.spark.sql.types.DataType

/**
 * The functions of a source whose timestamps order the records of several topics before the tasks get them. They run in
 * Python processes beside those of the tasks: one for each Spark task at a time, kept for the next micro-batch. What
 * they print and their failures are reported by the task, which calls them again. `modules`: JSON, or null.
 */
private[millrace] final case class FunctionsAhead(
    run: String,
    node: String,
    settings: FunctionSettings,
    modules: String,
    workers: WorkerOptions
) {
  def call(name: String, types: Seq[DataType], arguments: Seq[Any], returns: DataType): Any =
    FunctionsAhead.lent(this).call(name, types, arguments, returns)
}

private[millrace] object FunctionsAhead {
  private final class Process(of: FunctionsAhead) extends PythonFunctions(s"$$ahead/${of.node}", of.settings) {
    private var python: PythonWorker = _
    override protected def worker: PythonWorker = {
      if (python == null || !python.alive) python = new PythonWorker(of.workers)
      python
    }
    override protected def node: String = of.node
    override protected def complete(m: ObjectNode): Unit = {
      m.put("judges", false)
      if (of.modules != null) m.replace("modules", Json.mapper.readTree(of.modules))
    }
    override protected def other(m: JsonNode): Unit = ()
    def close(): Unit = if (python != null) { if (python.busy) python.stop() else python.close() }
  }

  private val free = new ConcurrentHashMap[FunctionsAhead, ConcurrentLinkedDeque[Process]]()

  /** The processes that Spark tasks use, by the attempt of the task. */
  private val used = new ConcurrentHashMap[(Long, FunctionsAhead), Process]()

  /** The process of the Spark task that is running, which has it until it ends. */
  private def lent(of: FunctionsAhead): Process = {
    val task = TaskContext.get()
    val key = (task.taskAttemptId(), of)
    val found = used.get(key)
    if (found != null) found
    else {
      val waiting = free.computeIfAbsent(of, _ => new ConcurrentLinkedDeque[Process]())
      val made = Option(waiting.pollLast()).getOrElse(new Process(of))
      used.put(key, made)
      task.addTaskCompletionListener[Unit] { _ =>
        used.remove(key)
        // Gone if the run has ended meanwhile.
        val queue = free.computeIfPresent(of, (_, q) => { q.addLast(made); q })
        if (queue == null) made.close()
      }
      made
    }
  }

  /** Ends the processes of a run in this JVM. */
  def release(run: String): Unit = free.keySet.forEach { of =>
    if (of.run == run) {
      val waiting = free.remove(of)
      if (waiting != null) waiting.forEach(_.close())
    }
  }
}
