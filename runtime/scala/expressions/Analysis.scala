package org.apache.spark.sql.millrace

import java.lang.management.ManagementFactory
import java.util.concurrent.{
  Callable,
  ConcurrentHashMap,
  ExecutionException,
  Executors,
  FutureTask,
  TimeUnit,
  TimeoutException
}

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode
import org.apache.spark.sql.SparkSession

/**
 * The analyzer's entry point. Each expression is analyzed in its own thread within a limit of processor time (on a busy
 * machine, wall-clock time says little). A running thread cannot be stopped: if it exceeds its deadline, it is
 * [[overdue]] and its process must be replaced.
 */
object Analysis {
  private val processorMs = 2000L
  private val wallMs = 20000L
  private val clock = ManagementFactory.getThreadMXBean
  private val threads = Executors.newCachedThreadPool { r =>
    val t = new Thread(null, r, "analysis", 16L << 20)
    t.setDaemon(true)
    t
  }
  private val late = ConcurrentHashMap.newKeySet[Task[_]]()

  private final class Task[T](body: () => T) extends FutureTask[T]((() => body()): Callable[T]) {
    private val began = System.nanoTime
    @volatile private var thread: Option[(Long, Long)] = None
    override def run(): Unit = {
      val id = Thread.currentThread.getId
      thread = Some((id, clock.getThreadCpuTime(id)))
      super.run()
    }

    /** Milliseconds past the deadline; negative before it. */
    def overdue: Long = {
      val used = thread.fold(0L) { case (id, before) => (clock.getThreadCpuTime(id) - before) / 1000000 }
      math.max(used - processorMs, (System.nanoTime - began) / 1000000 - wallMs)
    }
  }

  /** How far the slowest expression is past its deadline, in ms; 0 if none is. */
  def overdue(): Long = {
    late.removeIf(_.isDone)
    late.asScala.map(_.overdue).maxOption.getOrElse(0L)
  }

  /**
   * Analyzes `{"expressions": [{"text", "columns": {"key": "STRING", ...}, "expects": "BOOLEAN" | null, "functions":
   * {"name": "TYPE", ...}}], "types": ["DDL", ...]}`, with the functions in Python that an expression can call, if any.
   * Returns `{"expressions": [{"type", "columns", "error": null | {"message", "condition", "start", "stop", "facts"},
   * "warnings": [like an error]}], "types": [{"type", "error"}]}`; without warnings, that field is missing. The columns
   * are those that the expression uses, with `$seed` and `$now` ([[Draws]]).
   */
  def analyze(spark: SparkSession, request: String): String = {
    val root = Json.mapper.readTree(request)
    val answer = Json.mapper.createObjectNode()
    val expressions = answer.putArray("expressions")
    elements(root.get("expressions")).foreach { e =>
      val out = expressions.addObject()
      try {
        val (found, used, warnings) = within {
          val columns = e
            .get("columns")
            .properties
            .asScala
            .map(c => c.getKey -> Expressions.parseType(c.getValue.asText))
            .toIndexedSeq
          val expects = Option(e.get("expects")).filterNot(_.isNull).map(t => Expressions.parseType(t.asText))
          // Only expressions over whole records can be evaluated once per record: see `columns` in the answer.
          val layout =
            Layout(columns, columns.exists(_._1 == "offset"), CalledFunctions.of("", e.get("functions")))
          val judged = Expressions.judge(spark, e.get("text").asText, layout, expects)
          (judged.dataType.sql, judged.used.map(layout.all(_)._1), judged.warnings)
        }
        out.put("type", found)
        val names = out.putArray("columns")
        used.foreach(names.add)
        out.putNull("error")
        if (warnings.nonEmpty) {
          val told = out.putArray("warnings")
          warnings.foreach(put(told.addObject(), _))
        }
      } catch { case e: Expressions.Invalid => refused(out, e) }
    }
    val types = answer.putArray("types")
    elements(root.get("types")).foreach { t =>
      val out = types.addObject()
      try { out.put("type", within(Expressions.parseType(t.asText).sql)); out.putNull("error") }
      catch { case e: Expressions.Invalid => out.putNull("type"); out.put("error", e.reason) }
    }
    Json.mapper.writeValueAsString(answer)
  }

  /** Runs a body in its own thread and returns its result. Throws [[Expressions.Invalid]] at the deadline. */
  private def within[T](body: => T): T = {
    val task = new Task[T](() => body)
    threads.execute(task)
    while (true) {
      try return task.get(20, TimeUnit.MILLISECONDS)
      catch {
        case e: ExecutionException => throw e.getCause
        case _: TimeoutException if task.overdue > 0 =>
          late.add(task)
          throw new Expressions.Invalid(
            s"takes more than ${processorMs / 1000} s of processor time to analyze",
            "DEADLINE"
          )
        case _: TimeoutException =>
      }
    }
    throw new IllegalStateException
  }

  private def elements(j: JsonNode): Seq[JsonNode] = if (j == null || j.isNull) Nil else j.elements.asScala.toSeq
  private def refused(out: ObjectNode, e: Expressions.Invalid): Unit = {
    out.putNull("type")
    out.putArray("columns")
    put(out.putObject("error"), e)
  }
  private def put(error: ObjectNode, e: Expressions.Invalid): Unit = {
    error
      .put("message", e.reason)
      .put("condition", e.condition)
      .put("start", e.start)
      .put("stop", e.stop)
    val facts = error.putObject("facts")
    e.facts.foreach { case (name, value) => facts.put(name, value) }
  }
}
