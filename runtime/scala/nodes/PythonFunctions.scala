package org.apache.spark.sql.millrace

import java.util.{HashMap => JHashMap}

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types.DataType

/**
 * The functions in Python that a node's expressions can call, by name: the types that they return. `step`: the physical
 * id of the node.
 */
private[millrace] final case class CalledFunctions(step: String, returns: Map[String, DataType]) {

  /** Replaces the calls of these functions in a parsed expression; they come before Spark's own. */
  def resolved(e: Expression): Expression = if (returns.isEmpty) e
  else
    e.transformUp {
      case f: UnresolvedFunction if f.nameParts.size == 1 && returns.contains(f.nameParts.head) =>
        val made = PythonCall(step, f.nameParts.head, returns(f.nameParts.head), f.arguments)
        made.copyTagsFrom(f)
        made
    }
}

private[millrace] object CalledFunctions {
  val none: CalledFunctions = CalledFunctions("", Map.empty)

  /** `types`: a JSON object of the functions' names and types. Throws [[Expressions.Invalid]]. */
  def of(step: String, types: JsonNode): CalledFunctions =
    if (types == null || types.isNull || types.isEmpty) none
    else
      CalledFunctions(
        step,
        types.properties.asScala.map(e => e.getKey -> Expressions.parseType(e.getValue.asText)).toMap
      )
}

/** The source of a node's functions. `file`: the file of a program, whose lines the code has; else empty. */
private[millrace] final case class FunctionSettings(code: String, file: String)

/** A call of a function in Python, in the task that evaluates the expression. */
private[millrace] case class PythonCall(step: String, name: String, dataType: DataType, children: Seq[Expression])
    extends Expression
    with CodegenFallback {
  @transient private lazy val types: Seq[DataType] = children.map(_.dataType)
  override def nullable: Boolean = true
  override def foldable: Boolean = false
  override def prettyName: String = name
  override def eval(input: InternalRow): Any = {
    val task = StreamTask.current
    if (task == null) throw new IllegalStateException(s"$name can only be called in a task")
    task.functionsOf(step).call(name, types, children.map(_.eval(input)), dataType)
  }
  override protected def withNewChildrenInternal(c: IndexedSeq[Expression]): Expression = copy(children = c)
}

/** The functions of a node's expressions in the Python process of its task. */
private[millrace] final class PythonFunctions(task: StreamTask, node: Node) extends PythonCaller {
  private val id = s"$$functions/${node.id}"
  private var generation = -1L

  /** The number of each function for types of arguments that the process knows. */
  private val known = new JHashMap[(String, Seq[DataType]), Integer]()
  private var result: JsonNode = _

  def call(name: String, types: Seq[DataType], arguments: Seq[Any], returns: DataType): Any =
    try {
      val w = ready()
      val m = Json.mapper.createObjectNode().put("call", "function").put("node", id)
      val number = known.get((name, types))
      if (number == null) {
        known.put((name, types), known.size)
        m.put("use", known.size - 1).put("function", name)
        val of = m.putArray("types")
        (types :+ returns).foreach(t => of.add(Json.mapper.readTree(t.json)))
      } else m.put("use", number)
      val values = m.putArray("arguments")
      types.zip(arguments).foreach { case (t, v) => values.add(Wire.node(v, t)) }
      result = null
      w.call(this, m)
      Wire.value(result, returns)
    } catch { case e: ParameterFailure => throw new ParameterFailure("functions", e.cause, e.why) }

  private def ready(): PythonWorker = {
    val w = task.worker
    if (generation != w.generation) {
      known.clear()
      val m = Json.mapper.createObjectNode().put("call", "functions").put("node", id).put("name", node.node)
      m.put("code", node.spec.functions.code).put("file", node.spec.functions.file)
      m.put("judges", PythonFunctions.judging(node.spec.op))
      task.addModules(m)
      if (node.trace != null) m.replace("breakpoints", node.trace.breakpoints(node.node))
      w.call(this, m)
      generation = w.generation
    }
    w
  }

  override private[millrace] def serve(m: JsonNode): JsonNode = {
    m.get(0).asText match {
      case "result" => result = m.get(1)
      case "stop" => if (node.trace != null) node.trace.stopped(node.node, m.get(1))
      case "log" => task.log(node, m.get(1).asText, m.get(2).asText)
      case other => throw new IllegalStateException(s"unknown message of functions: $other")
    }
    null
  }
}

private[millrace] object PythonFunctions {

  /** The operations for which only the truth of what a function returns counts. */
  private val judging = Set("filter", "filter_not")
}
