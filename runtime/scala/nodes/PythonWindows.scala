package org.apache.spark.sql.millrace

import com.fasterxml.jackson.databind.JsonNode

import scala.jdk.CollectionConverters._

/** The windows of an aggregation, as its function in Python returns them, in the Python process of the task. */
private[millrace] final class PythonWindows(node: Node, windows: CustomWindows) extends PythonCaller {
  private val id = s"$$windows/${node.id}"
  private def task: StreamTask = node.context.asInstanceOf[StreamTask]
  private var generation = -1L
  private var lastTime = -1L
  private var found: Seq[(Long, Long)] = Nil

  /** The windows of a time: start and end, one for each start, in the order of the function. */
  def of(time: Long): Seq[(Long, Long)] = {
    if (time != lastTime) {
      lastTime = -1L
      try {
        val w = ready()
        val m = Json.mapper.createObjectNode().put("call", "windows_of").put("node", id).put("timestamp", time)
        w.call(this, m)
      } catch { case e: ParameterFailure => throw new ParameterFailure("window", e.cause, e.why) }
      lastTime = time
    }
    found
  }

  private def ready(): PythonWorker = {
    val w = task.worker
    if (generation != w.generation) {
      val m = Json.mapper.createObjectNode().put("call", "windows").put("node", id).put("name", node.node)
      val function = windows.function
      m.put("code", function.code).put("function", function.name).put("file", function.file)
      task.addModules(m)
      if (node.trace != null) m.replace("breakpoints", node.trace.breakpoints(node.node))
      w.call(this, m)
      generation = w.generation
    }
    w
  }

  override private[millrace] def serve(m: JsonNode): JsonNode = {
    m.get(0).asText match {
      case "windows" => found = m.get(1).elements.asScala.map(w => (w.get(0).asLong, w.get(1).asLong)).toSeq
      case "stop" => if (node.trace != null) node.trace.stopped(node.node, m.get(1))
      case "log" => task.log(node, m.get(1).asText, m.get(2).asText)
      case other => throw new IllegalStateException(s"unknown message of windows: $other")
    }
    null
  }
}
