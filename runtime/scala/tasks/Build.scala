package org.apache.spark.sql.millrace

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.types.DataType

/**
 * An operator family, an object in nodes/: maps op names to factories, `Build => NodeSpec`. On the driver the factory
 * reads its parameters, compiles its expressions and infers the types of its output ports. The NodeSpec is serialized;
 * in the task `create()` makes the Node.
 *
 * {{{
 * object Tables extends Family {
 *   override def factories = Map("to_table" -> (new ToTableSpec(_)), ...)
 * }
 *
 * final class ToTableSpec(b: Build) extends NodeSpec(b) with TableSource {
 *   private val in = b.stream(0)
 *   val store = b.store("key_value", "versioned") // the operator's own store: its name, or the node's id
 *   override val ports = Seq("out" -> TablePort(in.key, in.value, this))
 *   override def create() = new ToTableNode(this)
 * }
 * }}}
 *
 * `b` exists only in constructors (vals) and while the graph is built; in the task it is null.
 *
 * The op name is extended where one builder method means different operators:
 *
 *   - `count`, `reduce`, `aggregate`, `cogroup` with a window: `count@tumbling`, `@hopping`, `@sliding`, `@session`,
 *     `@unlimited`
 *   - the same on a grouped table (the input is a GroupedPort): `count@table`
 *   - `filter`, `filter_not`, `map_values` on a table: `filter@table`, ...
 *
 * A stream operator (to, print, peek, merge, split, process ...) whose input is a table gets the table's updates as a
 * stream; `b.stream(i)` does that.
 *
 * Hops: a spec that extends HopSpec ends the level (repartition, group_by, foreign_key_subscribe ...). Its node calls
 * `hop(...)`; the children in the JSON graph (`repartitioned`, `grouped_table`, `foreign_key_lookup` ...) are the
 * receivers and get the record at their own level, decoded by the type of the hop's port. An edge of any other node to
 * a later level is a wire: the record goes to the same task there, without any code in the node.
 */
trait Family { def factories: Map[String, Build => NodeSpec] }

/** A node while it is built: parameters, inputs, and methods that compile expressions. */
final class Build private[millrace] (val graph: TaskGraph, val json: JsonNode, val index: Int) extends Serializable {

  /** Keeps the driver's objects out of specs whose constructor parameter became a field: in the task it is null. */
  private def writeReplace(): AnyRef = null

  val id: String = json.get("id").asText
  val node: String = Option(json.get("node")).filterNot(_.isNull).map(_.asText).getOrElse(id)
  val op: String = json.get("op").asText
  val sub: Int = json.path("sub").asInt(0)
  val level: Int = json.path("level").asInt(0)
  val params: JsonNode = Option(json.get("params")).filterNot(_.isNull).getOrElse(Json.mapper.createObjectNode())

  /** The ids of the parents, each with its port. */
  val parentIds: Seq[(String, String)] =
    json.path("parents").elements.asScala.map(p => (p.get(0).asText, p.get(1).asText)).toSeq
  def spark: SparkSession = graph.spark
  def settings: Settings = graph.settings

  /** Inputs that are tables, but that `stream` takes as streams of updates. */
  private[millrace] val unwrapped = mutable.Set[Int]()

  def parent(i: Int): NodeSpec = graph.spec(parentIds(i)._1)
  lazy val inputs: Seq[Port] = parentIds.map { case (p, port) =>
    graph
      .spec(p)
      .ports
      .collectFirst { case (`port`, x) => x }
      .getOrElse(fail("", "port", s"$p has no output port $port"))
  }

  /** Input i as a stream; for a table, the stream of its updates. */
  def stream(i: Int): StreamPort = inputs(i) match {
    case s: StreamPort => s
    case TablePort(k, v, _) =>
      unwrapped += i
      StreamPort(k, v)
    case other => fail("in", "port", s"must be a stream, but is ${Build.describe(other)}")
  }
  def table(i: Int): TablePort = inputs(i) match {
    case t: TablePort => t
    case other => fail("in", "port", s"must be a table, but is ${Build.describe(other)}")
  }
  def grouped(i: Int): GroupedPort = inputs(i) match {
    case g: GroupedPort => g
    case other => fail("in", "port", s"must be a grouped table, but is ${Build.describe(other)}")
  }
  def global(i: Int): GlobalPort = inputs(i) match {
    case g: GlobalPort => g
    case other => fail("right", "port", s"must be a global table, but is ${Build.describe(other)}")
  }

  def opt(p: String): Option[JsonNode] = Option(params.get(p)).filterNot(_.isNull)
  def req(p: String): JsonNode = opt(p).getOrElse(fail(p, "missing", "is missing"))
  def text(p: String): String = req(p).asText
  def textOpt(p: String): Option[String] = opt(p).map(_.asText)
  def long(p: String): Long = req(p).asLong
  def longOpt(p: String): Option[Long] = opt(p).map(_.asLong)
  def int(p: String): Int = req(p).asInt
  def bool(p: String, default: Boolean): Boolean = opt(p).map(_.asBoolean).getOrElse(default)
  def elements(p: String): Seq[JsonNode] = opt(p).map(_.elements.asScala.toSeq).getOrElse(Nil)

  def expr(p: String, layout: Layout, expected: Option[DataType] = None): Expr = exprOf(text(p), p, layout, expected)
  def exprOf(text: String, p: String, layout: Layout, expected: Option[DataType] = None): Expr = {
    expressions += 1
    val name = s"$id/$expressions"
    val calling = if (functions == null) layout else layout.copy(callable = callable)
    val made = judged(p, "expression")(Expressions.compile(spark, text, calling, p, expected, name))
    if (layout.seesOffset(made)) graph.askForOffsets()
    made
  }
  private var expressions = 0

  /** The functions in Python that the expressions can call, or null. */
  private[millrace] lazy val functions: FunctionSettings =
    opt("functions").map(f => FunctionSettings(f.path("code").asText, f.path("file").asText(""))).orNull
  private lazy val callable = judged("returns", "type")(CalledFunctions.of(id, req("functions").get("returns")))
  def dataType(p: String): DataType = judged(p, "type")(Expressions.parseType(text(p)))
  def codec(p: String, default: Option[DataType] = None): Codec = codecOf(req(p), p, default)
  def codecOf(j: JsonNode, p: String, default: Option[DataType] = None): Codec =
    judged(p, "format")(Codec.parse(j, default))

  /**
   * The operator's own store: the one in the parameter `store` (`{"name", "node", "kind", ...}`), or an unnamed one
   * that is named after the node's id.
   */
  def store(kinds: String*): StoreSpec =
    opt("store").map(storeOf(_, kinds.head)).getOrElse(StoreSpec(id, node, kinds.head, named = false, Map.empty))
  def storeOf(j: JsonNode, default: String): StoreSpec = {
    val properties = j.properties.asScala
      .filterNot(e => e.getValue.isNull || e.getValue.isContainerNode)
      .map(e => e.getKey -> e.getValue.asText)
      .toMap
    StoreSpec(
      j.get("name").asText,
      properties.getOrElse("node", node),
      properties.getOrElse("kind", default),
      named = true,
      properties - "name" - "node" - "kind"
    )
  }

  def fail(p: String, code: String, message: String): Nothing = throw new Refused(node, p, Why(code, message))
  private def judged[T](p: String, code: String)(body: => T): T = try body
  catch {
    case e: Expressions.Invalid =>
      val found = if (e.condition == "REGISTRY") "registry" else code
      throw new Refused(node, p, Why(found, e.reason, "reason" -> e.reason), e.failure)
  }
}

private object Build {
  def describe(p: Port): String = p match {
    case _: StreamPort => "a stream"
    case _: TablePort => "a table"
    case _: GroupedPort => "a grouped table"
    case _: GlobalPort => "a global table"
  }
}
