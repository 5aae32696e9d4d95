package org.apache.spark.sql.millrace

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** Steps over single records, sinks, and the nodes by which records enter and leave a task. */
private[millrace] object Stateless extends Family {
  override val factories: Map[String, Build => NodeSpec] = Map(
    "stream" -> (new StreamSourceSpec(_)),
    "filter" -> (new FilterSpec(_, keep = true)),
    "filter_not" -> (new FilterSpec(_, keep = false)),
    "map" -> (new MapSpec(_)),
    "map_values" -> (new MapSpec(_)),
    "select_key" -> (new MapSpec(_)),
    "flat_map" -> (new FlatMapSpec(_)),
    "flat_map_values" -> (new FlatMapSpec(_)),
    "peek" -> (new PeekSpec(_)),
    "merge" -> (new MergeSpec(_)),
    "split" -> (new SplitSpec(_)),
    "to_stream" -> (new ToStreamSpec(_)),
    "repartition" -> (new RepartitionSpec(_)),
    "repartitioned" -> (new PassSpec(_)),
    "to" -> (new TopicSinkSpec(_)),
    "print" -> (new PrintSpec(_))
  )
}

/** source.stream [ST10]. */
private final class StreamSourceSpec(b: Build) extends SourceSpec(b) {
  override val ports: Seq[(String, Port)] = Seq("out" -> StreamPort(key, valueCodec.dataType))
  override def create(): Node = new SourceNode(this) { override def process(r: Record, input: Int): Unit = forward(r) }
}

/**
 * filter, filter_not [ST1]: a null predicate counts as false. `rejected` says what happens to records that are not
 * kept.
 */
private final class FilterSpec(b: Build, val keep: Boolean) extends NodeSpec(b) {
  private val in = b.stream(0)
  val predicate: Expr = b.expr("predicate", Layout.drawing(in.key, in.value), Some(BooleanType))
  override val ports: Seq[(String, Port)] = Seq("out" -> in)
  private val rejected = b.textOpt("rejected").getOrElse("drop")
  private val text = b.text("predicate")
  override def create(): Node =
    if (rejected == "drop") new Node(this) {
      override def process(r: Record, input: Int): Unit =
        if (predicate.test(r, r.value, context) == keep) forward(r) else ended("filtered")
    }
    else new RuleNode(this, rejected, text)
}

/** A filter that is a rule: records that it rejects are counted, logged, sent to the dead letters, or stop the job. */
private final class RuleNode(s: FilterSpec, rejected: String, text: String) extends Node(s) {
  private val why =
    if (s.keep) Why("record_rejected", s"the record does not fulfill `$text`", "predicate" -> text)
    else Why("record_rejected_not", s"the record fulfills `$text`", "predicate" -> text)

  /** The reason under which rejected records that are forwarded are counted. */
  override private[millrace] def missReason: String = if (rejected == "warn") "warned" else "rejected"
  private def pass(level: String, r: Record): Unit = {
    misses += 1
    context.noted(this, level, why.message)
    forward(r)
  }
  override def process(r: Record, input: Int): Unit =
    if (s.predicate.test(r, r.value, context) == s.keep) forward(r)
    else
      rejected match {
        case "count" => pass("info", r)
        case "warn" => pass("warning", r)
        case "drop_and_count" => dropped("rejected")
        case other =>
          val failure = new ParameterFailure("predicate", new RecordRejected(why), why)
          context.rejected(this, failure, r.timestamp, letter = other == "dead_letter")
      }
}

/** A rule rejects a record, and is to write a dead letter or to stop the job. */
final class RecordRejected(override val why: Why)
    extends RuntimeException(why.message, null, false, false)
    with Explained

/**
 * map, map_values, select_key [ST2]: computes the key, the value or both from the incoming record, as the parameters
 * define.
 */
private final class MapSpec(b: Build) extends NodeSpec(b) {
  private val in = b.stream(0)
  private val layout = Layout.drawing(in.key, in.value)

  /** The parameter that contains the key: if another node groups by this key, it is that node's parameter. */
  private val parameter = if (op == "select_key" && b.id != b.node) "group_by" else "key"
  val key: Option[Expr] = if (op == "map_values") None else Some(b.exprOf(b.text("key"), parameter, layout))
  val value: Option[Expr] = if (op == "select_key") None else Some(b.expr("value", layout))
  override val ports: Seq[(String, Port)] =
    Seq(
      "out" -> StreamPort(
        key.map(e => KeyType(e.dataType)).getOrElse(in.key),
        value.map(_.dataType).getOrElse(in.value)
      )
    )
  override def create(): Node = new Node(this) {
    override def process(r: Record, input: Int): Unit = {
      val k = if (key.isEmpty) r.key else key.get(r, context)
      val v = if (value.isEmpty) r.value else value.get(r, context)
      forward(new Record(k, v, r.timestamp, r.headers))
    }
  }
}

/**
 * flat_map, flat_map_values [ST2]: sends the elements in the order of the array. An empty array yields nothing; a null
 * array, or one with a null record, is a processing error.
 */
private final class FlatMapSpec(b: Build) extends NodeSpec(b) {
  private val in = b.stream(0)
  val parameter: String = if (op == "flat_map") "records" else "values"
  val items: Expr = b.expr(parameter, Layout.drawing(in.key, in.value))
  val element: DataType = items.dataType match {
    case ArrayType(e, _) => e
    case other =>
      b.fail(
        parameter,
        "type",
        s"gives ${other.sql}, needs ${if (op == "flat_map") "ARRAY<STRUCT<key, value>>" else "ARRAY"}"
      )
  }
  private val out =
    if (op == "flat_map_values") StreamPort(in.key, element)
    else
      element match {
        case StructType(Array(k, v)) if k.name == "key" && v.name == "value" =>
          StreamPort(KeyType(k.dataType), v.dataType)
        case other => b.fail(parameter, "type", s"gives ARRAY<${other.sql}>, needs ARRAY<STRUCT<key, value>>")
      }
  override val ports: Seq[(String, Port)] = Seq("out" -> out)
  override def create(): Node = {
    val (keyType, valueType, pairs) = (out.key.dataType, out.value, op == "flat_map")
    new Node(this) {
      private def missing(why: Why) = new ParameterFailure(parameter, new NullPointerException(why.message), why)
      override def process(r: Record, input: Int): Unit = {
        val a = items(r, context).asInstanceOf[ArrayData]
        if (a == null) throw missing(Why("array_null", "the array is null"))
        val n = a.numElements()
        if (n == 0) ended("no_elements")
        val gap = if (pairs) (0 until n).indexWhere(a.isNullAt) else -1
        if (gap >= 0) throw missing(Why("element_null", s"element $gap is null", "index" -> gap))
        var i = 0
        while (i < n) {
          if (!pairs) forward(r.withValue(if (a.isNullAt(i)) null else a.get(i, element)))
          else {
            val s: InternalRow = a.getStruct(i, 2)
            forward(
              new Record(
                if (s.isNullAt(0)) null else s.get(0, keyType),
                if (s.isNullAt(1)) null else s.get(1, valueType),
                r.timestamp,
                r.headers
              )
            )
          }
          i += 1
        }
      }
    }
  }
}

/** peek [ST3]: writes the message to the log and forwards the record. */
private final class PeekSpec(b: Build) extends NodeSpec(b) {
  private val in = b.stream(0)
  val message: Expr = b.expr("message", Layout.drawing(in.key, in.value), Some(StringType))
  override val ports: Seq[(String, Port)] = Seq("out" -> in)
  override def create(): Node = new Node(this) {
    override def process(r: Record, input: Int): Unit = {
      context.log(this, String.valueOf(message(r, context)))
      forward(r)
    }
  }
}

/** merge [ST4]. */
private final class MergeSpec(b: Build) extends NodeSpec(b) {
  private val all = parents.indices.map(b.stream)
  all.foreach(s =>
    if (s != all.head)
      b.fail(
        "in",
        "type",
        s"the merged streams differ: ${s.key.seen.sql}, ${s.value.sql} and " +
          s"${all.head.key.seen.sql}, ${all.head.value.sql}"
      )
  )
  override val ports: Seq[(String, Port)] = Seq("out" -> all.head)
  override def create(): Node = new PassNode(this)
}

private final class PassNode(spec: NodeSpec) extends Node(spec) {
  override def process(r: Record, input: Int): Unit = forward(r)
}

/** split [ST5]: sends the record to the port of the first predicate that holds. */
private final class SplitSpec(b: Build) extends NodeSpec(b) {
  private val in = b.stream(0)
  private val layout = Layout.drawing(in.key, in.value)
  val branches: Array[(String, Expr)] = b
    .elements("branches")
    .map { j =>
      val (port, predicate) = if (j.isArray) (j.get(0), j.get(1)) else (j.get("port"), j.get("predicate"))
      (port.asText, b.exprOf(predicate.asText, "branches", layout, Some(BooleanType)))
    }
    .toArray
  val default: Option[String] = b.textOpt("default_port")
  override val ports: Seq[(String, Port)] = (branches.map(_._1) ++ default).map(_ -> in).toSeq
  override def create(): Node = new Node(this) {
    override def process(r: Record, input: Int): Unit = {
      var i = 0
      while (i < branches.length && !branches(i)._2.test(r, r.value, context)) i += 1
      if (i < branches.length) forward(r, branches(i)._1)
      else if (default.isDefined) forward(r, default.get)
      else ended("no_branch")
    }
  }
}

/** to_stream [ST8]: sends every change as (key, new value), including deletions. */
private final class ToStreamSpec(b: Build) extends NodeSpec(b) {
  override val ports: Seq[(String, Port)] = Seq("out" -> b.stream(0))
  override def create(): Node = new PassNode(this)
}

/**
 * repartition [ST7]: sends records to the task of the key's partition. A null key is dropped silently, unless a left or
 * outer join downstream needs it.
 */
private final class RepartitionSpec(b: Build) extends HopSpec(b) {
  val keepNull: Boolean = b.bool("keep_null_keys", default = false)
  override val ports: Seq[(String, Port)] = Seq("out" -> b.stream(0))
  override def create(): Node = new HopNode(this) {
    override def process(r: Record, input: Int): Unit = if (r.key != null || keepNull) hop(r) else ended("null_key")
  }
}

/** Receives a repartitioned stream. */
private final class PassSpec(b: Build) extends NodeSpec(b) {
  override val ports: Seq[(String, Port)] = Seq("out" -> b.stream(0))
  override def create(): Node = new PassNode(this)
}

/** sink.topic [ST6], [PL8]. */
private[millrace] final class TopicSinkSpec(b: Build) extends NodeSpec(b) {
  private val in = b.stream(0)
  private val layout = Layout.drawing(in.key, in.value)
  private def format(p: String, t: DataType): Codec = b.opt(p) match {
    case None => Codec.of(t)
    case Some(j) =>
      val c = b.codecOf(j, p, Some(t))
      if (c.format == "json") Codec.make("json", t)
      else if (!Expressions.widens(t, c.dataType))
        b.fail(p, "format", s"format ${c.format} is for ${c.dataType.sql}, the $p is ${t.sql}")
      else c
  }

  /** The conversion to the format's type, if that is wider than the data's. */
  private def widened(p: String, t: DataType, c: Codec): Option[Expr] =
    if (c.dataType == t) None else Some(b.exprOf(p, p, layout, Some(c.dataType)))
  val keyCodec: Codec = format("key", in.key.seen)
  val valueCodec: Codec = format("value", in.value)
  private val widerKey = widened("key", in.key.seen, keyCodec)
  private val widerValue = widened("value", in.value, valueCodec)

  /** Whether the settings have a handler for results that the formats cannot write. */
  private val handled = b.settings.production != "fail"
  val topic: Option[String] = b.textOpt("topic")
  val topicOf: Option[Expr] = if (topic.isDefined) None else Some(b.expr("topic_expression", layout, Some(StringType)))
  val partition: Option[Expr] = b.textOpt("partition").map(_ => b.expr("partition", layout, Some(IntegerType)))

  /** The windowed key's own codec, because its inner key determines the partition. */
  val windowed: Option[Codec] = in.key.window.map(_ => Codec.key(in.key))
  override val ports: Seq[(String, Port)] = Nil
  override def create(): Node = new Node(this) {
    override protected def failsParent: Boolean = true
    override def process(r: Record, input: Int): Unit = {
      val to = topic.getOrElse(
        Destination.topic(topicOf.get(r, context).asInstanceOf[UTF8String], context.simulation).toString
      )
      val p =
        if (partition.isEmpty) null
        else Destination.partition(partition.get(r, context).asInstanceOf[java.lang.Integer])
      sent += 1
      val k = if (widerKey.isEmpty) r.key else widerKey.get(r, context)
      val v = if (widerValue.isEmpty) r.value else widerValue.get(r, context)
      val chooses = (keyCodec, windowed) match {
        case (format: WindowedCodec, _) if p == null && k != null => format.innerBytes(k)
        case (_, Some(w: WindowedCodec)) if p == null && r.key != null => w.innerBytes(r.key)
        case _ => null
      }
      context.emit(
        new Outgoing(
          index,
          -1,
          encoded("key", keyCodec, k),
          encoded("value", valueCodec, v),
          r.timestamp,
          r.headers,
          to,
          p,
          chooses
        )
      )
    }
    private def encoded(p: String, c: Codec, v: Any): Array[Byte] = try c.encode(v)
    catch { case e: Exception => throw new ParameterFailure(p, if (handled) new Unwritten(e) else e) }
  }
}

/** sink.print [ST3]: `[label]: key, value`; the row goes to the sink without a topic. */
private final class PrintSpec(b: Build) extends NodeSpec(b) {
  private val in = b.stream(0)
  val label: String = b.textOpt("label").getOrElse(node)
  override val ports: Seq[(String, Port)] = Nil
  override def create(): Node = new Node(this) {
    override def process(r: Record, input: Int): Unit = {
      context.log(this, s"[$label]: ${Shown.text(r.key, in.key.seen)}, ${Shown.text(r.value, in.value)}")
      sent += 1
    }
  }
}

/** Values as text for the log. */
private[millrace] object Shown {
  def text(v: Any, t: DataType): String = v match {
    case null => "null"
    case s: UTF8String => s.toString
    case _ => new String(Json.bytes(v, t), UTF_8)
  }
}
