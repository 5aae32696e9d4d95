package org.apache.spark.sql.millrace

import com.fasterxml.jackson.databind.JsonNode

import org.apache.spark.sql.types._

/**
 * The common part of all aggregations of streams: one aggregator per input (a cogroup has several), the aggregate's
 * type, old values on demand.
 */
private[millrace] abstract class StreamAggregationSpec(b: Build) extends NodeSpec(b) with TableSpec with StoreOwner {
  protected val in: StreamPort = b.stream(0)
  if (b.op == "cogroup") b.parentIds.indices.foreach { i =>
    if (b.stream(i).key.seen != in.key.seen)
      b.fail(
        "inputs",
        "type",
        s"the key types of the inputs differ: ${in.key.seen.sql} and ${b.stream(i).key.seen.sql}"
      )
  }
  val value: DataType = b.op match {
    case "count" => LongType
    case "reduce" => in.value
    case _ => b.dataType("type")
  }
  private[millrace] val aggregators: Array[Recipe] = b.op match {
    case "count" => Array(new CountRecipe)
    case "reduce" => Array(new ReduceRecipe(b.expr("reducer", Layout.reducer(value), Some(value))))
    case "aggregate" => Array(recipe(b, b.text("aggregator"), in))
    case _ =>
      b.elements(if (b.opt("aggregators").isDefined) "aggregators" else "inputs")
        .zipWithIndex
        .map { case (j, i) => recipe(b, StreamAggregationSpec.text(j), b.stream(i)) }
        .toArray
  }
  private[millrace] var sendOld = false

  private def recipe(b: Build, text: String, from: StreamPort): Recipe = new AggregateRecipe(
    b.expr("initializer", Layout.nothing, Some(value)),
    b.exprOf(
      text,
      if (b.op == "cogroup") "inputs" else "aggregator",
      Layout.aggregator(value, from.key, from.value),
      Some(value)
    ),
    b.opt("merger").map(_ => b.expr("merger", Layout.merger(from.key, value), Some(value))).orNull
  )

  override protected def enable(force: Boolean): Boolean = { sendOld = true; true }
  override def readable(): Unit = ()
}

private object StreamAggregationSpec {

  /** Whether the output of a node is versioned: for nodes that are not tables, whether that of all their parents is. */
  def versioned(g: TaskGraph, id: String): Boolean = g.spec(id) match {
    case t: TableSpec => t.outputVersioned
    case other => other.parents.nonEmpty && other.parents.forall(p => versioned(g, p._1))
  }

  /** The text of an aggregator of a cogroup's input, which is the text itself or an object. */
  def text(j: JsonNode): String =
    if (j.isTextual) j.asText else if (j.isArray) j.get(1).asText else j.get("aggregator").asText
}

/** Creates an aggregator in a task. */
private[millrace] sealed abstract class Recipe extends Serializable { def make(): Aggregator }
private[millrace] final class CountRecipe extends Recipe { override def make(): Aggregator = Aggregator.count }
private[millrace] final class ReduceRecipe(reducer: Expr) extends Recipe {
  override def make(): Aggregator = Aggregator.reduce(reducer)
}
private[millrace] final class AggregateRecipe(initializer: Expr, aggregator: Expr, merger: Expr) extends Recipe {
  override def make(): Aggregator = Aggregator.aggregate(initializer, aggregator, merger)
}

/** Aggregations without windows [AG1] to [AG5]. */
private[millrace] final class PlainAggregationSpec(b: Build) extends StreamAggregationSpec(b) {
  val key: KeyType = in.key
  val store: StoreSettings = StoreSettings.of(b.store("key_value", "versioned"))
  override def outputVersioned: Boolean = store.history != null
  override def history: java.lang.Long = store.history
  override def closingDelay: Long = -1L
  override private[millrace] def own: Option[KeptRows] = Some(KeptRows.table(store, key))
  override def ports: Seq[(String, Port)] = Seq("out" -> TablePort(key, value, this))
  override def create(): Node = new PlainAggregation(this)
}

private[millrace] final class PlainAggregation(s: PlainAggregationSpec) extends Node(s) with StoredTable {
  override protected val own = new OwnTable(this, s.key, s.value, s.store)
  override protected def sendsOld: Boolean = s.sendOld
  private val aggregators = s.aggregators.map(_.make())

  override def process(r: Record, input: Int): Unit =
    if (r.key == null) dropped("null_key")
    else if (r.value == null) dropped("null_value")
    else {
      val k = own.keys.encode(r.key)
      val found = own.get(k)
      // The first record's old value is the initial one, not null [AG4].
      val old = if (found == null) aggregators(input).initial else found.value
      val agg = aggregators(input).add(old, r.key, r.value, r.timestamp)
      val timestamp = if (found == null) r.timestamp else math.max(r.timestamp, found.timestamp)
      replace(r, k, agg, old, timestamp)
    }
}

/** Aggregations over windows: the key becomes STRUCT<key, window>. */
private[millrace] final class WindowedAggregationSpec(b: Build) extends StreamAggregationSpec(b) {
  private val w = b.req("window")
  private def ms(p: String): Long =
    Option(w.get(p)).filterNot(_.isNull).map(_.asLong).getOrElse(b.fail("window", "missing", s"$p is missing"))
  private def grace: Long = w.path("grace").asLong(0L)
  private val kind = w.get("type").asText
  private val windows = {
    if (kind == "hopping") ms("advance")
    if (kind == "hopping" || (kind == "tumbling" && !w.hasNonNull("unit"))) ms("size")
    try WindowsOf.of(w)
    catch {
      case _: java.time.DateTimeException =>
        b.fail("window", "unknown", s"this version of Java has no time zone ${w.path("time_zone").asText}")
    }
  }
  private val window = kind match {
    case "tumbling" | "hopping" => WindowSpec("time", windows.size, grace, windows)
    case "sliding" => WindowSpec("sliding", ms("difference"), grace)
    case "session" => WindowSpec("session", ms("gap"), grace)
    case "unlimited" => WindowSpec("unlimited", 0L, 0L)
    case "custom" => WindowSpec("time", windows.size, grace)
    case other => b.fail("window", "unknown", s"unknown type: $other")
  }
  private val closing = b.textOpt("emit").contains("window_close")
  private val inner = in.key
  val store: StoreSettings = StoreSettings.of(b.store(if (kind == "session") "session" else "window"))

  /** Kafka Streams considers a windowed cogroup versioned if every table from which its inputs are derived is. */
  override val outputVersioned: Boolean =
    b.op == "cogroup" && b.parentIds.forall(p => StreamAggregationSpec.versioned(b.graph, p._1))
  override def history: java.lang.Long = null
  override val closingDelay: Long = if (kind == "session") window.grace + window.size else window.grace
  override def ports: Seq[(String, Port)] = Seq("out" -> TablePort(KeyType(inner.seen, Some(window)), value, this))

  override private[millrace] def kept: Seq[KeptRows] = {
    val emitted = s"$id:emitted"
    def closed(behind: Long, fromEnd: Int) = Option.when(closing)(Closed(emitted, behind, fromEnd))
    val times = if (closing) Seq(s"${store.state}$$times") else Nil
    kind match {
      case "sliding" =>
        KeptRows(store.state, inner, cut = 8, closed = closed(window.size + 1, 8)) +: times.map(
          KeptRows(_, inner, skip = 8, closed = closed(window.size + 1, 0))
        )
      case "session" =>
        KeptRows(store.state, inner, cut = 16, closed = closed(1, 16)) +: times.map(
          KeptRows(_, inner, skip = 16, closed = closed(1, 0))
        )
      case _ =>
        Seq(KeptRows(store.state, inner, skip = 8, closed = closed(windows.size, 0).map(_.copy(windows = windows))))
    }
  }

  override def create(): Node = {
    val made = aggregators.map(_.make())
    kind match {
      case "sliding" =>
        new SlidingAggregation(this, inner, value, window.size, window.grace, made, store, closing, sendOld)
      case "session" =>
        new SessionAggregation(this, inner, value, window.size, window.grace, made, store, closing, sendOld)
      case _ => new WindowAggregation(this, inner, value, windows, made, store, closing, sendOld)
    }
  }
}

object StreamAggregates extends Family {
  private val windows = Seq("tumbling", "hopping", "sliding", "session", "unlimited", "custom")
  override val factories: Map[String, Build => NodeSpec] = Seq("count", "reduce", "aggregate", "cogroup").flatMap {
    op =>
      (op -> ((b: Build) => new PlainAggregationSpec(b): NodeSpec)) +: windows.map(w =>
        s"$op@$w" -> ((b: Build) => new WindowedAggregationSpec(b): NodeSpec)
      )
  }.toMap
}
