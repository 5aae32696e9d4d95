package oracle

import java.time.Duration
import org.apache.kafka.common.serialization.Serde
import org.apache.kafka.common.utils.Bytes
import org.apache.kafka.streams._
import org.apache.kafka.streams.kstream._
import org.apache.kafka.streams.processor.StateStore
import org.apache.kafka.streams.processor.api.{ProcessorContext => _, _}
import org.apache.kafka.streams.state.{KeyValueStore, SessionStore, Stores, WindowStore}
import org.apache.spark.sql.types._
import scala.collection.mutable
import scala.jdk.CollectionConverters._

sealed trait Out { def key: KeyType; def value: DataType }
case class S(stream: KStream[Any, Any], key: KeyType, value: DataType) extends Out
case class T(table: KTable[Any, Any], key: KeyType, value: DataType) extends Out
case class G(table: GlobalKTable[Any, Any], key: KeyType, value: DataType) extends Out

/** A value with its key, for joiners of tables that read the key: Kafka Streams does not pass it to them. */
case class Keyed(key: Any, value: Any)

/** Left and right of a stream join whose joiner reads the result's timestamp. */
case class Both(left: Any, right: Any)

/** The common part of all builds: expressions, serdes and stores, and the outputs of the nodes built so far. */
abstract class BuildContext(val doc: Doc) {
  val metaColumns: Seq[(String, DataType)] = Seq(
    "timestamp" -> TimestampType,
    "headers" -> MapType(StringType, BinaryType),
    "topic" -> StringType,
    "partition" -> IntegerType,
    "offset" -> LongType,
    "$seed" -> LongType,
    "$now" -> TimestampType
  )
  protected var needsMeta = false
  protected val expressions = mutable.Map[String, Int]().withDefaultValue(0)
  val outs = mutable.Map[(String, String), Out]()
  val storeTypes = mutable.Map[String, (KeyType, DataType)]() // by name, of stores in the document
  val sourceFormats = mutable.Map[String, (Format, Format)]()
  val patterns = mutable.ArrayBuffer[(java.util.regex.Pattern, (Format, Format))]()
  var builder: StreamsBuilder = _
  def formats(topic: String): Option[(Format, Format)] =
    sourceFormats.get(topic).orElse(patterns.collectFirst { case (p, f) if p.matcher(topic).matches => f })

  // ---- expressions -------------------------------------------------------------------------------------------

  protected def fn(n: Node, param: String, cols: Seq[(String, DataType)], expected: Option[DataType] = None): Fn =
    fnOf(n.text(param), n, param, cols, expected)
  protected def fnOf(
      text: String,
      n: Node,
      param: String,
      cols: Seq[(String, DataType)],
      expected: Option[DataType]
  ): Fn = {
    expressions(n.id) += 1
    val f = compiled(text, cols, n, param, expected).named(s"${n.id}/${expressions(n.id)}")
    if (metaColumns.exists(c => f.columns(c._1)) && cols.exists(_._1 == "timestamp")) needsMeta = true
    f
  }
  protected def compiled(
      text: String,
      cols: Seq[(String, DataType)],
      n: Node,
      param: String,
      expected: Option[DataType] = None
  ): Fn =
    if (n.opt("functions").isEmpty) Sql.compile(text, cols, n, param, expected)
    else Sql.analyzed(text, cols, n, param, expected, python.resolved(n))
  protected lazy val python = new Python(doc)
  protected def record(in: Out): Seq[(String, DataType)] = Seq("key" -> in.key.seen, "value" -> in.value) ++ metaColumns
  protected def row(f: Fn, k: Any, v: Any): Array[Any] = {
    val r = new Array[Any](9)
    r(0) = KeyType.see(k); r(1) = v
    Meta.fill(r, 2, f)
    r
  }
  protected def mapper(f: Fn): (Any, Any) => Any = (k, v) => f.row(row(f, k, v))
  protected def predicate(n: Node, param: String, in: Out): Predicate[Any, Any] = {
    val f = fn(n, param, record(in), Some(BooleanType))
    (k, v) => f.test(row(f, k, v))
  }

  /** Compiles an aggregator over agg, key, value, timestamp. */
  protected def aggregator(
      text: String,
      n: Node,
      param: String,
      key: KeyType,
      value: DataType,
      agg: DataType
  ): Aggregator[Any, Any, Any] = {
    val f = fnOf(
      text,
      n,
      param,
      Seq("agg" -> agg, "key" -> key.seen, "value" -> value, "timestamp" -> TimestampType),
      Some(agg)
    )
    (k, v, a) => f(a, KeyType.see(k), v, Meta.timestamp(f))
  }
  protected def initializer(n: Node, agg: DataType): Initializer[Any] = {
    val f = fn(n, "initializer", Nil, Some(agg))
    () => f()
  }

  // ---- serdes, names, stores ------------------------------------------------------------------------------------

  /** Whether Kafka Streams names what the document does not name. */
  protected lazy val unnamed: Boolean =
    doc.settings.oneOf("names", "nodes", "nodes", "kafka_streams") == "kafka_streams"
  protected def nameOf(id: String): String = if (unnamed) null else id
  protected def nextName(prefix: String): String = {
    val f = classOf[StreamsBuilder].getDeclaredField("internalStreamsBuilder"); f.setAccessible(true)
    f.get(builder)
      .asInstanceOf[org.apache.kafka.streams.kstream.internals.InternalNameProvider]
      .newProcessorName(prefix)
  }
  protected val named: String => Named = (id: String) =>
    if (unnamed) org.apache.kafka.streams.kstream.internals.NamedInternal.empty() else Named.as(id)

  /**
   * Sets the serdes of an output. Kafka Streams forgets them after some operators and falls back to a default serde,
   * but these serdes depend on the type.
   */
  protected def typed[O <: Out](out: O): O = {
    val target = out match { case S(s, _, _) => s; case T(t, _, _) => t; case _ => null }
    if (target != null) BuildContext.serdeFields.foreach { case (f, isKey) =>
      f.set(target, if (isKey) out.key.serde else valueSerde(out.value))
    }
    out
  }
  protected def valueSerde(t: DataType): Serde[Any] = new CatalystSerde(Format.of(t))

  protected def checkTypes(store: Node, key: KeyType, value: DataType): Unit = {
    def check(p: String, t: DataType) = store
      .textOpt(p)
      .foreach(x => if (Sql.parseType(x, store, p) != t) store.fail(p, s"is not the operator's ${t.catalogString}"))
    check("key_type", key.dataType); check("value_type", value)
    storeTypes(store.text("name")) = (key, value)
  }
  protected def withProperties[M <: Materialized[Any, Any, _]](m: M, store: Node): M = {
    if (store.bool("logging", true)) m.withLoggingEnabled(config(store)) else m.withLoggingDisabled()
    if (store.bool("caching", false)) m.withCachingEnabled() else m.withCachingDisabled()
    m
  }
  protected def config(store: Node): java.util.Map[String, String] =
    store
      .opt("logging_config")
      .map(_.properties.asScala.map(e => e.getKey -> e.getValue.asText).toMap)
      .getOrElse(Map.empty[String, String])
      .asJava

  protected type KV = KeyValueStore[Bytes, Array[Byte]]
  protected type WS = WindowStore[Bytes, Array[Byte]]
  protected type SS = SessionStore[Bytes, Array[Byte]]

  protected def materialized(
      n: Node,
      key: KeyType,
      value: DataType,
      versioned: Boolean = true
  ): Materialized[Any, Any, KV] = doc.stores(n).headOption match {
    case None if doc.isRead(n) =>
      Materialized.as[Any, Any, KV](n.id).withKeySerde(key.serde).withValueSerde(valueSerde(value))
    case None => Materialized.`with`[Any, Any, KV](key.serde, valueSerde(value))
    case Some(s) =>
      checkTypes(s, key, value)
      val m: Materialized[Any, Any, KV] = s.kind match {
        case "store.key_value" => Materialized.as[Any, Any, KV](s.text("name")).withStoreType(storeType(s))
        case "store.versioned" if versioned =>
          Materialized
            .as[Any, Any](
              Stores.persistentVersionedKeyValueStore(
                s.text("name"),
                Duration.ofMillis(s.duration("history_retention").get)
              )
            )
            .asInstanceOf[Materialized[Any, Any, KV]]
        case k => n.fail("store", s"cannot use a $k")
      }
      withProperties(m, s).withKeySerde(key.serde).withValueSerde(valueSerde(value))
  }
  protected def storeType(s: Node) =
    if (s.bool("persistent", true)) Materialized.StoreType.ROCKS_DB else Materialized.StoreType.IN_MEMORY
  protected def windowStore[W <: StateStore](
      n: Node,
      kind: String,
      key: KeyType,
      value: DataType
  ): Materialized[Any, Any, W] = doc.stores(n).headOption match {
    case None if doc.isRead(n) =>
      Materialized.as[Any, Any, W](n.id).withKeySerde(key.serde).withValueSerde(valueSerde(value))
    case None => Materialized.`with`[Any, Any, W](key.serde, valueSerde(value))
    case Some(s) =>
      if (s.kind != kind) n.fail("store", s"cannot use a ${s.kind}")
      val m = Materialized.as[Any, Any, W](s.text("name")).withStoreType(storeType(s))
      s.duration("retention").foreach(r => m.withRetention(Duration.ofMillis(r)))
      withProperties(m, s).withKeySerde(key.serde).withValueSerde(valueSerde(value))
  }

  // ---- inputs ---------------------------------------------------------------------------------------------------

  protected def resolve(e: Edge): Out =
    outs.getOrElse((e.source, s"${e.sourcePort}#${e.index}"), outs((e.source, e.sourcePort)))
  protected def ins(n: Node, port: String = "in"): Seq[Out] = doc.inputs(n).filter(_.targetPort == port).map(resolve)
  protected def in(n: Node, port: String = "in"): Out = ins(n, port).head
  protected def stream(n: Node, port: String = "in"): S = in(n, port) match {
    case s: S => s; case _ => n.fail(port, "must be a stream")
  }
  protected def table(n: Node, port: String = "in"): T = in(n, port) match {
    case t: T => t; case _ => n.fail(port, "must be a table")
  }

  /** All inputs as streams; for a table, the stream of its updates. */
  protected def updates(n: Node): Seq[S] = updates(n, ins(n))
  protected def updates(n: Node, all: Seq[Out]): Seq[S] =
    all.zipWithIndex.map {
      case (s: S, _) => s
      case (T(t, k, v), j) => S(t.toStream(named(s"${n.id}-to-stream${if (all.size > 1) s"-$j" else ""}")), k, v)
      case _ => n.fail("in", "must be a stream or a table")
    }
  protected def sameKey(n: Node, a: Out, b: Out): Unit = if (a.key.seen != b.key.seen)
    n.fail("right", s"the keys differ: ${a.key.seen.catalogString}, ${b.key.seen.catalogString}")
  protected def done(n: Node, out: Out, port: String = "out"): Unit = outs((n.id, port)) = typed(out)
  protected def ms(d: Long) = Duration.ofMillis(d)
}

object BuildContext {
  val serdeFields: Seq[(java.lang.reflect.Field, Boolean)] = {
    val c = Class.forName("org.apache.kafka.streams.kstream.internals.AbstractStream")
    Seq("keySerde" -> true, "valueSerde" -> false).map { case (f, isKey) =>
      val x = c.getDeclaredField(f); x.setAccessible(true); (x, isKey)
    }
  }
}

class KeyedSerde(f: Format) extends Serde[Any] {
  val serializer: org.apache.kafka.common.serialization.Serializer[Any] = (_: String, v: Any) =>
    if (v == null) null else f.encode(v.asInstanceOf[Keyed].value)
  val deserializer: org.apache.kafka.common.serialization.Deserializer[Any] = (_: String, _: Array[Byte]) =>
    throw new UnsupportedOperationException
}
